"""Pools and channels that tell the oracle what they do: the same behaviour, counted once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.input import LocalChannel, RemoteChannel
from ckptsim.sim.job.buffers.output import LocalBufferPool, Slice

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input import InputGate, Wire
    from ckptsim.sim.job.buffers.output import Element, Subpartition
    from ckptsim.sim.job.oracle.channels import ChannelOracle
    from ckptsim.sim.job.oracle.view import Violate
    from ckptsim.sim.kernel import Entity, Environment


class ObservedPool(LocalBufferPool):
    """Counts what is handed out apart from what the pool itself counts.

    most: segments that may be out at once; record_segments: how many one record may need.
    """

    __slots__ = ("_most", "_most_per_channel", "_name", "_out", "_out_of", "_violate")

    def __init__(
        self, name: str, violate: Violate, *, record_segments: int, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self._name = name
        self._violate = violate
        self._most = settings["size"] + settings["overdraft_max"]
        # A record is begun only while no channel holds its maximum; it may then take some more.
        self._most_per_channel = settings["max_per_channel"] - 1 + record_segments
        self._out = 0
        self._out_of = [0] * settings["channels"]

    def request(self, channel: int) -> bool:
        """Take a segment for a channel: never more than the pool, the overdraft and the maximum."""
        given = super().request(channel)
        if given:
            self._out += 1
            self._out_of[channel] += 1
            if self._out > self._most or self._out_of[channel] > self._most_per_channel:
                says = f"{self._out} segments of {self._name} are out, {self._out_of[channel]} "
                says += f"of one channel; at most {self._most} and {self._most_per_channel} may be"
                self._violate("pools_stay_within_bounds", says)
        return given

    def recycle(self, channel: int) -> None:
        """Take a segment back, one that was out."""
        self._out -= 1
        self._out_of[channel] -= 1
        if self._out_of[channel] < 0:
            says = f"a segment of {self._name} comes back twice"
            self._violate("pools_stay_within_bounds", says)
        super().recycle(channel)

    @property
    def out(self) -> int:
        """How many segments are out by this count."""
        return self._out


class GateBuffers:
    """How many floating buffers of a gate hold data, by this count."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.filled = 0


class ObservedRemoteChannel(RemoteChannel):
    """A channel over the network whose buffers and credits are counted."""

    __slots__ = ("_allowed", "_filled", "_floating", "_oracle", "_violate")

    def __init__(
        self,
        subpartition: Subpartition,
        gate: InputGate,
        wire: Wire,
        *,
        exclusive: int,
        oracle: ChannelOracle,
        floating: GateBuffers,
        violate: Violate,
    ) -> None:
        super().__init__(subpartition, gate, wire, exclusive=exclusive)
        self._oracle = oracle
        self._floating = floating
        self._violate = violate
        self._filled = 0  # exclusive buffers that hold data
        self._allowed = exclusive  # slices that the receiver has given credit for and that were not

    def _send(self, element: Element, sent_ns: int) -> None:
        self._oracle.sent(element)
        if isinstance(element, Slice):
            self._allowed -= 1
            self._check(self._allowed >= 0, "sends data without credit")
        super()._send(element, sent_ns)

    def _send_empty(self, sent_ns: int) -> None:
        self._allowed -= 1
        self._check(self._allowed >= 0, "sends an empty buffer without credit")
        super()._send_empty(sent_ns)

    def _add_credit(self, count: int) -> None:
        self._allowed += count
        super()._add_credit(count)

    def recovered(self, slice_: Slice) -> None:
        """Note recovered data: it counts as sent, before anything that the sender sends."""
        self._oracle.sent(slice_)

    def handed_over(self, slice_: Slice) -> None:
        """Note that the task has taken recovered data."""
        self._oracle.taken(slice_)

    def resume(self) -> None:
        """Let the sender continue behind a blocking event."""
        self._oracle.told_to_resume()
        super().resume()

    def _resumed(self) -> None:
        self._oracle.resumed()
        if not self._exclusive:
            self._allowed = 0
        super()._resumed()

    def _arrive(self, element: Element, backlog: int) -> None:
        self._oracle.arrived(element)
        super()._arrive(element, backlog)
        if not isinstance(element, Slice):
            return
        if element.floating:
            self._floating.filled += 1
            self._check(self._floating.filled <= self._floating.total, "fills a buffer not lent")
        else:
            self._filled += 1
            self._check(self._filled <= self._exclusive, "receives data without a free buffer")

    def recycle(self, slice_: Slice) -> None:
        """Free the buffer of a slice."""
        if slice_.floating:
            self._floating.filled -= 1
        else:
            self._filled -= 1
        self._check(self._filled >= 0 and self._floating.filled >= 0, "frees a buffer twice")
        super().recycle(slice_)

    def take(self) -> Element | None:
        """Take the next element for the task."""
        priority = self.has_priority
        element = super().take()
        if element is not None:
            self._oracle.taken(element, priority=priority)
        return element

    def _check(self, holds: bool, says: str) -> None:  # noqa: FBT001 - the condition itself
        if not holds:
            name = "credits_stay_within_bounds"
            self._violate(name, f"channel {self._oracle.name} {says}")


class ObservedLocalChannel(LocalChannel):
    """A channel inside a task manager that tells what goes through it."""

    __slots__ = ("_oracle",)

    def __init__(
        self,
        env: Environment,
        entity: Entity,
        subpartition: Subpartition,
        gate: InputGate,
        *,
        oracle: ChannelOracle,
    ) -> None:
        super().__init__(env, entity, subpartition, gate)
        self._oracle = oracle

    def take(self) -> Element | None:
        """Take the next element of the sender's queue."""
        priority = self.has_priority
        element = super().take()
        if element is not None:
            self._oracle.sent(element)
            self._oracle.taken(element, priority=priority)
        return element

    def recovered(self, slice_: Slice) -> None:
        """Note recovered data: it counts as sent, before anything that the sender sends."""
        self._oracle.sent(slice_)

    def handed_over(self, slice_: Slice) -> None:
        """Note that the task has taken recovered data."""
        self._oracle.taken(slice_)

    def resume(self) -> None:
        """Let the sender continue behind a blocking event."""
        self._oracle.told_to_resume()
        super().resume()

    def _resumed(self) -> None:
        self._oracle.resumed()
        super()._resumed()
