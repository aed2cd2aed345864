"""What control does to channels in checkpoints: persist inputs, let announced barriers overtake.

As `models/barriers/channels/input_channel.py` and `Persister` have it.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, clock, gate, task, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import line_append, line_remove, note
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.input.channel import enqueue_event, pump
from ckptsim.sim.job.buffers.compiled.kernel.output.planning import close_all
from ckptsim.sim.job.buffers.compiled.kernel.output.subpartition import (
    add_barrier,
    event_cell,
    fail_open_state,
)

_NONE = clock.NONE


@compiled
def start_gate(m: Memory, g: int, checkpoint: int) -> bool:
    """Begin to persist in every channel of a gate. False when one refuses."""
    first = m[g + gate.FIRST_INPUT]
    for place in range(first, m[g + gate.END_INPUT]):
        if not start(m, m[place], checkpoint):
            return False
    return True


@compiled
def start(m: Memory, c: int, checkpoint: int) -> bool:
    """Persist the queue before the barrierand later arrivals before it."""
    status, seen = m[c + channel.STATUS], m[c + channel.LAST_SEEN]
    if checkpoint < m[c + channel.LAST_BARRIER]:
        return False
    if status == channel.BARRIER_RECEIVED and seen > checkpoint:
        return False
    if checkpoint > m[c + channel.LAST_BARRIER]:
        # The place of an older barrier must not cut this checkpoint's data.
        forget_barrier(m, c)
    # All that is queued is before the barrier, unless the barrier has come: then only what had
    # arrived before it and has not been taken since (arrived minus queued).
    count = m[c + channel.IN_DATA]
    if m[c + channel.LAST_BARRIER] != _NONE:
        taken = m[c + channel.ARRIVED] - count
        count = min(count, max(0, m[c + channel.CUT] - taken))
    e = m[c + channel.IN_HEAD]
    while count and e >= 0:
        if m[e + cell.WHAT] == cell.SLICE:
            size, records = m[e + cell.BYTES], m[e + cell.RECORDS]
            note(m, clock.PERSIST_INPUT, c, checkpoint, size, records)
            count -= 1
        e = m[e + cell.NEXT]
    # Last: arriving data is persisted from here on, so queued data would be persisted twice.
    if seen < checkpoint:
        m[c + channel.STATUS] = channel.BARRIER_PENDING
        m[c + channel.LAST_SEEN] = checkpoint
    return True


@compiled
def forget_barrier(m: Memory, c: int) -> None:
    """Forget the place of the barrier that was noted last."""
    m[c + channel.LAST_BARRIER] = _NONE
    m[c + channel.LAST_SEQUENCE] = _NONE


@compiled
def stop_gate(m: Memory, g: int, checkpoint: int) -> None:
    """Persist no more for a checkpoint or older ones in the channels of a gate."""
    first = m[g + gate.FIRST_INPUT]
    for place in range(first, m[g + gate.END_INPUT]):
        c = m[place]
        if checkpoint >= m[c + channel.LAST_SEEN]:
            m[c + channel.STATUS] = channel.COMPLETED
            m[c + channel.LAST_SEEN] = checkpoint
        if checkpoint == m[c + channel.LAST_BARRIER]:
            forget_barrier(m, c)


@compiled
def prioritize(m: Memory, c: int, sequence: int) -> bool:
    """Move an announced barrier to the front. False when it does not stand there."""
    if m[c + channel.STATUS] != channel.BARRIER_RECEIVED:
        return False
    e = m[c + channel.IN_HEAD]
    while e >= 0:
        if m[e + cell.WHAT] == cell.EVENT_CELL and m[e + cell.SEQUENCE] == sequence:
            if sequence != m[c + channel.LAST_SEQUENCE]:
                return False
            line_remove(m, c + channel.IN_HEAD, e, cell.NEXT)
            line_append(m, c + channel.IN_PRIORITY_HEAD, e, cell.NEXT)
            enqueue_event(m, c)
            return True
        e = m[e + cell.NEXT]
    return False


# Outputs ------------------------------------------------------------------------------------------


@compiled
def add_barriers(m: Memory, w: int, event: int) -> None:
    """Put a barrier into every channel of an output, after the buffers that it closes."""
    close_all(m, w)
    first = m[w + writer.FIRST_CHANNEL]
    for c in range(first, m[w + writer.END_CHANNEL], channel.WIDTH):
        add_barrier(m, c, event)


@compiled
def broadcast(m: Memory, w: int, event: int) -> None:
    """Put an event after everything in every channel of an output, and let it travel."""
    close_all(m, w)
    first = m[w + writer.FIRST_CHANNEL]
    for c in range(first, m[w + writer.END_CHANNEL], channel.WIDTH):
        if not m[c + channel.FINISHED]:
            line_append(m, c + channel.HEAD, event_cell(m, event), cell.NEXT)
            m[c + channel.EVENTS] += 1
            pump(m, c)


@compiled
def pump_all(m: Memory, t: int) -> None:
    """Let the queues of a task travel."""
    first = m[t + task.FIRST_OUTPUT]
    for c in range(first, m[t + task.END_OUTPUT], channel.WIDTH):
        pump(m, c)


@compiled
def abort_outputs(m: Memory, t: int, checkpoint: int) -> None:
    """Give up the output state of a checkpoint. Its barriers stay where they are."""
    first = m[t + task.FIRST_OUTPUT]
    for c in range(first, m[t + task.END_OUTPUT], channel.WIDTH):
        if m[c + channel.OPEN_STATE] == checkpoint:
            fail_open_state(m, c)


@compiled
def finish(m: Memory, t: int, event: int) -> None:
    """End every channel of a task, after the buffers that it closes."""
    first = m[t + task.FIRST_WRITER]
    for w in range(first, m[t + task.END_WRITER], writer.WIDTH):
        close_all(m, w)
    first = m[t + task.FIRST_OUTPUT]
    for c in range(first, m[t + task.END_OUTPUT], channel.WIDTH):
        if not m[c + channel.FINISHED]:
            line_append(m, c + channel.HEAD, event_cell(m, event), cell.NEXT)
            m[c + channel.EVENTS] += 1
            m[c + channel.FINISHED] = 1
            pump(m, c)
