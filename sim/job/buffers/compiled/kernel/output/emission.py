"""Records that are written: byte by byte where one opens buffers, by count where none does.

A record that opens a buffer is written as the reference driver writes it: as much as fits into the
open buffer, then a new one from the pool, as often as it takes.  When the pool has none the record
is left where it is, and the thread is inside it.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, task, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import line_append, new_cell, new_segment
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.input.channel import pump
from ckptsim.sim.job.buffers.compiled.kernel.output.planning import (
    close_full,
    consume,
    owe,
    plan,
    translate,
)
from ckptsim.sim.job.buffers.compiled.kernel.output.pool import request
from ckptsim.sim.job.buffers.compiled.kernel.output.sizes import (
    count_records,
    counted,
    next_size,
    varies,
)


@compiled
def emit_all(m: Memory, t: int, count: int) -> bool:
    """Process records at all outputs of a task. Return whether one lacks a buffer."""
    stuck = False
    first = m[t + task.FIRST_WRITER]
    for w in range(first, m[t + task.END_WRITER], writer.WIDTH):
        if m[w + writer.PARTS] < 0:
            emit(m, w, count)
        else:
            owe(m, w, count)
            pay(m, w)
        if m[w + writer.BLOCKED]:
            stuck = True
    return stuck


@compiled
def emit(m: Memory, w: int, count: int) -> None:
    """Emit records, at most `OUT`. The last one may be the opener."""
    if count <= m[w + writer.AHEAD]:
        consume(m, w, count)
        if m[w + writer.OUT] > (m[w + writer.AHEAD] if m[w + writer.PARTS] >= 0 else 0):
            translate(m, w)
        else:  # no opener was among those that are drawn ahead
            plan(m, w)
        return
    place = m[w + writer.HEAD] + m[w + writer.AHEAD]
    lane = m[m[w + writer.PICKS] + (place & (writer.RING - 1))]
    consume(m, w, count)
    m[w + writer.AHEAD] = 0
    write(m, w, lane, next_size(m, w, lane))
    if not m[w + writer.BLOCKED]:
        plan(m, w)


@compiled
def pay(m: Memory, w: int) -> None:
    """Write the owed records, up to one that lacks a buffer."""
    while m[w + writer.OWED] and not m[w + writer.BLOCKED]:
        count = min(m[w + writer.OWED], m[w + writer.OUT])
        m[w + writer.OWED] -= count
        emit(m, w, count)
    if not m[w + writer.BLOCKED]:
        translate(m, w)


@compiled
def write(m: Memory, w: int, lane: int, left: int) -> None:
    """Write so many bytes of a record. Stops inside it when there is no buffer."""
    while left:
        if m[lane + writer.FILL] == m[lane + writer.LIMIT] and not extends(m, w, lane, left):
            if not request(m, w, lane):
                m[w + writer.PENDING_LANE] = lane
                m[w + writer.PENDING_BYTES] = left
                m[w + writer.BLOCKED] = 1
                return
            open_next(m, w, lane)
        part = min(left, m[lane + writer.LIMIT] - m[lane + writer.FILL])
        m[lane + writer.FILL] += part
        left -= part
    count_records(m, w, lane, 1)


@compiled
def extends(m: Memory, w: int, lane: int, left: int) -> bool:
    """Let an open buffer that was to stay small take the rest of a record, for want of others."""
    s, limit = m[lane + writer.OPEN], m[lane + writer.LIMIT]
    if s < 0 or m[w + writer.FREE] or limit >= m[w + writer.SEGMENT_BYTES]:
        return False
    limit = min(m[w + writer.SEGMENT_BYTES], limit + left)
    m[s + cell.SEGMENT_SIZE] = m[lane + writer.LIMIT] = limit
    return True


@compiled
def open_next(m: Memory, w: int, lane: int) -> None:
    """Open a buffer. The one before is full, and closed by this."""
    before = m[lane + writer.OPEN]
    head = 0 if before < 0 else close_full(m, w, before)
    if varies(m, w):
        head = counted(m, w, lane)
    s = new_segment(m, w, lane, m[lane + writer.CAPACITY], head)
    m[lane + writer.OPEN] = s
    m[lane + writer.FILL] = 0
    m[lane + writer.LIMIT] = m[lane + writer.CAPACITY]
    first = m[w + writer.FIRST_CHANNEL]
    if m[w + writer.BROADCAST]:
        end = m[w + writer.END_CHANNEL]
        m[s + cell.OWNERS] = (end - first) // channel.WIDTH
        for c in range(first, end, channel.WIDTH):
            add_segment(m, c, s)
    else:
        place = (lane - m[w + writer.FIRST_LANE]) // writer.LANE_WIDTH
        add_segment(m, first + place * channel.WIDTH, s)


@compiled
def add_segment(m: Memory, c: int, s: int) -> None:
    """Append a segment that has just been opened. The one before it may leave now."""
    if m[c + channel.FINISHED]:
        return
    e = new_cell(m, cell.IN_SEGMENT)
    m[e + cell.SEGMENT] = s
    line_append(m, c + channel.HEAD, e, cell.NEXT)
    m[c + channel.DATA] += 1
    data = m[c + channel.DATA]
    if data > 2 or m[c + channel.BLOCKED] or m[c + channel.FLUSH]:
        return
    if data + m[c + channel.EVENTS] == 2:
        pump(m, c)


@compiled
def retry(m: Memory, w: int) -> None:
    """Continue with the record that lacks a buffer."""
    m[w + writer.BLOCKED] = 0
    write(m, w, m[w + writer.PENDING_LANE], m[w + writer.PENDING_BYTES])
    if not m[w + writer.BLOCKED]:
        plan(m, w)
        if m[w + writer.PARTS] >= 0:
            pay(m, w)
