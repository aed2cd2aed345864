"""Pools and channels that tell the oracle what they do: the same behaviour, counted once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.barrier import is_blocking
from ckptsim.sim.job.buffers.input import LocalChannel, RemoteChannel
from ckptsim.sim.job.buffers.output import LocalBufferPool, Slice

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input import InputGate, Wire
    from ckptsim.sim.job.buffers.output import Element, Subpartition
    from ckptsim.sim.job.oracle.buffers.channels import SliceChannel
    from ckptsim.sim.job.oracle.buffers.counts import CreditCount, PoolCount
    from ckptsim.sim.kernel import Entity, Environment


class ObservedPool(LocalBufferPool):
    """A pool with segments counted once more."""

    __slots__ = ("_count",)

    def __init__(self, count: PoolCount, **settings: Any) -> None:
        super().__init__(**settings)
        self._count = count

    def request(self, channel: int) -> bool:
        """Take a segment for a channel."""
        given = super().request(channel)
        if given:
            self._count.given(channel)
        return given

    def recycle(self, channel: int) -> None:
        """Take a segment back."""
        self._count.returned(channel)
        super().recycle(channel)


class ObservedRemoteChannel(RemoteChannel):
    """A channel over the network with counted buffers and credits."""

    __slots__ = ("_count", "_oracle")

    def __init__(
        self,
        subpartition: Subpartition,
        gate: InputGate,
        wire: Wire,
        *,
        exclusive: int,
        oracle: SliceChannel,
        count: CreditCount,
    ) -> None:
        super().__init__(subpartition, gate, wire, exclusive=exclusive)
        self._oracle = oracle
        self._count = count

    def _send(self, element: Element, sent_ns: int) -> None:
        self._oracle.sent(element)
        if isinstance(element, Slice):
            self._count.sent()
        super()._send(element, sent_ns)

    def _send_empty(self, sent_ns: int) -> None:
        self._count.sent(empty=True)
        super()._send_empty(sent_ns)

    def _arrive_empty(self, backlog: int) -> None:
        self._count.arrived_empty()
        super()._arrive_empty(backlog)

    def _grant(self, count: int) -> None:
        self._count.granted(count)
        super()._grant(count)

    def look(self) -> None:
        """Check the credit of a channel that is not over."""
        if not self._released:
            self._count.look(self.free)

    def _add_credit(self, count: int) -> None:
        self._count.credited(count)
        super()._add_credit(count)

    def recovered(self, slice_: Slice) -> None:
        """Note recovered data: it counts as sent, before anything that the sender sends."""
        self._oracle.sent(slice_)

    def handed_over(self, slice_: Slice) -> None:
        """Note that the task has taken recovered data."""
        self._oracle.taken(slice_)

    def resume(self) -> None:
        """Let the sender continue after a blocking event."""
        self._oracle.told_to_resume()
        super().resume()

    def _resumed(self) -> None:
        self._oracle.resumed()
        self._count.resumed()
        super()._resumed()

    def _arrive(self, element: Element, backlog: int) -> None:
        self._oracle.arrived(element)
        if not isinstance(element, Slice) and is_blocking(element):
            self._count.stopped()
        super()._arrive(element, backlog)
        if isinstance(element, Slice):
            self._count.arrived(floating=element.floating)

    def recycle(self, slice_: Slice) -> None:
        """Free the buffer of a slice."""
        self._count.freed(floating=slice_.floating)
        super().recycle(slice_)

    def take(self) -> Element | None:
        """Take the next element for the task."""
        priority = self.has_priority
        element = super().take()
        if element is not None:
            self._oracle.taken(element, priority=priority)
        return element


class ObservedLocalChannel(LocalChannel):
    """A channel inside a task manager that shows what goes through it."""

    __slots__ = ("_oracle",)

    def __init__(
        self,
        env: Environment,
        entity: Entity,
        subpartition: Subpartition,
        gate: InputGate,
        *,
        oracle: SliceChannel,
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
        """Let the sender continue after a blocking event."""
        self._oracle.told_to_resume()
        super().resume()

    def _resumed(self) -> None:
        self._oracle.resumed()
        super()._resumed()
