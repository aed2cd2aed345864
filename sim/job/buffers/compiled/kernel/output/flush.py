"""The output flusher: what open buffers hold is sent, unless more than that is waiting anyway."""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import channel, clock, task, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.calendar import push_flush
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.input.channel import pump
from ckptsim.sim.job.buffers.compiled.kernel.output.planning import close_lanes, plan, unplan
from ckptsim.sim.job.buffers.compiled.kernel.threads.thread import shorten, sync


@compiled
def flush(m: Memory, t: int) -> None:
    """Flush the outputs of a task, and enter the next flush."""
    if m[t + task.STATE] == task.ENDED:
        return
    sync(m, t)
    first = m[t + task.FIRST_WRITER]
    for w in range(first, m[t + task.END_WRITER], writer.WIDTH):
        if not m[w + writer.BLOCKED]:
            flush_writer(m, w)
    if not m[clock.SLICES]:
        shorten(m, t)
    push_flush(m, t, m[clock.NOW] + m[clock.FLUSH_PERIOD_NS])


@compiled
def flush_writer(m: Memory, w: int) -> None:
    """Flush the channels of one output. Fills are as they are meanwhile, nothing is ahead."""
    unplan(m, w)
    first = m[w + writer.FIRST_CHANNEL]
    for c in range(first, m[w + writer.END_CHANNEL], channel.WIDTH):
        length = m[c + channel.DATA] + m[c + channel.EVENTS]
        if not length or m[c + channel.FLUSH]:
            continue
        if length > 1:
            m[c + channel.FLUSH] = 1
            continue
        if m[c + channel.EVENTS]:
            continue
        lane = m[c + channel.LANE]
        if m[lane + writer.FILL] > m[c + channel.TAKEN_BYTES]:
            if not m[clock.SLICES]:
                close_lanes(m, w)
            m[c + channel.FLUSH] = 1
            pump(m, c)
    plan(m, w)
