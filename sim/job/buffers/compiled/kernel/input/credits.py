"""Buffers of the receiver and who has them: lent, filled, freed, announced as credit.

As `input/remote_channel.py` and `input/input_gate.py`. The content of the comments there holds
here.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, clock, entry, gate
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.counts import buffer_freed
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import (
    free_cell,
    line_append,
    line_first,
    note,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.base.wire import back
from ckptsim.sim.job.buffers.compiled.kernel.output.pool import release


@compiled
def hear_backlog(m: Memory, c: int, count: int) -> None:
    """Borrow floating buffers for what waits at the sender, as many as there are."""
    m[c + channel.ANNOUNCED] = count
    if m[c + channel.RELEASED]:
        return
    required = count + m[clock.EXCLUSIVE]
    m[c + channel.REQUIRED] = required
    own = m[c + channel.EXCLUSIVE_FREE]
    if own + m[c + channel.FLOATING_FREE] >= required or m[c + channel.WAITING]:
        return
    granted, g = 0, m[c + channel.GATE]
    while not m[c + channel.WAITING] and own + m[c + channel.FLOATING_FREE] < required:
        if m[g + gate.FLOATING_FREE]:
            m[g + gate.FLOATING_FREE] -= 1
            m[c + channel.FLOATING_FREE] += 1
            granted += 1
        else:
            wait_for_floating(m, c)
    if granted:
        back(m, c, entry.ADD_CREDIT, granted)


@compiled
def wait_for_floating(m: Memory, c: int) -> None:
    """Stand in the gate's line for a floating buffer."""
    g = m[c + channel.GATE]
    line_append(m, g + gate.LEND_HEAD, c, channel.NEXT_LENDER)
    m[c + channel.WAITING] = 1


@compiled
def offer_floating(m: Memory, c: int) -> bool:
    """Take a floating buffer that came free, if it is still wanted."""
    m[c + channel.WAITING] = 0
    free = m[c + channel.EXCLUSIVE_FREE] + m[c + channel.FLOATING_FREE]
    if m[c + channel.RELEASED] or free >= m[c + channel.REQUIRED]:
        return False
    m[c + channel.FLOATING_FREE] += 1
    if free + 1 < m[c + channel.REQUIRED]:
        wait_for_floating(m, c)
    back(m, c, entry.ADD_CREDIT, 1)
    return True


@compiled
def return_floating(m: Memory, g: int) -> None:
    """Lend a floating buffer that came free to the next channel that waits, or keep it."""
    while m[g + gate.LEND_HEAD] >= 0:
        c = line_first(m, g + gate.LEND_HEAD, channel.NEXT_LENDER)
        if offer_floating(m, c):
            return
    m[g + gate.FLOATING_FREE] += 1


@compiled
def give_back(m: Memory, c: int) -> None:
    """Give all floating buffers back that are borrowed and not filled."""
    lent = m[c + channel.FLOATING_FREE]
    m[c + channel.FLOATING_FREE] = 0
    m[c + channel.REQUIRED] = 0
    for _ in range(lent):
        return_floating(m, m[c + channel.GATE])


@compiled
def recycle(m: Memory, c: int, e: int) -> None:
    """Free the buffer of a cell after its last record."""
    if m[e + cell.FLOATING] == cell.RECOVERED:
        note(m, clock.RECOVERED_FREED, c, 0, 0, 0)
        m[clock.LOG_URGENT] = 1  # the reader of the gate may go on
    elif m[c + channel.INSIDE]:
        if m[e + cell.SEGMENT] >= 0:
            release(m, m[e + cell.SEGMENT])
    else:
        free_buffer(m, c, m[e + cell.FLOATING])
    free_cell(m, e)


@compiled
def free_buffer(m: Memory, c: int, floating: int) -> None:
    """Free a buffer of the receiver, a floating one or one of the channel's own."""
    if m[clock.FOLLOWED]:
        buffer_freed(m, c, floating)
    if floating:
        return_floating(m, m[c + channel.GATE])
        return
    m[c + channel.EXCLUSIVE_FREE] += 1
    lent = m[c + channel.FLOATING_FREE]
    free = m[c + channel.EXCLUSIVE_FREE] + lent
    if lent and free > m[c + channel.REQUIRED]:
        m[c + channel.FLOATING_FREE] -= 1
        return_floating(m, m[c + channel.GATE])
    else:
        back(m, c, entry.ADD_CREDIT, 1)
