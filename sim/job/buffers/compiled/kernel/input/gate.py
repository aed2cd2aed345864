"""Which input a task reads: channels of a gate in turn, gates in turn, or one gate for a while.

As `input/input_gate.py` and `input/input_choice.py`.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import channel, clock, gate, task
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import line_append, line_first, line_remove
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.input.channel import has_more, take_in

_NONE = clock.NONE


@compiled
def poll_gate(m: Memory, g: int) -> int:
    """Take the next element of the channel whose turn it is; the channel is in the clock."""
    while m[g + gate.READY_HEAD] >= 0:
        c = line_first(m, g + gate.READY_HEAD, channel.NEXT_READY)
        e = take_in(m, c)
        if has_more(m, c):
            line_append(m, g + gate.READY_HEAD, c, channel.NEXT_READY)
        else:
            m[c + channel.LISTED] = 0
        if e >= 0:
            m[clock.CHANNEL] = c
            return e
    return _NONE


@compiled
def poll_in_turn(m: Memory, t: int) -> int:
    """Take the next element of the gate whose turn it is."""
    while m[t + task.TURN_HEAD] >= 0:
        g = line_first(m, t + task.TURN_HEAD, gate.NEXT_TURN)
        e = poll_gate(m, g)
        if m[g + gate.READY_HEAD] >= 0:
            line_append(m, t + task.TURN_HEAD, g, gate.NEXT_TURN)
        else:
            m[g + gate.LISTED] = 0
        if e >= 0:
            return e
    return _NONE


@compiled
def poll_chosen(m: Memory, t: int) -> int:
    """Take an element of the input that is being read, or of the others after it.

    A buffer that was set aside is taken up again: then LEFT says how much of it is unread, which is
    0 for what comes fresh from a channel.
    """
    first, count = m[t + task.FIRST_GATE], m[t + task.GATES]
    reading = m[t + task.READING]
    start = (reading - first) // gate.WIDTH if reading >= 0 else (m[t + task.LAST] + 1) % count
    for place in range(count):
        g = first + (start + place) % count * gate.WIDTH
        m[t + task.LEFT] = m[g + gate.ASIDE_LEFT]
        e = m[g + gate.ASIDE_CELL]
        if e >= 0:
            m[g + gate.ASIDE_CELL] = _NONE
            m[g + gate.ASIDE_LEFT] = 0
            m[clock.CHANNEL] = m[g + gate.ASIDE_CHANNEL]
        else:
            e = poll_gate(m, g)
        if e >= 0:
            m[t + task.READING] = g
            return e
    m[t + task.READING] = _NONE
    return _NONE


@compiled
def set_aside(m: Memory, t: int) -> None:
    """Give the other input its turn, because the thread was interrupted."""
    g = m[t + task.READING]
    if not m[t + task.TWO_INPUT] or g < 0:
        return
    m[t + task.READING] = _NONE
    m[t + task.LAST] = m[g + gate.INDEX]
    if m[t + task.CELL] >= 0:
        m[g + gate.ASIDE_CELL] = m[t + task.CELL]
        m[g + gate.ASIDE_CHANNEL] = m[t + task.CHANNEL]
        m[g + gate.ASIDE_LEFT] = m[t + task.LEFT]
        m[t + task.CELL] = _NONE


@compiled
def take_priority(m: Memory, c: int) -> int:
    """Take an element that overtakes data, as the mail for it does; NONE if it was taken before."""
    e = take_in(m, c)
    if m[c + channel.LISTED] and not has_more(m, c):
        m[c + channel.LISTED] = 0
        g = m[c + channel.GATE]
        line_remove(m, g + gate.READY_HEAD, c, channel.NEXT_READY)
    return e
