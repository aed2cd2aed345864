"""Which input a task reads: channels of a gate, gates of a union, or two inputs in turn.

As `input/input_gate.py` and `input/input_choice.py`.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import channel, clock, gate, task
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.intrinsics import fetch
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import line_append, line_first, line_remove
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.input.channel import has_more, take_in

_NONE = clock.NONE


@compiled
def poll_gate(m: Memory, g: int) -> int:
    """Take the next element of the channel in turn. The channel is in the clock."""
    while m[g + gate.READY_HEAD] >= 0:
        c = line_first(m, g + gate.READY_HEAD, channel.NEXT_READY)
        fetch_next(m, g)
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
def fetch_next(m: Memory, g: int) -> None:
    """Fetch what the channel that is next in turn will need."""
    row = m[g + gate.READY_HEAD]
    fetch(m, row + channel.RECEIVER)
    fetch(m, row + channel.IN_HEAD)
    fetch(m, row + channel.EXCLUSIVE_FREE)


@compiled
def poll_in_turn(m: Memory, t: int) -> int:
    """Take the next element of the gate in turn."""
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
def every_input(m: Memory, t: int) -> int:
    """Return a bit for each input of a task."""
    return (1 << m[t + task.GATES]) - 1


@compiled
def look(m: Memory, t: int, until: int) -> None:
    """Note which inputs had something to read at an instant."""
    for index in range(m[t + task.GATES]):
        g = m[t + task.FIRST_GATE] + index * gate.WIDTH
        ready = m[g + gate.READY_HEAD] >= 0 and m[g + gate.READY_NS] <= until
        if ready or m[g + gate.ASIDE_CELL] >= 0:
            m[t + task.AVAILABLE] |= 1 << index


@compiled
def select(m: Memory, t: int) -> bool:
    """Choose the input that is asked next. False if all of them are empty."""
    count = m[t + task.GATES]
    m[t + task.CHOSEN_NS] = m[clock.NOW]
    if not m[t + task.AVAILABLE]:
        look(m, t, m[clock.NOW])
    for ahead in range(1, count + 1):
        place = (m[t + task.READING] + ahead) % count
        if m[t + task.AVAILABLE] >> place & 1:
            m[t + task.READING] = place
            if m[t + task.AVAILABLE] != every_input(m, t):
                look(m, t, m[clock.NOW])
            return True
    return False


@compiled
def poll_chosen(m: Memory, t: int) -> int:
    """Take an element of the input in turn.

    A buffer that was set aside is taken up again: then LEFT says how much of it is unread, which is
    0 for what comes fresh from a channel.
    """
    while m[t + task.GOES_ON] or select(m, t):
        m[t + task.GOES_ON] = 0
        g = m[t + task.FIRST_GATE] + m[t + task.READING] * gate.WIDTH
        m[t + task.LEFT] = m[g + gate.ASIDE_LEFT]
        e = m[g + gate.ASIDE_CELL]
        if e >= 0:
            m[g + gate.ASIDE_CELL] = _NONE
            m[g + gate.ASIDE_LEFT] = 0
            m[clock.CHANNEL] = m[g + gate.ASIDE_CHANNEL]
            m[t + task.STEP_NS] = m[g + gate.ASIDE_STEP_NS]
            return e
        e = poll_gate(m, g)
        if e >= 0:
            return e
        m[t + task.AVAILABLE] &= ~(1 << m[t + task.READING])
    return _NONE


@compiled
def end_turn(m: Memory, t: int, count: int) -> None:
    """Give the other input its turn after so many records.

    After the choice for each it was looked up what the others have. The last time saw the most.
    """
    chosen = m[t + task.START_NS] + (count - 1) * m[t + task.STEP_NS]
    if chosen > m[t + task.CHOSEN_NS]:
        look(m, t, chosen)
    if m[t + task.CELL] >= 0:
        g = m[t + task.FIRST_GATE] + m[t + task.READING] * gate.WIDTH
        m[g + gate.ASIDE_CELL] = m[t + task.CELL]
        m[g + gate.ASIDE_CHANNEL] = m[t + task.CHANNEL]
        m[g + gate.ASIDE_LEFT] = m[t + task.LEFT]
        m[g + gate.ASIDE_STEP_NS] = m[t + task.STEP_NS]
        m[t + task.CELL] = _NONE


@compiled
def take_priority(m: Memory, c: int) -> int:
    """Take an element that overtakes data, as the mail for it does. NONE if it was taken before."""
    e = take_in(m, c)
    if m[c + channel.LISTED] and not has_more(m, c):
        m[c + channel.LISTED] = 0
        g = m[c + channel.GATE]
        line_remove(m, g + gate.READY_HEAD, c, channel.NEXT_READY)
    return e
