"""The thread of a source: as fast as its outputs allow, or at a rate. As `tasks/source.py`."""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import clock, task
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.output.emission import emit_all
from ckptsim.sim.job.buffers.compiled.kernel.threads.thread import (
    arm,
    arm_behind,
    block,
    enter,
    may_begin,
    note_emitted,
    wake,
)

# How many records a source emits in one go at most. It has no effect on anything else.
_MOST = 1024


@compiled
def run_source(m: Memory, t: int) -> int:
    """Continue between two records. Return what Python has to do, WAITS if nothing."""
    m[clock.TASK] = t
    if m[t + task.STATE] == task.ENDED:
        return clock.WAITS
    if m[t + task.MAIL] and not m[t + task.PAUSED]:
        m[t + task.MAIL] -= 1
        return clock.MAIL
    if m[t + task.PAUSED]:
        enter(m, t, task.PAUSING)
        return clock.WAITS
    if m[t + task.EXHAUSTED]:
        enter(m, t, task.IDLE)
        return clock.WAITS
    limit = m[t + task.LIMIT]
    if (limit >= 0 and m[t + task.PROCESSED] >= limit) or m[t + task.READ_OUT]:
        return clock.EXHAUSTED
    if not may_begin(m, t):
        enter(m, t, task.BLOCKED)
        return clock.WAITS
    if m[t + task.TOLD_TO_STOP]:
        return clock.EXHAUSTED
    if m[t + task.FED] and not m[t + task.QUEUED]:
        enter(m, t, task.IDLE)
    else:
        begin_records(m, t)
    return clock.WAITS


@compiled
def begin_records(m: Memory, t: int) -> None:
    """Emit records until one needs a buffer, or wait until they are due."""
    now, gap = m[clock.NOW], m[t + task.GAP_NS]
    count, seen = block(m, t, _MOST, 0)
    rest = m[t + task.LIMIT] - m[t + task.PROCESSED]
    if m[t + task.LIMIT] >= 0 and rest <= count:
        count, seen = rest, 1
    if m[t + task.FED]:
        count, seen = 1, 1  # taking it makes room for others at that instant
    if m[t + task.END_SPLIT]:
        count, seen = 1, 1  # after it another split may be next
        turn(m, t)
        gap = m[t + task.GAP_NS]
    state, due, step = task.BUSY, now, m[t + task.STEP_NS]
    if gap >= 0:
        due = max(m[t + task.DUE_NS], now - m[t + task.CATCH_UP_NS])
        m[t + task.DUE_NS] = due
        if due > now:
            state = task.PACED
        elif gap > step and (now - due) // (gap - step) < count:
            # Up to the one after which the next is not due: there it begins to wait.
            count, seen = (now - due) // (gap - step) + 1, 1
    m[t + task.START_NS] = now
    m[t + task.COUNT] = count
    if m[t + task.STATE] != state:
        enter(m, t, state)
    end = due + (count - 1) * gap if state == task.PACED else now + count * step
    if seen:
        arm(m, t, end)
    else:
        arm_behind(m, t, end)


@compiled
def turn(m: Memory, t: int) -> None:
    """Turn to the split with the earliest next record: of several the one of the lowest number.

    It gives the task its clock.  One of them is unread, or the task would have been exhausted.
    """
    found = 0
    for s in range(m[t + task.FIRST_SPLIT], m[t + task.END_SPLIT], task.SPLIT_WIDTH):
        is_read = 0 <= m[s + task.MOST] <= m[s + task.POSITION]
        if not is_read and (not found or m[s + task.SPLIT_DUE_NS] < m[found + task.SPLIT_DUE_NS]):
            found = s
    m[t + task.SPLIT] = found
    m[t + task.GAP_NS] = m[found + task.SPLIT_GAP_NS]
    m[t + task.DUE_NS] = m[found + task.SPLIT_DUE_NS]


@compiled
def turned(m: Memory, t: int, count: int) -> None:
    """Note the data read of the split. Without a rate its clock counts the turns it has had."""
    s = m[t + task.SPLIT]
    m[s + task.POSITION] += count
    if m[t + task.GAP_NS] < 0:
        m[t + task.DUE_NS] += count
    m[s + task.SPLIT_DUE_NS] = m[t + task.DUE_NS]


@compiled
def fire_source(m: Memory, t: int) -> int:
    """Come to the record boundary that the thread was to reach, or wake up."""
    state = m[t + task.STATE]
    if state == task.PACED or state == task.BUSY:  # noqa: PLR1714 - for numba
        count = m[t + task.COUNT]
        if m[clock.RECORDED]:
            note_emitted(m, t, count)
        m[t + task.COUNT] = 0
        m[t + task.PROCESSED] += count
        if m[t + task.GAP_NS] >= 0:
            m[t + task.DUE_NS] += count * m[t + task.GAP_NS]
        if m[t + task.END_SPLIT]:
            turned(m, t, count)
        if emit_all(m, t, count):
            enter(m, t, task.STUCK)
            return clock.WAITS
        if m[t + task.FED]:
            m[clock.TASK] = t
            return clock.TOLD  # Python takes the record, and says the rest
    return run_source(m, t)


@compiled
def feed(m: Memory, t: int, queued: int, read_out: int) -> None:
    """Hear what a reader has queued. A source that waits looks for work."""
    m[t + task.QUEUED] = queued
    m[t + task.READ_OUT] = read_out
    if m[t + task.STATE] == task.IDLE and not m[t + task.EXHAUSTED]:
        wake(m, t)
