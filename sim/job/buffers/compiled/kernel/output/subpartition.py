"""The sender's queue of one channel, as `models/barriers/channels/subpartition.py` has it.

Events of high priority stand before all else. A blocking event that has been taken stops the queue.
Only the last segment may be open. A flush sends what it holds as a slice.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, clock, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import (
    free_cell,
    line_append,
    line_first,
    line_remove,
    new_cell,
    note,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.output.planning import records_in, written
from ckptsim.sim.job.buffers.compiled.kernel.output.pool import release
from ckptsim.sim.job.buffers.compiled.kernel.threads.thread import sync

_NONE = clock.NONE


@compiled
def head_of(m: Memory, c: int) -> int:
    """Return the cell that is taken next unless the queue is blocked, NONE when it is empty."""
    e = m[c + channel.PRIORITY_HEAD]
    return e if e >= 0 else m[c + channel.HEAD]


@compiled
def is_open(m: Memory, e: int) -> bool:
    """Return whether a cell represents a segment that is still written to."""
    return m[e + cell.WHAT] == cell.IN_SEGMENT and not m[m[e + cell.SEGMENT] + cell.CLOSED]


@compiled
def available(m: Memory, c: int) -> bool:
    """Return whether `take` would find something."""
    e = head_of(m, c)
    if m[c + channel.BLOCKED] or e < 0:
        return False
    return not is_open(m, e) or m[c + channel.FLUSH] != 0


@compiled
def backlog(m: Memory, c: int) -> int:
    """Return how many data elements the receiver is notified of. See the model."""
    data = m[c + channel.DATA]
    if m[c + channel.BLOCKED] or not data:
        return 0
    if m[c + channel.FLUSH] or m[c + channel.FINISHED]:
        return data
    last = m[c + channel.TAIL]
    return data if m[last + cell.WHAT] == cell.EVENT_CELL else data - 1


@compiled
def take(m: Memory, c: int) -> int:
    """Take the next element. NONE when nothing can leave."""
    while not m[c + channel.BLOCKED]:
        if m[c + channel.PRIORITY_HEAD] >= 0:
            m[c + channel.EVENTS] -= 1
            first = line_first(m, c + channel.PRIORITY_HEAD, cell.NEXT)
            # A request to flush must not outlive the barrier that leaves as the last of the queue.
            if m[c + channel.HEAD] < 0 and m[c + channel.PRIORITY_HEAD] < 0:
                m[c + channel.FLUSH] = 0
            return first
        e = m[c + channel.HEAD]
        if e < 0:
            return _NONE
        if m[e + cell.WHAT] == cell.EVENT_CELL:
            return take_event(m, c)
        s = m[e + cell.SEGMENT]
        if not m[s + cell.CLOSED]:
            return take_open(m, c)
        line_first(m, c + channel.HEAD, cell.NEXT)
        m[c + channel.DATA] -= 1
        if m[c + channel.HEAD] < 0:
            m[c + channel.FLUSH] = 0
        rest = m[s + cell.SEGMENT_BYTES] - m[c + channel.TAKEN_BYTES]
        records = m[s + cell.SEGMENT_RECORDS] - m[c + channel.TAKEN_RECORDS]
        m[c + channel.TAKEN_BYTES] = 0
        m[c + channel.TAKEN_RECORDS] = 0
        if rest:
            m[e + cell.WHAT] = cell.SLICE
            m[e + cell.BYTES] = rest
            m[e + cell.RECORDS] = records
            return e
        free_cell(m, e)  # nothing of it was left to be sent
        release(m, s)
    return _NONE


@compiled
def drop_spent(m: Memory, c: int) -> bool:
    """Drop the first segment if it is closed and all of it has left. Return whether it was."""
    e = head_of(m, c)
    if e < 0 or m[e + cell.WHAT] != cell.IN_SEGMENT or is_open(m, e):
        return False
    s = m[e + cell.SEGMENT]
    if m[s + cell.SEGMENT_BYTES] > m[c + channel.TAKEN_BYTES]:
        return False
    line_first(m, c + channel.HEAD, cell.NEXT)
    m[c + channel.DATA] -= 1
    if m[c + channel.HEAD] < 0:
        m[c + channel.FLUSH] = 0
    m[c + channel.TAKEN_BYTES] = 0
    m[c + channel.TAKEN_RECORDS] = 0
    free_cell(m, e)
    release(m, s)
    return True


@compiled
def take_event(m: Memory, c: int) -> int:
    """Take the event at the head. A blocking one stops the queue."""
    e = line_first(m, c + channel.HEAD, cell.NEXT)
    m[c + channel.EVENTS] -= 1
    event = m[e + cell.EVENT]
    if m[event + cell.IS_TIMEOUTABLE] and m[event + cell.CHECKPOINT] == m[c + channel.OPEN_STATE]:
        # It leaves in its turn: all before it has left before, so nothing is state.
        m[c + channel.OPEN_STATE] = _NONE
        note(m, clock.OUTPUT_KNOWN, c, m[event + cell.CHECKPOINT], 0, 0)
        m[clock.LOG_URGENT] = 1
    if m[event + cell.IS_BLOCKING]:
        m[c + channel.BLOCKED] = channel.BY_EVENT
    if m[c + channel.HEAD] < 0:
        m[c + channel.FLUSH] = 0
    return e


@compiled
def take_open(m: Memory, c: int) -> int:
    """Take what the open segment holds, if a flush was asked for and there is something."""
    if not m[c + channel.FLUSH]:
        return _NONE
    m[c + channel.FLUSH] = 0
    w = m[c + channel.WRITER]
    sync(m, m[w + writer.TASK])
    fill = written(m, w, m[c + channel.LANE])
    if fill == m[c + channel.TAKEN_BYTES]:
        return _NONE
    records = records_in(m, w, m[c + channel.LANE], fill)
    e = new_cell(m, cell.SLICE)
    m[e + cell.BYTES] = fill - m[c + channel.TAKEN_BYTES]
    m[e + cell.RECORDS] = records - m[c + channel.TAKEN_RECORDS]
    m[c + channel.TAKEN_BYTES] = fill
    m[c + channel.TAKEN_RECORDS] = records
    return e


# What control puts in -----------------------------------------------------------------------------


@compiled
def event_cell(m: Memory, event: int) -> int:
    """Return a cell that represents an event."""
    e = new_cell(m, cell.EVENT_CELL)
    m[e + cell.EVENT] = event
    return e


@compiled
def note_data(m: Memory, what: int, c: int, checkpoint: int, stop: int) -> int:
    """Write the unsent data before a cell into the log. Return how much."""
    found, e = 0, m[c + channel.HEAD]
    taken, records = m[c + channel.TAKEN_BYTES], m[c + channel.TAKEN_RECORDS]
    while e >= 0 and e != stop:
        if m[e + cell.WHAT] == cell.IN_SEGMENT:
            s = m[e + cell.SEGMENT]
            size = m[s + cell.SEGMENT_BYTES] - taken
            note(m, what, c, checkpoint, size, m[s + cell.SEGMENT_RECORDS] - records)
            taken, records = 0, 0  # only the first segment can have been taken in part
            found += 1
        e = m[e + cell.NEXT]
    return found


@compiled
def add_barrier(m: Memory, c: int, event: int) -> None:
    """Put a barrier in. What it overtakes, and what becomes of open states, goes into the log."""
    if m[c + channel.FINISHED]:
        return
    checkpoint = m[event + cell.CHECKPOINT]
    m[c + channel.EVENTS] += 1
    e = event_cell(m, event)
    if m[event + cell.IS_UNALIGNED]:
        line_append(m, c + channel.PRIORITY_HEAD, e, cell.NEXT)
        note_data(m, clock.PERSIST_OUTPUT, c, checkpoint, _NONE)
        return
    if m[event + cell.IS_TIMEOUTABLE]:
        fail_open_state(m, c)
        m[c + channel.OPEN_STATE] = checkpoint
        note(m, clock.OUTPUT_OPENED, c, checkpoint, 0, 0)
    line_append(m, c + channel.HEAD, e, cell.NEXT)


@compiled
def fail_open_state(m: Memory, c: int) -> None:
    """Give up the output state that is open, if any."""
    checkpoint = m[c + channel.OPEN_STATE]
    if checkpoint >= 0:
        note(m, clock.OUTPUT_FAILED, c, checkpoint, 0, 0)
        m[c + channel.OPEN_STATE] = _NONE


@compiled
def time_out(m: Memory, c: int, checkpoint: int, unaligned: int) -> bool:
    """Let the barrier of an open state overtake, as the unaligned event. Return whether it did."""
    if m[c + channel.OPEN_STATE] != checkpoint:
        return False
    e = m[c + channel.HEAD]
    while True:
        event = m[e + cell.EVENT]
        if (
            event >= 0
            and m[event + cell.IS_TIMEOUTABLE]
            and m[event + cell.CHECKPOINT] == checkpoint
        ):
            break
        e = m[e + cell.NEXT]
    # Before the barrier, not all that is queued: data after it belongs to the next checkpoint and
    # would be restored twice.
    row = m[clock.LOG] + m[clock.LOG_SIZE] * clock.LOG_WIDTH
    note(m, clock.OUTPUT_KNOWN, c, checkpoint, 0, 0)
    m[row + 3] = note_data(m, clock.OUTPUT_BUFFER, c, checkpoint, e)
    line_remove(m, c + channel.HEAD, e, cell.NEXT)
    m[e + cell.EVENT] = unaligned
    line_append(m, c + channel.PRIORITY_HEAD, e, cell.NEXT)
    m[c + channel.OPEN_STATE] = _NONE
    return True
