"""What a world tells its account; here nobody listens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.channels import LocalChannel, RemoteChannel
from ckptsim.sim.job.buffers.pool import OutputPool
from ckptsim.sim.job.control.observer import SILENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.sim.job.buffers.gate import Gate
    from ckptsim.sim.job.buffers.outlet import Outlet
    from ckptsim.sim.job.buffers.part import Part
    from ckptsim.sim.job.buffers.routing import Route
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.buffers.wire import Wire
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.job.control.observer import TaskObserver
    from ckptsim.sim.job.port import TaskGateway
    from ckptsim.sim.kernel import Entity, Environment

Violation = tuple[str, int, str, int | None]
"""Property, instant, sentence, checkpoint concerned."""


class Account:
    """Takes note of nothing; a world calls these methods where things happen.

    report: told (property, sentence) of what does not hold, in the place of `violations`.
    """

    def __init__(self, report: Callable[[str, str], None] | None = None) -> None:
        self.violations: list[Violation] = []
        self._report = report

    # Parts of the world -----------------------------------------------------------------------

    def pool(
        self, name: str, *, record_bytes: int, least_segment_bytes: int, **settings: Any
    ) -> OutputPool:
        """Make the pool of an output.

        name: of the output; record_bytes: of one record; least_segment_bytes: of the smallest
        segment that there can be.
        """
        del name, record_bytes, least_segment_bytes
        return OutputPool(**settings)

    def route(self, task: Task, route: Route, *, channels: int) -> None:
        """Note how the records of a task's next output are distributed."""

    def remote(self, outlet: Outlet, gate: Gate, wire: Wire, *, exclusive: int) -> RemoteChannel:
        """Make a channel over the network."""
        return RemoteChannel(outlet, gate, wire, exclusive=exclusive)

    def local(self, env: Environment, entity: Entity, outlet: Outlet, gate: Gate) -> LocalChannel:
        """Make a channel inside a task manager."""
        return LocalChannel(env, entity, outlet, gate)

    # The run ----------------------------------------------------------------------------------

    def begin(self, world: DataflowWorld, restored: JobCheckpoint | None) -> None:
        """Note that an attempt is built, and what it begins from."""

    def redeployed(self) -> None:
        """Note that the parts of the next attempt are going to be built."""

    def restored(self, checkpoint: JobCheckpoint) -> None:
        """Note that an attempt was made from a checkpoint."""

    def moved(
        self, channel: RemoteChannel, *, sent_bytes: int, taken_bytes: int, wired: list[int]
    ) -> None:
        """Note what a stretch has moved through a channel at once.

        wired: the bytes of each buffer that is on the wire at its end.
        """

    def rested(self, gate: Gate, hand: tuple[RemoteChannel, bool] | None) -> None:
        """Note that a stretch has moved what it had to through the channels of a gate.

        hand: the channel whose buffer is being read and not free yet, and whether it is floating.
        """

    def look(self) -> None:
        """Look around, now and then."""

    def end(self) -> None:
        """Look around at the end of the run."""

    def violate(self, name: str, says: str, checkpoint: int | None = None) -> None:
        """Note that a property does not hold."""

    # A task's checkpoints ---------------------------------------------------------------------

    def task(self, task: Task) -> TaskObserver:
        """Return what is told of a task's checkpoints."""
        del task
        return SILENT

    def persisted(self, outlet: Outlet, checkpoint: int, size: int, *, at_sender: bool) -> None:
        """Note bytes of a channel that become state, at its sender or at its receiver."""

    def acknowledged(self, task: Task, part: Part, size: int, *, unaligned: bool) -> None:
        """Note what a task says of its part."""

    # The coordinator --------------------------------------------------------------------------

    def scheduled(self, first_ns: int) -> None:
        """Note that periodic triggers begin."""

    def unscheduled(self) -> None:
        """Note that periodic triggers have ended."""

    def asked(self) -> None:
        """Note that a checkpoint is about to be planned."""

    def planned(self, plan: Plan) -> None:
        """Note the plan of a checkpoint."""

    def triggered(self, record: CheckpointRecord) -> None:
        """Note that a checkpoint begins."""

    def acknowledgement(self, record: CheckpointRecord, task: TaskGateway, part: Any) -> None:
        """Note that an acknowledgement has come to the coordinator."""

    def final_request(self, task: TaskGateway, *, asked: bool) -> None:
        """Note a task's report of its end of data."""

    def completed(self, record: CheckpointRecord, kept: JobCheckpoint) -> None:
        """Note that a checkpoint is complete."""

    def failed(self, record: CheckpointRecord, reason: FailureReason) -> None:
        """Note that a checkpoint is given up."""

    def notified(self, record: CheckpointRecord) -> None:
        """Note that tasks are told of a completion."""
