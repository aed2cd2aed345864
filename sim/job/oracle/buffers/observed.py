"""Pools and channels of a job on buffers as the oracle observes them, and as plain ones.

Data move too often for an event each, so what passes through a channel is seen by channels of an
observed kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.barrier import is_blocking
from ckptsim.sim.job.buffers.input import LocalChannel, RemoteChannel
from ckptsim.sim.job.buffers.output import LocalBufferPool, Slice

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel
    from ckptsim.sim.job.buffers.compiled.followers import Follower
    from ckptsim.sim.job.buffers.compiled.output import CompiledWriter
    from ckptsim.sim.job.buffers.input import InputGate, Wire
    from ckptsim.sim.job.buffers.output import Element, Route, Subpartition
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.graph import OutputSpec
    from ckptsim.sim.job.oracle.buffers.counted import SliceChannel
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


class _Recovering:
    __slots__ = ()
    _oracle: SliceChannel

    def recovered(self, slice_: Slice) -> None:
        """Note recovered data: it counts as sent, before anything that the sender sends."""
        self._oracle.sent(slice_)

    def handed_over(self, slice_: Slice) -> None:
        """Note that the task has taken recovered data."""
        self._oracle.taken(slice_)


class ObservedRemoteChannel(_Recovering, RemoteChannel):
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


class ObservedLocalChannel(_Recovering, LocalChannel):
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

    def resume(self) -> None:
        """Let the sender continue after a blocking event."""
        self._oracle.told_to_resume()
        super().resume()

    def _resumed(self) -> None:
        self._oracle.resumed()
        super()._resumed()


class BufferObserver:
    """Makes plain pools and channels. follows: how the kernel counts (`columns/clock.py`)."""

    follows = 0

    def __init__(self, world: DataflowWorld) -> None:
        del world

    def pool(
        self, task: Task, name: str, *, burst_bytes: int, least_segment_bytes: int, **settings: Any
    ) -> LocalBufferPool:
        """Make the pool of a task's next output.

        name: of the output. burst_bytes: of all records that come of one. least_segment_bytes: of
        the smallest segment that there can be.
        """
        del task, name, burst_bytes, least_segment_bytes
        return LocalBufferPool(**settings)

    def route(self, task: Task, output: OutputSpec, route: Route) -> None:
        """Note how the records of a task's next output are distributed."""

    def remote(
        self, subpartition: Subpartition, gate: InputGate, wire: Wire, *, exclusive: int
    ) -> RemoteChannel:
        """Make a channel over the network."""
        return RemoteChannel(subpartition, gate, wire, exclusive=exclusive)

    def local(
        self, env: Environment, entity: Entity, subpartition: Subpartition, gate: InputGate
    ) -> LocalChannel:
        """Make a channel inside a task manager."""
        return LocalChannel(env, entity, subpartition, gate)

    # A kernel has pools and channels of its own, and logs their events -----------------------

    def logged_pool(self, writer: CompiledWriter, name: str, **settings: Any) -> None:
        """Note a pool of the kernel. settings: as of `pool`."""

    def logged(self, channel: CompiledChannel, *, exclusive: int, is_local: bool) -> None:
        """Note a channel of the kernel."""

    def follower(self, driver: CompiledDriver) -> Follower | None:
        """Return what learns the log of the attempt's kernel, None for no one."""
        del driver
        return None

    # The run ----------------------------------------------------------------------------------

    def look(self) -> None:
        """Look at what must hold at every instant, now and then."""

    def end(self, *, ended: bool) -> None:
        """Look at the end of the run. ended: every task has FINISHED."""

    def check_contents(self) -> None:
        """Look at what state and output of a job that has ended hold."""
