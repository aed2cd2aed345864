"""What the user of a job does while it runs: other parallelisms, another mode, cancelling it.

Either holds from the next attempt on.  A resubmission is a new job to the engine. It begins from
the newest checkpoint or savepoint of the old one, and falls back on it until its first checkpoint
is complete. A restart after a failure never begins from an older savepoint.  A savepoint of an
attempt that has failed is none to begin from: the restart has aborted what it pre-committed.

Source: Apache Flink 1.20.3, AdaptiveScheduler (rescale), CheckpointCoordinator.restoreSavepoint
(what a submitted job begins from is a completed checkpoint of its own).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ckptsim.scenarios.job.faults import Cancel, Rescale, Resubmit
from ckptsim.sim.job.events import of_job
from ckptsim.sim.job.settings import in_mode

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.control.planning import TaskPlans
    from ckptsim.sim.job.world import JobWorld


class Operations:
    """Carries out what the user asks for, on a job that has not ended."""

    def __init__(self, job: JobWorld, plans: TaskPlans) -> None:
        self._job = job
        self._plans = plans

    def carry_out(self, asked: Cancel | Rescale | Resubmit) -> None:
        """Do what the user asks for, if the job is still there."""
        emit = self._job.events.emit
        emit(of_job.ChangeAsked(asked, self._is_over))
        match asked:
            case Cancel():
                self._cancel()
            case Rescale(vertex=vertex, parallelism=parallelism):
                self._rescale(vertex, parallelism)
            case Resubmit():
                self._resubmit(asked)
            case _ as never:
                assert_never(never)
        emit(of_job.ChangeDone())

    def _rescale(self, vertex: str, parallelism: int) -> None:
        """Restart with another parallelism of a vertex. A restart under way takes it along."""
        job = self._job
        if not self._is_over and self._plans.rescale(vertex, parallelism, job.newest()):
            self._restart(f"{vertex} is rescaled to {parallelism}")

    def _resubmit(self, asked: Resubmit) -> None:
        """Cancel the job, and submit it again with what the user changes."""
        job = self._job
        if self._is_over:
            return
        newest = self._newest()
        if asked.vertex and not self._plans.rescale(asked.vertex, asked.parallelism, newest):
            return
        settings = job.settings
        if asked.new_mode is not None:
            self._plans.resume(asked.new_mode)
            settings = in_mode(settings, asked.new_mode)
        self._restart("the job is submitted again")
        job.submitted(newest, settings)
        job.events.emit(of_job.JobSubmitted())

    def _cancel(self) -> None:
        """End the job, also while it restarts. Sinks leave what they had pre-committed."""
        job = self._job
        if self._is_over:
            return
        job.canceled = True
        job.env.trace.record("canceled", job.entity)
        job.interrupt("the job is cancelled")
        job.failovers.pop()  # no one has failed, and nothing follows
        job.end()

    def _restart(self, cause: str) -> None:
        self._job.events.emit(of_job.RestartAsked())
        self._job.fail_over(cause, planned=True)
        self._job.events.emit(of_job.RestartBegun())

    def _newest(self) -> JobCheckpoint | None:
        """Return the newest checkpoint, or savepoint of the attempt that runs."""
        job, kept = self._job, self._job.coordinator
        mine = [n for n in kept.completed if kept.records[n].attempt == job.attempts]
        found = [job.newest(), *(kept.completed[n] for n in mine)]
        return max(found, key=lambda one: -1 if one is None else one.checkpoint_id)

    @property
    def _is_over(self) -> bool:
        job = self._job
        return job.ended or job.gave_up or job.coordinator.stop_completed
