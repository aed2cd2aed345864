"""The kernel's part of the calendar: a binary heap with the same order as `sim/kernel/calendar.py`.

Entries are ordered by time, tie key and sequence, from left to right.  The key is the one of the
tie policy of the run, in one word (`compiled/ties.py`).  Sequences are drawn from one line with the
ones of Python's calendar, so causal order inside an entity is one order.
"""

from __future__ import annotations

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import channel, clock, entry, task
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.intrinsics import copy_line
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_SIGN = np.uint64(1 << 63)
_HALF = np.uint64(32)
_OF_TIME = np.uint64(0x9E3779B97F4A7C15)
_OF_KIND = np.uint64(0xD1B54A32D192ED03)
_FOLD = np.uint64(0xD6E8FEB86659FD93)


@compiled
def tie_key(m: Memory, time: int, kind: int, rank: int, drawn: int) -> int:
    """Return the tie key of an entry. As a signed number it has the order of the unsigned one."""
    if m[clock.TIES] == clock.STRUCTURAL:
        return (kind << 40) | rank
    if m[clock.TIES] == clock.PCT:
        return (last_fall(m, time, drawn) << 56) | (rank << 16) | kind
    # As `SeededRandom.tie`, on words of 64 bits that wrap around by themselves.
    mixed = np.uint64(m[clock.TIES_KEY])
    mixed += np.uint64(time) * _OF_TIME
    mixed += np.uint64(kind) * _OF_KIND
    mixed = (mixed ^ (mixed >> _HALF) ^ np.uint64(drawn)) * _FOLD
    mixed = (mixed ^ (mixed >> _HALF)) * _FOLD
    return np.int64((mixed ^ (mixed >> _HALF)) ^ _SIGN)  # type: ignore[return-value]


@compiled
def last_fall(m: Memory, time: int, falls: int) -> int:
    """Return the number of the last fall of an entity up to an instant, 0 before any.

    falls: a bit for each change instant, by number, at which it falls.
    """
    for row in range(m[clock.CHANGES], m[clock.END_CHANGES], 2):
        if m[row] <= time and (falls >> m[row + 1]) & 1:
            return m[row + 1]
    return 0


@compiled
def push(m: Memory, time: int, key: int, action: int, target: int, first: int, second: int) -> int:
    """Enter something into the calendar. Return its sequence."""
    sequence, heap, place = m[clock.SEQUENCE], m[clock.HEAP], m[clock.HEAP_SIZE]
    m[clock.SEQUENCE] = sequence + 1
    m[clock.HEAP_SIZE] = place + 1
    while place > 0:
        above = heap + ((place - 1) >> 1) * entry.WIDTH
        if m[above + entry.TIME] < time or (
            m[above + entry.TIME] == time and m[above + entry.KEY] <= key
        ):  # of equal keys the older one has the smaller sequence, and this one is the newest
            break
        copy(m, above, heap + place * entry.WIDTH)
        place = (place - 1) >> 1
    row = heap + place * entry.WIDTH
    m[row + entry.TIME] = time
    m[row + entry.KEY] = key
    m[row + entry.SEQUENCE] = sequence
    m[row + entry.ACTION] = action
    m[row + entry.TARGET] = target
    m[row + entry.FIRST] = first
    m[row + entry.SECOND] = second
    return sequence


@compiled
def copy(m: Memory, row: int, to: int) -> None:
    """Copy an entry."""
    copy_line(m, row, to)


@compiled
def is_before(m: Memory, one: int, other: int) -> bool:
    """Return whether an entry comes before another one."""
    if m[one + entry.TIME] != m[other + entry.TIME]:
        return m[one + entry.TIME] < m[other + entry.TIME]
    if m[one + entry.KEY] != m[other + entry.KEY]:
        return m[one + entry.KEY] < m[other + entry.KEY]
    return m[one + entry.SEQUENCE] < m[other + entry.SEQUENCE]


@compiled
def drop_first(m: Memory) -> None:
    """Take the first entry out: the last one sinks from the top to its place."""
    heap, last = m[clock.HEAP], m[clock.HEAP_SIZE] - 1
    m[clock.HEAP_SIZE] = last
    sinking, place = heap + last * entry.WIDTH, 0
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        row = heap + below * entry.WIDTH
        if below + 1 < last:
            # Which of the two is first no processor guesses, so by their times it is arithmetic.
            left, right = m[row + entry.TIME], m[row + entry.WIDTH + entry.TIME]
            step = 1 if right < left else 0
            if right == left and is_before(m, row + entry.WIDTH, row):
                step = 1
            below += step
            row += step * entry.WIDTH
        if is_before(m, sinking, row):
            break
        copy(m, row, heap + place * entry.WIDTH)
        place = below
    copy(m, sinking, heap + place * entry.WIDTH)


@compiled
def push_thread(m: Memory, t: int, time: int, action: int) -> int:
    """Enter a record boundary of a task."""
    key = tie_key(m, time, entry.THREAD, m[t + task.RANK], m[t + task.DRAWN])
    return push(m, time, key, action, t, 0, 0)


@compiled
def push_flush(m: Memory, t: int, time: int) -> None:
    """Enter the next flush of a task."""
    key = tie_key(m, time, entry.FLUSHER, m[t + task.RANK], m[t + task.DRAWN])
    push(m, time, key, entry.FLUSH, t, 0, 0)


@compiled
def push_wire(m: Memory, c: int, time: int, action: int, first: int, second: int) -> None:
    """Enter something that happens at an end of a channel: who arrives, else the sender's end."""
    kind = entry.ARRIVAL if entry.ARRIVE <= action <= entry.HEAR_BACKLOG else entry.CREDIT
    key = tie_key(m, time, kind, m[c + channel.RANK], m[c + channel.DRAWN])
    push(m, time, key, action, c, first, second)
