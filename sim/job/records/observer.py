"""Who follows the coordinator of a job of records: accounts and judge, told once at each place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.scenarios.job import StopKind
from ckptsim.sim.job.records.checkpoint_account import CheckpointAccount

if TYPE_CHECKING:
    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.job.port import TaskGateway
    from ckptsim.sim.job.records.world import RecordWorld


class JobObserver:
    """Follows the checkpoints of one job over all its attempts."""

    def __init__(self, world: RecordWorld) -> None:
        self.account = CheckpointAccount(world)
        self._world = world

    def scheduled(self, first_ns: int) -> None:
        """Note that periodic triggers begin, the first after `first_ns`."""
        self.account.scheduled(first_ns)

    def unscheduled(self) -> None:
        """Note that periodic triggers have ended."""
        self.account.unscheduled()

    def asked(self) -> None:
        """Note that a checkpoint is about to be planned."""
        self.account.asked()

    def planned(self, plan: Plan) -> None:
        """Note the plan of a checkpoint."""
        self._world.judge.plan(plan)

    def triggered(self, record: CheckpointRecord) -> None:
        """Note that a checkpoint begins."""
        self.account.triggered(record)
        if record.request.synchronous and self._world.has_backlog():
            drain = self._world.job.ending.stop_kind is StopKind.DRAIN
            kind = "drain" if drain else "no_drain"
            self._world.env.goals.reach(f"stopped_under_backlog_{kind}")

    def acknowledgement(self, record: CheckpointRecord, task: TaskGateway, part: Any) -> None:
        """Note that an acknowledgement has come to the coordinator."""
        self.account.acknowledged(record, self._world.attempt.tasks[task.number], part)

    def completed(self, record: CheckpointRecord, kept: JobCheckpoint) -> None:
        """Note that a checkpoint is complete."""
        self.account.completed(record)
        self._world.judge.checkpoint(kept, self._world.coordinator.highest_completed)

    def failed(self, record: CheckpointRecord, reason: FailureReason) -> None:
        """Note that a checkpoint is given up."""
        self.account.failed(record, reason)
        if reason is FailureReason.CHECKPOINT_EXPIRED:
            missing = sorted(set(record.tasks) - set(record.parts))
            self._world.judge.expired(record.checkpoint, missing)

    def notified(self, record: CheckpointRecord) -> None:
        """Note that tasks are told of a completion."""
        self.account.notified(record)

    def restored(self, checkpoint: JobCheckpoint) -> None:
        """Note that an attempt was made from a checkpoint."""
        self._world.judge.restore(checkpoint)

    def final_request(self, task: TaskGateway, *, asked: bool) -> None:
        """Note a task's report of its end of data, and whether a checkpoint is asked for then."""
        self._world.judge.final_request(task.number, asked=asked)
