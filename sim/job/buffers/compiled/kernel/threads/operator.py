"""The thread of an operator: mailbox first, then its outputs, then its inputs. As `tasks/task.py`.

`run_operator` ends when the thread serves records or waits, or when Python has to act: then Python
does so and calls it again, at the same instant.
"""

from __future__ import annotations

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, clock, gate, task
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.base.streams import exponential_ns
from ckptsim.sim.job.buffers.compiled.kernel.input.credits import recycle
from ckptsim.sim.job.buffers.compiled.kernel.input.gate import (
    end_turn,
    every_input,
    poll_chosen,
    poll_in_turn,
)
from ckptsim.sim.job.buffers.compiled.kernel.output.emission import emit_all
from ckptsim.sim.job.buffers.compiled.kernel.output.sizes import rest_of
from ckptsim.sim.job.buffers.compiled.kernel.threads.thread import (
    arm,
    arm_behind,
    block,
    enter,
    may_begin,
    note_processed,
)

_NONE = clock.NONE


@compiled
def run_operator(m: Memory, t: int) -> int:
    """Continue at a record boundary. Return what Python has to do, WAITS if nothing."""
    m[clock.TASK] = t
    while m[t + task.STATE] != task.ENDED:
        if m[t + task.PAUSED]:
            enter(m, t, task.PAUSING)
            return clock.WAITS
        if m[t + task.MAIL]:
            m[t + task.MAIL] -= 1
            return clock.MAIL
        if not may_begin(m, t):
            enter(m, t, task.BLOCKED)
            return clock.WAITS
        if m[t + task.CELL] == _NONE:
            two_input = m[t + task.TWO_INPUT]
            e = poll_chosen(m, t) if two_input else poll_in_turn(m, t)
            if e < 0:
                enter(m, t, task.IDLE)
                return clock.WAITS
            what = m[e + cell.WHAT]
            if what == cell.EVENT_CELL or what == cell.ANNOUNCEMENT:  # noqa: PLR1714 - for numba
                m[clock.CELL] = e
                return clock.EVENT
            take_up(m, t, e)
            if m[t + task.CELL] == _NONE and m[e + cell.FLOATING] == cell.RECOVERED:
                return clock.TOLD  # with it a gate may have been read to its end: that is a mail
        if m[t + task.CELL] != _NONE:
            begin(m, t)
            return clock.WAITS
    return clock.WAITS


@compiled
def take_up(m: Memory, t: int, e: int) -> None:
    """Begin to read a buffer, or continue with one that was set aside."""
    c = m[clock.CHANNEL]
    m[t + task.CHANNEL] = c
    if m[t + task.TWO_INPUT] and m[t + task.LEFT]:
        m[t + task.CELL] = e
        return
    size, records = m[e + cell.BYTES], m[e + cell.RECORDS]
    m[t + task.TAKEN_BYTES] += size
    m[m[c + channel.GATE] + gate.TAKEN_BYTES] += size
    if m[c + channel.RECORD_BYTES]:
        m[c + channel.PARTIAL_BYTES] += size - records * m[c + channel.RECORD_BYTES]
    else:
        m[c + channel.PARTIAL_BYTES] = rest_of(m, c, records, m[c + channel.PARTIAL_BYTES] + size)
    m[c + channel.RECORDS] += records
    m[t + task.LEFT] = records
    if not records:
        recycle(m, c, e)
        m[t + task.GOES_ON] = m[t + task.TWO_INPUT]
        return
    m[t + task.CELL] = e
    if m[t + task.STREAM] >= 0:
        # The service varies from buffer to buffer.
        drawn = exponential_ns(m, m[t + task.STREAM], np.int64(m[t + task.MEAN]).view(np.float64))
        step = min(m[t + task.FIXED_NS] + drawn, m[t + task.LONGEST_NS])
        m[t + task.STEP_NS] = max(1, step)


@compiled
def begin(m: Memory, t: int) -> None:
    """Serve records of the buffer: all but the last, with which its memory comes free."""
    count = m[t + task.LEFT] - m[clock.FREED_WHEN_READ]
    if not count:
        count = 1
        recycle(m, m[t + task.CHANNEL], m[t + task.CELL])
        m[t + task.CELL] = task.RETURNED
    elif m[t + task.TWO_INPUT] and m[t + task.AVAILABLE] == every_input(m, t):
        count = 1  # it is the other input's turn after that
    count, seen = block(m, t, count, 1)
    now = m[clock.NOW]
    m[t + task.COUNT] = count
    m[t + task.START_NS] = now
    if m[t + task.STATE] != task.BUSY:
        enter(m, t, task.BUSY)
    end = now + count * m[t + task.STEP_NS]
    if seen:
        arm(m, t, end)
    else:
        arm_behind(m, t, end)


@compiled
def fire_operator(m: Memory, t: int) -> int:
    """Come to the record boundary that the thread was to reach, or wake up."""
    if m[t + task.STATE] == task.BUSY:
        count = m[t + task.COUNT]
        if m[clock.RECORDED]:
            note_processed(m, t, count, m[clock.NOW])
        m[t + task.COUNT] = 0
        m[t + task.LEFT] -= count
        m[t + task.PROCESSED] += count
        if not m[t + task.LEFT]:
            if m[t + task.CELL] >= 0:
                recycle(m, m[t + task.CHANNEL], m[t + task.CELL])
            m[t + task.CELL] = _NONE
        if m[t + task.TWO_INPUT]:
            end_turn(m, t, count)
        if emit_all(m, t, count):
            enter(m, t, task.STUCK)
            return clock.WAITS
    return run_operator(m, t)
