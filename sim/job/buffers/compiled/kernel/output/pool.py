"""The pool of output buffers of one writer, as `output/local_buffer_pool.py`."""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, clock, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.counts import segment_given, segment_returned
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import free_segment
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.threads.thread import output_available


@compiled
def request(m: Memory, w: int, lane: int) -> bool:
    """Take a segment for a lane. False when neither a free nor an overdraft one is left."""
    if m[w + writer.FREE]:
        m[w + writer.FREE] -= 1
    elif m[w + writer.OVERDRAFT] < m[w + writer.OVERDRAFT_MAX]:
        m[w + writer.OVERDRAFT] += 1
        peak = max(m[w + writer.OVERDRAFT_PEAK], m[w + writer.OVERDRAFT])
        m[w + writer.OVERDRAFT_PEAK] = peak
    else:
        m[w + writer.REFUSED] = 1
        return False
    held = held_by(m, w, lane)
    m[held] += 1
    if m[held] == m[w + writer.MOST]:
        m[w + writer.FULL] += 1
    if m[clock.FOLLOWED]:
        segment_given(m, w, lane, held + 1)
    return True


@compiled
def held_by(m: Memory, w: int, lane: int) -> int:
    """Return where it is counted how many segments a lane holds, and what the oracle says of it."""
    return m[w + writer.HELD] + (lane - m[w + writer.FIRST_LANE]) // writer.LANE_WIDTH * 2


@compiled
def release(m: Memory, s: int) -> None:
    """Give a segment back to its pool when the last channel is done with it."""
    m[s + cell.OWNERS] -= 1
    if m[s + cell.OWNERS]:
        return
    w, lane = m[s + cell.SEGMENT_WRITER], m[s + cell.SEGMENT_LANE]
    free_segment(m, s)
    held = held_by(m, w, lane)
    if m[clock.FOLLOWED]:
        segment_returned(m, w, lane, held + 1)
    was_available = m[w + writer.FREE] > 0 and not m[w + writer.FULL]
    if m[held] == m[w + writer.MOST]:
        m[w + writer.FULL] -= 1
    m[held] -= 1
    if m[w + writer.OVERDRAFT]:  # those go first
        m[w + writer.OVERDRAFT] -= 1
    else:
        m[w + writer.FREE] += 1
    available = m[w + writer.FREE] > 0 and not m[w + writer.FULL]
    if m[w + writer.REFUSED] or (not was_available and available):
        m[w + writer.REFUSED] = 0
        output_available(m, m[w + writer.TASK])
