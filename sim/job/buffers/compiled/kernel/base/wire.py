"""The network under one channel, as `input/wire.py`: a message never overtakes an older one.

The two directions of a channel draw from one stream, in the order in which they are used.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import channel, clock
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.calendar import push_wire
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.base.streams import exponential_ns


@compiled
def due_forward(m: Memory, c: int, sent_ns: int) -> int:
    """Return when a message that leaves at `sent_ns` reaches the receiver."""
    due = sent_ns + m[clock.LATENCY_NS]
    mean = m[clock.JITTER_NS]
    if mean:
        due += exponential_ns(m, c + channel.STREAM, float(mean))
        due = max(due, m[c + channel.FORWARD_NS])
        m[c + channel.FORWARD_NS] = due
    return due


@compiled
def due_back(m: Memory, c: int) -> int:
    """Return when a message that leaves now reaches the sender. At once inside a task manager."""
    due = m[clock.NOW]
    if m[c + channel.INSIDE]:
        return due
    due += m[clock.LATENCY_NS]
    mean = m[clock.JITTER_NS]
    if mean:
        due += exponential_ns(m, c + channel.STREAM, float(mean))
        due = max(due, m[c + channel.BACK_NS])
        m[c + channel.BACK_NS] = due
    return due


@compiled
def back(m: Memory, c: int, action: int, first: int) -> None:
    """Let something happen at the sender when a message has reached it."""
    push_wire(m, c, due_back(m, c), action, first=first, second=0)
