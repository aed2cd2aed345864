"""How many records a writer can emit before one needs a buffer, and how full the open ones are.

A writer draws the lanes of records in turn, counts each into its open buffer, and stops at the
first that does not fit: the opener.  So every record is looked at once.  Who wants to know fills as
they are takes the counted ones out again (`unplan`), which costs no more than having counted them.

Invariant: fill of a lane = bytes in its open buffer + the ones of the AHEAD records that are drawn
and not yet emitted.  The opener is drawn, and in no fill.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, clock, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.counts import counts_of
from ckptsim.sim.job.buffers.compiled.kernel.base.intrinsics import fetch
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.output.routing import draw_lanes
from ckptsim.sim.job.buffers.compiled.kernel.output.sizes import (
    count_records,
    counted,
    next_size,
    place_of,
    size_of,
    varies,
)

_PARTS = 1_000_000
_PLACES = writer.RING - 1
_LANES = writer.LANE_WIDTH.bit_length() - 1
# As many inputs as no run has, for an operator that emits nothing.
_NEVER = 1 << 60


@compiled
def plan(m: Memory, w: int) -> None:
    """Count records ahead up to the opener, or as many as are drawn ahead at most."""
    picks, size = m[w + writer.PICKS], m[w + writer.RECORD_BYTES]
    head, drawn = m[w + writer.HEAD], m[w + writer.DRAWN]
    ahead, out, varied = m[w + writer.AHEAD], writer.RING, varies(m, w)
    while ahead < writer.RING:
        if ahead == drawn:
            drawn = draw_lanes(m, w)
        lane = m[picks + ((head + ahead) & _PLACES)]
        if varied:
            size = next_size(m, w, lane)
        fill = m[lane + writer.FILL] + size
        if fill > m[lane + writer.LIMIT]:
            out = ahead + 1
            break
        m[lane + writer.FILL] = fill
        if varied:
            count_records(m, w, lane, 1)
        ahead += 1
    m[w + writer.AHEAD] = ahead
    m[w + writer.OUT] = out
    translate(m, w)
    if out == ahead + 1 and not m[w + writer.BROADCAST]:
        fetch_opened(m, w, m[picks + ((head + ahead) & _PLACES)])


@compiled
def fetch_opened(m: Memory, w: int, lane: int) -> None:
    """Fetch what the opener will need of its lane: all that has long left the cache by now."""
    place = (lane - m[w + writer.FIRST_LANE]) >> _LANES
    row = m[w + writer.FIRST_CHANNEL] + place * channel.WIDTH
    for line in range(row, row + channel.LAST_SEEN, 8):
        fetch(m, line)
    fetch(m, m[w + writer.HELD] + 2 * place)
    fetch(m, m[lane + writer.OPEN])
    fetch(m, m[row + channel.HEAD])
    if m[clock.FOLLOWED]:
        fetch(m, counts_of(m, row))


@compiled
def unplan(m: Memory, w: int) -> None:
    """Take the counts ahead out of the fills. `plan` has to follow."""
    picks, size = m[w + writer.PICKS], m[w + writer.RECORD_BYTES]
    head, varied = m[w + writer.HEAD], varies(m, w)
    for place in range(m[w + writer.AHEAD] - 1, -1, -1):  # the last one first, as counts have it
        lane = m[picks + ((head + place) & _PLACES)]
        if varied:
            count_records(m, w, lane, -1)
            size = next_size(m, w, lane)
        m[lane + writer.FILL] -= size
    m[w + writer.AHEAD] = 0


@compiled
def emitted_of(processed: int, parts: int) -> int:
    """Return how many records are out after so many were processed."""
    return processed * parts // _PARTS


@compiled
def translate(m: Memory, w: int) -> None:
    """Set how many records of the input may be processed, from those that may be emitted."""
    parts, out = m[w + writer.PARTS], m[w + writer.OUT]
    if parts < 0:
        m[w + writer.TO_NEXT] = out
        return
    processed = m[w + writer.PROCESSED]
    wanted = emitted_of(processed, parts) - m[w + writer.OWED] + out
    if not parts:
        until = _NEVER
    elif out > m[w + writer.AHEAD]:  # up to the one that gives the opener
        until = -((-wanted * _PARTS) // parts)
    else:  # which give no more than is drawn ahead
        until = ((wanted + 1) * _PARTS - 1) // parts
    # While records of the one under way are owed the least is the rest of that one.
    m[w + writer.TO_NEXT] = max(1, until - processed)


@compiled
def consume(m: Memory, w: int, count: int) -> None:
    """Emit records that fit into open buffers: they are in the fills already."""
    m[w + writer.EMITTED] += count
    m[w + writer.HEAD] = (m[w + writer.HEAD] + count) & _PLACES
    m[w + writer.DRAWN] -= count
    m[w + writer.AHEAD] -= count
    m[w + writer.OUT] -= count


@compiled
def owe(m: Memory, w: int, count: int) -> None:
    """Process records of the input: what they give is owed."""
    parts, before = m[w + writer.PARTS], m[w + writer.PROCESSED]
    m[w + writer.PROCESSED] = before + count
    m[w + writer.OWED] += emitted_of(before + count, parts) - emitted_of(before, parts)


@compiled
def skip(m: Memory, w: int, count: int) -> None:
    """Process fewer records than `TO_NEXT`: nothing opens a buffer."""
    if m[w + writer.PARTS] >= 0:
        owe(m, w, count)
        count = m[w + writer.OWED]
        m[w + writer.OWED] = 0
    consume(m, w, count)
    translate(m, w)


@compiled
def written(m: Memory, w: int, lane: int) -> int:
    """Return how many bytes are in the open buffer of a lane."""
    if m[lane + writer.OPEN] < 0:
        return 0
    ahead, fill = ahead_in(m, w, lane), m[lane + writer.FILL]
    if not varies(m, w):
        return fill - ahead * m[w + writer.RECORD_BYTES]
    place, end = place_of(m, w, lane), counted(m, w, lane)
    for number in range(end - ahead, end):
        fill -= size_of(m, w, place, number)
    return fill


@compiled
def ahead_in(m: Memory, w: int, lane: int) -> int:
    """Return how many records are counted ahead in a lane."""
    picks, head, found = m[w + writer.PICKS], m[w + writer.HEAD], 0
    for ahead in range(m[w + writer.AHEAD]):
        if m[picks + ((head + ahead) & _PLACES)] == lane:
            found += 1
    return found


@compiled
def records_in(m: Memory, w: int, lane: int, fill: int) -> int:
    """Count the records that end in the open segment of a lane with written first bytes."""
    head = m[m[lane + writer.OPEN] + cell.SEGMENT_HEAD]
    if varies(m, w):
        return counted(m, w, lane) - ahead_in(m, w, lane) - head
    if fill < head or not fill:
        return 0
    whole = (fill - head) // m[w + writer.RECORD_BYTES]
    return whole + 1 if head else whole


@compiled
def close_all(m: Memory, w: int) -> None:
    """Close every open buffer of a writer, because an event follows."""
    unplan(m, w)
    close_lanes(m, w)
    plan(m, w)


@compiled
def close_lanes(m: Memory, w: int) -> None:
    """Close every open buffer of a writer that has counted nothing ahead."""
    first = m[w + writer.FIRST_LANE]
    for lane in range(first, m[w + writer.END_LANE], writer.LANE_WIDTH):
        s = m[lane + writer.OPEN]
        if s >= 0:
            fill = m[lane + writer.FILL]
            m[s + cell.SEGMENT_BYTES] = fill
            m[s + cell.SEGMENT_RECORDS] = records_in(m, w, lane, fill)
            m[s + cell.CLOSED] = 1
            m[lane + writer.OPEN] = -1
            m[lane + writer.FILL] = 0
            m[lane + writer.LIMIT] = 0


@compiled
def close_full(m: Memory, w: int, s: int) -> int:
    """Close a full segment.

    Returns how many bytes of its last record are still to follow, where all are of one size.
    """
    size, head = m[s + cell.SEGMENT_SIZE], m[s + cell.SEGMENT_HEAD]
    m[s + cell.SEGMENT_BYTES] = size
    m[s + cell.CLOSED] = 1
    if varies(m, w):
        m[s + cell.SEGMENT_RECORDS] = counted(m, w, m[s + cell.SEGMENT_LANE]) - head
        return 0
    record_bytes = m[w + writer.RECORD_BYTES]
    if head > size:
        return head - size
    whole, tail = (size - head) // record_bytes, (size - head) % record_bytes
    m[s + cell.SEGMENT_RECORDS] = whole + 1 if head else whole
    return record_bytes - tail if tail else 0
