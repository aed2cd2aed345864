"""Who makes the pools and channels of a job on buffers, where no one judges what they do.

Data move too often for an event each, so what passes through a channel is seen by channels of an
observed kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.input import LocalChannel, RemoteChannel
from ckptsim.sim.job.buffers.output import LocalBufferPool

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel
    from ckptsim.sim.job.buffers.compiled.followers import Follower
    from ckptsim.sim.job.buffers.compiled.output import CompiledWriter
    from ckptsim.sim.job.buffers.input import InputGate, Wire
    from ckptsim.sim.job.buffers.output import Route, Subpartition
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.graph import OutputSpec
    from ckptsim.sim.kernel import Entity, Environment


class BufferObserver:
    """Makes plain pools and channels, and takes note of nothing.

    follows: whether the kernel counts buffers for it, or shows of each, as `columns/clock.py` says.
    """

    follows = 0

    def __init__(self, world: DataflowWorld) -> None:
        del world

    def pool(
        self,
        task: Task,
        name: str,
        *,
        burst_bytes: int,
        least_segment_bytes: int,
        **settings: Any,
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
