"""What the trace and the goals of a run have of its control: both listen to the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.sim.job.events import Listener

if TYPE_CHECKING:
    from ckptsim.sim.job.events import of_job
    from ckptsim.sim.kernel import Environment

_SUBSUMED = (FailureReason.CHECKPOINT_SUBSUMED, FailureReason.CHECKPOINT_DECLINED_SUBSUMED)
_FINISHED = {
    FinishedState.FULL: "restored_fully_finished",
    FinishedState.PARTIAL: "restored_partly_finished",
}


class ControlTrace(Listener):
    """Writes entries of the trace, and counts situations that are rare."""

    def __init__(self, env: Environment) -> None:
        self._trace, self._reach = env.trace.record, env.goals.reach
        self._job, self._coordinator = env.entity("job"), env.entity("coordinator")

    def triggered(self, event: of_job.CheckpointTriggered) -> None:
        """Write which checkpoint begins, and of which kind."""
        record = event.record
        self._trace("triggered", self._coordinator, record.checkpoint, record.kind.upper())

    def acknowledged(self, event: of_job.PartArrived) -> None:
        """Write what a task acknowledges."""
        part, number = event.part, event.record.checkpoint
        entity, sizes = event.task.entity, (part.persisted_bytes, part.state_bytes)
        self._trace("acknowledged", entity, number, *sizes)
        if event.record.status != "pending":
            self._reach("late_acknowledgement")

    def declined(self, event: of_job.PartDeclined) -> None:
        """Write what a task declines, and why."""
        self._trace("declined", event.task.entity, event.checkpoint, event.reason.value)
        self._reach("declined")

    def completed(self, event: of_job.CheckpointCompleted) -> None:
        """Write which checkpoint is complete, and how long it took."""
        if event.record.request.savepoint:
            self._reach("savepoint_completed")
        number = event.record.checkpoint
        self._trace("completed", self._coordinator, number, event.duration_ns)

    def given_up(self, event: of_job.CheckpointFailed) -> None:
        """Write which checkpoint is given up, and why."""
        if event.reason is FailureReason.CHECKPOINT_EXPIRED:
            self._reach("expired")
        if event.reason in _SUBSUMED:
            self._reach("subsumed")
        self._trace("aborted", self._coordinator, event.record.checkpoint, event.reason.value)

    def data_end_reported(self, event: of_job.DataEndReported) -> None:
        """Count final checkpoints that are asked for as the last data ends."""
        if event.asked:
            self._reach("immediate_final_checkpoint")

    def failed(self, event: of_job.FailureKnown) -> None:
        """Write why the job fails."""
        self._trace("failed", self._job, event.cause)

    def manager_loss_known(self, event: of_job.ManagerLossKnown) -> None:
        """Count losses that are known by their heartbeats."""
        self._reach("lost_by_heartbeat")

    def job_submitted(self, event: of_job.JobSubmitted) -> None:
        """Count jobs that are submitted again."""
        self._reach("resubmitted")

    def restored(self, event: of_job.JobRestored) -> None:
        """Write from which checkpoint the job restarts, and count what had finished in it."""
        restored = event.checkpoint
        number = 0 if restored is None else restored.checkpoint_id
        self._trace("restored", self._job, number)
        states = () if restored is None else restored.vertices.values()
        for state, goal in _FINISHED.items():
            if state in states:
                self._reach(goal)
