"""The network under one channel: both directions keep their order and take some time.

A message takes the latency plus a random share. A message never overtakes an older one of its
direction.  The sender writes one buffer after the other, `send_ns` each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.sim.kernel import Entity, Environment

# Plain integers, because they are looked up for every message.
_ARRIVAL = int(Kind.ARRIVAL)
_CREDIT = int(Kind.CREDIT)


class Wire:
    """Both directions of one channel's connection.

    latency_ns: the least time of a message. jitter_ns: the mean of what comes on top.
    """

    __slots__ = (
        "_back_ns",
        "_env",
        "_forward_ns",
        "_stream",
        "entity",
        "jitter_ns",
        "latency_ns",
        "send_ns",
    )

    def __init__(
        self, env: Environment, entity: Entity, *, latency_ns: int, jitter_ns: int, send_ns: int
    ) -> None:
        self.entity = entity
        self.send_ns = send_ns
        self._env = env
        self.latency_ns = latency_ns
        self.jitter_ns = jitter_ns
        self._stream = env.stream(f"wire {entity.name}")
        self._forward_ns = 0
        self._back_ns = 0

    def forward(self, sent_ns: int, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function when a message that leaves at `sent_ns` has reached the receiver."""
        due = sent_ns + self.latency_ns
        if self.jitter_ns:
            due = max(due + self._stream.exponential_ns(self.jitter_ns), self._forward_ns)
            self._forward_ns = due
        Timer(self._env, _ARRIVAL, self.entity, function, arguments, due=due)

    def back(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function when a message has reached the sender."""
        due = self._env.now + self.latency_ns
        if self.jitter_ns:
            due = max(due + self._stream.exponential_ns(self.jitter_ns), self._back_ns)
            self._back_ns = due
        Timer(self._env, _CREDIT, self.entity, function, arguments, due=due)

    def at_sender(self, time: int, function: Callable[..., object]) -> None:
        """Call a function at the sender's end at `time` (ns), among what reaches it then."""
        Timer(self._env, _CREDIT, self.entity, function, due=time)
