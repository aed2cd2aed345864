"""Free lists of cells and segments, lines of items, and the log that Python reads."""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, clock
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_NONE = clock.NONE


@compiled
def new_cell(m: Memory, what: int) -> int:
    """Take a cell. The loop has seen to it that there are enough."""
    e = m[clock.FREE_CELL]
    if e < 0:
        raise MemoryError
    m[clock.FREE_CELL] = m[e + cell.NEXT]
    m[clock.FREE_CELLS] -= 1
    m[e + cell.NEXT] = _NONE
    m[e + cell.WHAT] = what
    m[e + cell.SEGMENT] = _NONE
    m[e + cell.FLOATING] = 0
    m[e + cell.EVENT] = _NONE
    return e


@compiled
def free_cell(m: Memory, e: int) -> None:
    """Give a cell back."""
    m[e + cell.NEXT] = m[clock.FREE_CELL]
    m[clock.FREE_CELL] = e
    m[clock.FREE_CELLS] += 1


@compiled
def new_segment(m: Memory, w: int, lane: int, size: int, head: int) -> int:
    """Take a segment for a lane of a writer."""
    s = m[clock.FREE_SEGMENT]
    if s < 0:
        raise MemoryError
    m[clock.FREE_SEGMENT] = m[s + cell.SEGMENT_NEXT]
    m[clock.FREE_SEGMENTS] -= 1
    m[s + cell.SEGMENT_WRITER] = w  # where a free one has the next of its list
    m[s + cell.SEGMENT_LANE] = lane
    m[s + cell.SEGMENT_SIZE] = size
    m[s + cell.SEGMENT_HEAD] = head
    m[s + cell.SEGMENT_BYTES] = 0
    m[s + cell.SEGMENT_RECORDS] = 0
    m[s + cell.CLOSED] = 0
    m[s + cell.OWNERS] = 1
    return s


@compiled
def free_segment(m: Memory, s: int) -> None:
    """Give a segment back."""
    m[s + cell.SEGMENT_NEXT] = m[clock.FREE_SEGMENT]
    m[clock.FREE_SEGMENT] = s
    m[clock.FREE_SEGMENTS] += 1


@compiled
def line_append(m: Memory, line: int, item: int, link: int) -> None:
    """Put an item at the end of a line.

    line: the word that has its first item, after which is the one of the last. link: the column of
    an item that has the next one.
    """
    last = m[line + 1]
    if last < 0:
        m[line] = item
    else:
        m[last + link] = item
    m[line + 1] = item
    m[item + link] = _NONE


@compiled
def line_first(m: Memory, line: int, link: int) -> int:
    """Take the first item of a line, which has one."""
    item = m[line]
    following = m[item + link]
    m[line] = following
    if following < 0:
        m[line + 1] = _NONE
    m[item + link] = _NONE
    return item


@compiled
def line_remove(m: Memory, line: int, item: int, link: int) -> None:
    """Take an item out of a line, wherever it is."""
    before, one = _NONE, m[line]
    while one != item:
        before, one = one, m[one + link]
    following = m[item + link]
    if before < 0:
        m[line] = following
    else:
        m[before + link] = following
    if following < 0:
        m[line + 1] = before
    m[item + link] = _NONE


@compiled
def note(m: Memory, what: int, c: int, checkpoint: int, size: int, records: int) -> None:
    """Write into the log."""
    row = m[clock.LOG] + m[clock.LOG_SIZE] * clock.LOG_WIDTH
    m[clock.LOG_SIZE] += 1
    m[row] = what
    m[row + 1] = c
    m[row + 2] = checkpoint
    m[row + 3] = size
    m[row + 4] = records
    m[row + 5] = m[clock.NOW]
