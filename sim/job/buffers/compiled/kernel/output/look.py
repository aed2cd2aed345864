"""The queues of the senders, counted for the oracle: the rest it reads from the tables."""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, clock, counts, task, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.counts import counts_of
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.output.planning import written
from ckptsim.sim.job.buffers.compiled.kernel.threads.thread import sync

_NONE = clock.NONE
_SEEN = 2  # in CLOSED, while the queues of one writer are counted
# Memory of a restore has more owners than this: it is not the pool's.
MANY_OWNERS = 1 << 39


@compiled
def look(m: Memory) -> None:
    """Account for all records that are done, and count the queue."""
    for t in range(m[clock.FIRST_TASK], m[clock.END_TASK], task.WIDTH):
        sync(m, t)
    for w in range(m[clock.FIRST_WRITER], m[clock.END_WRITER], writer.WIDTH):
        m[w + writer.SEEN] = 0
        for c in range(m[w + writer.FIRST_CHANNEL], m[w + writer.END_CHANNEL], channel.WIDTH):
            m[counts_of(m, c) + counts.QUEUED_BYTES] = count_queue(m, w, c)
        if not m[w + writer.BROADCAST]:
            continue
        # A broadcast has each segment in all its queues, and it is one all the same.
        for c in range(m[w + writer.FIRST_CHANNEL], m[w + writer.END_CHANNEL], channel.WIDTH):
            forget_queue(m, c)


@compiled
def count_queue(m: Memory, w: int, c: int) -> int:
    """Return how many bytes are queued, and count the segments of the pool that were not seen."""
    size, e = -m[c + channel.TAKEN_BYTES], m[c + channel.HEAD]
    while e >= 0:
        s = m[e + cell.SEGMENT]
        if m[e + cell.WHAT] == cell.IN_SEGMENT:
            is_closed = m[s + cell.CLOSED] & ~_SEEN
            size += m[s + cell.SEGMENT_BYTES] if is_closed else written(m, w, m[c + channel.LANE])
            if m[s + cell.OWNERS] <= MANY_OWNERS and not m[s + cell.CLOSED] & _SEEN:
                m[w + writer.SEEN] += 1
                if m[w + writer.BROADCAST]:
                    m[s + cell.CLOSED] |= _SEEN
        e = m[e + cell.NEXT]
    return size


@compiled
def forget_queue(m: Memory, c: int) -> None:
    """Take the marks away that `count_queue` has left."""
    e = m[c + channel.HEAD]
    while e >= 0:
        if m[e + cell.WHAT] == cell.IN_SEGMENT:
            m[m[e + cell.SEGMENT] + cell.CLOSED] &= ~_SEEN
        e = m[e + cell.NEXT]
