"""The job of a pipeline: attempts come and go with those of the sync around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.composed.attempt import PipelineTasks
from ckptsim.sim.job.records.judge import Judge
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.job.world import Failover, JobWorld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ckptsim.sim.composed.world import PipelineWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.control.faults import FaultPlan
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.kernel import Wait


class KeepingJudge(Judge):
    """Judges completed checkpoints, and keeps them where the run is to be looked into."""

    def __init__(self, world: PipelineJob) -> None:
        super().__init__(world)
        self._job = world

    def checkpoint(self, checkpoint: JobCheckpoint, highest: int) -> None:
        """Check a completed checkpoint against the world's account."""
        super().checkpoint(checkpoint, highest)
        if self._job.pipeline.spec.keep_trace:
            self._job.kept.append(checkpoint)


class PipelineControl(JobWorld):
    """The job over all attempts, which come and go with those of the pipeline around it."""

    _plane: PipelineJob

    def fail_over(self, cause: str) -> None:
        """End the attempt around the job: what was read from sockets is lost with it."""
        attempt = self._plane.pipeline.attempt
        if self.running and not self.ended and attempt is not None:
            self.env.trace.record("failed", self.entity, cause)
            attempt.end(f"the job failed: {cause}")

    def interrupt(self, cause: str) -> None:
        """Stop whatever runs: the attempt around it is over."""
        self.failovers.append(Failover(self.attempts, cause, self.env.now))
        self._plane.halt()
        if self.running:
            self.running = False
            self.coordinator.suspend(FailureReason.JOB_FAILOVER_REGION)

    def all_finished(self) -> None:
        """End the job: with its last task the destination has stored all."""
        super().all_finished()
        self._plane.job_ended()


class PipelineJob(RecordWorld):
    """The tasks of the job; its completed checkpoints outlive the attempts of the pipeline."""

    attempt: PipelineTasks
    control: PipelineControl
    control_type = PipelineControl

    def __init__(self, pipeline: PipelineWorld, faults: FaultPlan) -> None:
        self.pipeline = pipeline
        self.kept: list[JobCheckpoint] = []
        self.restored_ids: list[int | None] = []  # of the attempts after the first
        super().__init__(
            pipeline.env,
            pipeline.pipeline.job(),
            faults,
            cores=pipeline.cores,
            may_stop=False,
        )
        self.judge = KeepingJudge(self)
        self.control.plan_instants()

    def make_attempt(self, number: int, restored: JobCheckpoint | None) -> Attempt:
        """Make the tasks and channels of an attempt."""
        return PipelineTasks(self, number, restored)

    def next_attempt(self) -> None:
        """Make the next attempt from the latest completed checkpoint."""
        self.control.ended = False
        self.control.redeploy()
        restored = self.control.restored
        self.restored_ids.append(None if restored is None else restored.checkpoint_id)

    def end_input(self) -> None:
        """Say to every reader that nothing follows."""
        for inlet in self.attempt.inlets:
            inlet.close()

    def job_ended(self) -> None:
        """Close the committers, and tell the destination."""
        if self.pipeline.attempt is not None:
            for sink in self.attempt.sinks():
                sink.committer.close()
            self.pipeline.attempt.destination.job_ended()

    def violate(self, name: str, says: str) -> None:
        """Report a property that does not hold."""
        self.pipeline.note(name, says)

    def open_waits(self) -> Iterator[Wait]:
        """Return who waits for whom in the job, unless it has ended."""
        if not self.ended:
            yield from self.waits()
