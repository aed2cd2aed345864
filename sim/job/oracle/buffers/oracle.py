"""The oracle that follows every buffer and every checkpoint of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.oracle.buffers.invariants import BufferInvariants
from ckptsim.sim.job.oracle.buffers.observed import (
    GateBuffers,
    ObservedLocalChannel,
    ObservedPool,
    ObservedRemoteChannel,
)
from ckptsim.sim.job.oracle.buffers.observer import BufferObserver
from ckptsim.sim.job.oracle.buffers.view import BufferView
from ckptsim.sim.job.oracle.job import JobOracle

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input import InputGate, LocalChannel, RemoteChannel, Wire
    from ckptsim.sim.job.buffers.output import LocalBufferPool, Route, Subpartition
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.oracle.channels import ChannelOracle
    from ckptsim.sim.kernel import Entity, Environment


class BufferOracle(JobOracle, BufferObserver):
    """Checks what must hold of jobs, and of their buffers."""

    def __init__(self, world: DataflowWorld) -> None:
        self._view = BufferView(world)
        super().__init__(world.env, world.model, self._view, world.violate)
        self._world = world
        self._floating: dict[tuple[int, int], GateBuffers] = {}
        self._invariants: BufferInvariants

    # Parts of an attempt ----------------------------------------------------------------------

    def deploying(self) -> None:
        """Forget the parts of the attempt that is over."""
        super().deploying()
        self._view.redeployed()
        self._floating.clear()

    def pool(
        self, name: str, *, record_bytes: int, least_segment_bytes: int, **settings: Any
    ) -> LocalBufferPool:
        """Make a pool that is observed."""
        segments = -(-record_bytes // least_segment_bytes) + 1
        return ObservedPool(name, self._violate, record_segments=segments, **settings)

    def route(self, task: Task, route: Route, *, channels: int) -> None:
        """Follow a copy of a route."""
        self._view.route(task, route, channels)

    def remote(
        self, subpartition: Subpartition, gate: InputGate, wire: Wire, *, exclusive: int
    ) -> RemoteChannel:
        """Make a channel that is observed."""
        return ObservedRemoteChannel(
            subpartition,
            gate,
            wire,
            exclusive=exclusive,
            oracle=self._channel(subpartition, gate, pulled=False),
            floating=self._gate(gate),
            violate=self._violate,
        )

    def local(
        self, env: Environment, entity: Entity, subpartition: Subpartition, gate: InputGate
    ) -> LocalChannel:
        """Make a channel that is observed."""
        self._gate(gate)
        oracle = self._channel(subpartition, gate, pulled=True)
        return ObservedLocalChannel(env, entity, subpartition, gate, oracle=oracle)

    def _channel(
        self, subpartition: Subpartition, gate: InputGate, *, pulled: bool
    ) -> ChannelOracle:
        ends = subpartition.owner, gate.task
        return self.channel(
            *ends, keeps_order=not subpartition.writer.supports_unaligned, pulled=pulled
        )

    def _gate(self, gate: InputGate) -> GateBuffers:
        key = gate.task.number, gate.index
        if key not in self._floating:
            self._floating[key] = GateBuffers(gate.floating_free)
        return self._floating[key]

    # The run ----------------------------------------------------------------------------------

    def begun(self, restored: JobCheckpoint | None) -> None:
        """Begin to look at the buffers of an attempt."""
        super().begun(restored)
        self._invariants = BufferInvariants(
            self._world, self.tasks, self._floating, self._view.written, self._violate
        )

    def look(self) -> None:
        """Check what must hold at every instant."""
        self._invariants.look()
        super().look()

    def end(self, *, ended: bool) -> None:
        """Check what must hold at the end of a run."""
        self._invariants.end()
        super().end(ended=ended)
