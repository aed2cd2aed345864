"""What the oracle counts of each buffer: its own account of channels, gates and pools.

Each function is where the reference has an observed pool or channel, and does what their oracles
and counts do (`oracle/channels.py`, `oracle/buffers/counts.py`).  It never reads what the kernel
counts itself.  Python learns where something is wrong, and where it has asked to hear.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import (
    cell,
    channel,
    clock,
    counts,
    gate,
    task,
    writer,
)
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import note
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_RECORDS_BITS = 32


@compiled
def counts_of(m: Memory, c: int) -> int:
    """Return where it is counted what a channel does. Rows lie in the order of the channels."""
    return m[clock.COUNTS] + (c - m[clock.FIRST_CHANNEL]) // channel.WIDTH * counts.WIDTH


@compiled
def log(m: Memory, what: int, c: int, item: int, size: int, records: int) -> None:
    """Write a line for a journal, if there is one."""
    if m[clock.FOLLOWED] == clock.EVERY:
        note(m, what, c, item, size, records)


@compiled
def seal_of(m: Memory, e: int) -> int:
    """Return a word that says what a slice is."""
    return m[e + cell.BYTES] + (m[e + cell.RECORDS] << _RECORDS_BITS)


# Channels -----------------------------------------------------------------------------------------


@compiled
def element_sent(m: Memory, c: int, e: int) -> None:
    """Count an element that leaves its sender."""
    k = counts_of(m, c)
    if m[e + cell.WHAT] == cell.SLICE:
        log(m, clock.SENT, c, e, m[e + cell.BYTES], m[e + cell.RECORDS])
        if m[k + counts.FLAGS] & (counts.STOPPED | counts.ENDED | counts.RESTORED):
            note(m, clock.SENT_SUSPECT, c, 0, m[e + cell.BYTES], m[e + cell.RECORDS])
        slice_sent(m, k, e)
        if not m[c + channel.LOCAL]:
            spend(m, c, counts.NO_CREDIT)
        return
    event = m[e + cell.EVENT]
    note(m, clock.SENT_EVENT, c, event, 0, 0)
    if m[event + cell.IS_BLOCKING]:
        m[k + counts.FLAGS] |= counts.STOPPED
    if m[event + cell.ENDS_DATA]:
        m[k + counts.FLAGS] |= counts.ENDED


@compiled
def slice_sent(m: Memory, k: int, e: int) -> None:
    """Count a slice, and note in its cell what it was and which one, for when it is taken."""
    m[e + cell.NUMBER] = m[k + counts.SENT]
    m[e + cell.SEAL] = seal_of(m, e)
    m[k + counts.SENT] += 1
    m[k + counts.SENT_BYTES] += m[e + cell.BYTES]


@compiled
def spend(m: Memory, c: int, without: int) -> None:
    """Count a buffer that leaves on credit. without: the problem where none is left."""
    k = counts_of(m, c)
    m[k + counts.ALLOWED] -= 1
    if m[k + counts.ALLOWED] < 0:
        note(m, clock.CREDIT_WRONG, c, without, 0, 0)


@compiled
def empty_sent(m: Memory, c: int) -> None:
    """Count an empty buffer that leaves."""
    log(m, clock.SENT_EMPTY, c, 0, 0, 0)
    spend(m, c, counts.NO_CREDIT_EMPTY)


@compiled
def credited(m: Memory, c: int, credit: int) -> None:
    """Count credit that reaches the sender."""
    log(m, clock.CREDITED, c, 0, credit, 0)
    m[counts_of(m, c) + counts.ALLOWED] += credit


@compiled
def sender_resumed(m: Memory, c: int) -> None:
    """Note that the sender continues: without buffers of its own it begins with no credit."""
    note(m, clock.RESUMED, c, 0, 0, 0)
    k = counts_of(m, c)
    m[k + counts.FLAGS] &= ~counts.STOPPED
    if not m[c + channel.LOCAL] and not m[clock.EXCLUSIVE]:
        m[k + counts.ALLOWED] = 0


@compiled
def slice_arrived(m: Memory, c: int, floating: int) -> None:
    """Count a buffer of the receiver that holds data now."""
    log(m, clock.ARRIVED, c, 0, floating, 0)
    if floating:
        g = m[c + channel.GATE]
        m[g + gate.FILLED] += 1
        if m[g + gate.FILLED] > m[g + gate.FLOATING]:
            note(m, clock.CREDIT_WRONG, c, counts.NOT_LENT, 0, 0)
        return
    k = counts_of(m, c)
    m[k + counts.FILLED] += 1
    if m[k + counts.FILLED] > m[clock.EXCLUSIVE]:
        note(m, clock.CREDIT_WRONG, c, counts.NOT_FREE, 0, 0)


@compiled
def buffer_freed(m: Memory, c: int, floating: int) -> None:
    """Count a buffer of the receiver that is free again."""
    log(m, clock.FREED, c, 0, floating, 0)
    k, g = counts_of(m, c), m[c + channel.GATE]
    if floating:
        m[g + gate.FILLED] -= 1
    else:
        m[k + counts.FILLED] -= 1
    if m[k + counts.FILLED] < 0 or m[g + gate.FILLED] < 0:
        note(m, clock.CREDIT_WRONG, c, counts.FREED_TWICE, 0, 0)


@compiled
def overtaking_arrived(m: Memory, c: int, event: int) -> None:
    """Tell of an unaligned barrier at the receiver, where no record may begin before it.

    With it: for how long the thread could not have acted by now.
    """
    t = m[c + channel.RECEIVER]
    m[t + task.SUSPECT_NS] = clock.NONE
    busy, state = 0, m[t + task.STATE]
    for one in range(task.STATES):
        if one in (task.STUCK, task.PAUSING, task.RESTORING):
            busy += m[t + task.TIMES + one]
            if one == state:
                busy += m[clock.NOW] - m[t + task.SINCE_NS]
    note(m, clock.OVERTAKING_ARRIVED, c, event, busy, 0)


@compiled
def element_taken(m: Memory, c: int, e: int, priority: bool) -> None:  # noqa: FBT001 - compiled
    """Count an element that the task has taken: data in the order in which it was sent."""
    if m[e + cell.WHAT] == cell.EVENT_CELL:
        note(m, clock.TAKEN_EVENT, c, m[e + cell.EVENT], 1 if priority else 0, 0)
        return
    if m[e + cell.WHAT] != cell.SLICE:
        return
    k, size = counts_of(m, c), m[e + cell.BYTES]
    log(m, clock.TAKEN, c, e, size, m[e + cell.RECORDS])
    may_not = m[k + counts.FLAGS] & counts.HELD
    if may_not or m[clock.NOW] > m[m[c + channel.RECEIVER] + task.SUSPECT_NS]:
        note(m, clock.TAKEN_SUSPECT, c, 0, 0, 0)
    if m[e + cell.NUMBER] != m[k + counts.TAKEN] or m[e + cell.SEAL] != seal_of(m, e):
        note(m, clock.OUT_OF_TURN, c, 0, size, 0)
    m[k + counts.TAKEN] += 1
    m[k + counts.TAKEN_BYTES] += size


# Pools --------------------------------------------------------------------------------------------


@compiled
def segment_given(m: Memory, w: int, lane: int, mine: int) -> None:
    """Count a segment that is handed out: never more than may be. mine: the count of its lane."""
    log(m, clock.GIVEN, lane, 0, 0, 0)
    m[w + writer.SEGMENTS_OUT] += 1
    m[mine] += 1
    if (
        m[w + writer.SEGMENTS_OUT] > m[w + writer.MOST_OUT]
        or m[mine] > m[w + writer.MOST_OUT_OF_LANE]
    ):
        note(m, clock.POOL_WRONG, w, 1, m[w + writer.SEGMENTS_OUT], m[mine])


@compiled
def segment_returned(m: Memory, w: int, lane: int, mine: int) -> None:
    """Count a segment that comes back: one that was out. mine: the count of its lane."""
    log(m, clock.RETURNED, lane, 0, 0, 0)
    m[w + writer.SEGMENTS_OUT] -= 1
    m[mine] -= 1
    if m[mine] < 0:
        note(m, clock.POOL_WRONG, w, 0, 0, 0)
