"""One attempt of a pipeline: source, sockets, destination, and the job within the destination."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ckptsim.sim.composed.inlet import RecordInlet
from ckptsim.sim.job.records.attempt import Attempt as JobAttempt
from ckptsim.sim.sync.attempt import Attempt as SyncAttempt

if TYPE_CHECKING:
    from ckptsim.sim.composed.destination import PipelineDestination
    from ckptsim.sim.composed.job import PipelineJob
    from ckptsim.sim.composed.sink import StoreSink
    from ckptsim.sim.composed.world import PipelineWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.records.graph import TaskSpec
    from ckptsim.sim.job.records.task import Task
    from ckptsim.sim.sync.intervals import Intervals


class PipelineAttempt(SyncAttempt):
    """An attempt; whatever fails in it, source, job or send, ends all of it."""

    world: PipelineWorld
    destination: PipelineDestination

    def __init__(self, world: PipelineWorld, base: tuple[Intervals, ...]) -> None:
        super().__init__(world, base)

    def make_destination(self) -> PipelineDestination:
        """Make the destination, and in it the job from its latest completed checkpoint."""
        self.world.ledger.attempt_begins(self)
        return self.world.cores.destination(self)

    def begin(self) -> None:
        """Start source and destination, then the job."""
        super().begin()
        self.destination.job.control.begin()


class PipelineTasks(JobAttempt):
    """The job's tasks in one attempt: readers are fed from sockets, sinks write to the store."""

    world: PipelineJob

    def __init__(self, world: PipelineJob, number: int, restored: JobCheckpoint | None) -> None:
        self.inlets: list[RecordInlet] = []
        self._pipeline = world.pipeline
        self._sync = world.pipeline.beginning
        super().__init__(world, number, restored)

    def make_inlet(self, task: Task) -> RecordInlet:
        """Make the queue in front of a reader."""
        inlet = RecordInlet(task, self._pipeline.pipeline.readers.buffer_records)
        self.inlets.append(inlet)
        return inlet

    def make_sink(self, spec: TaskSpec) -> StoreSink:
        """Make a sink on its partition of the store."""
        store = self._pipeline.store
        committer = self._pipeline.cores.committer(self._sync, store, store.keys[spec.subtask])
        return self._pipeline.cores.sink(self, spec, committer)

    def progress(self) -> None:
        """Note a sign of life of the job, and so of the whole attempt."""
        super().progress()
        self._sync.sign()

    def sinks(self) -> list[StoreSink]:
        """Return the sinks that were not deployed as finished."""
        return [cast("StoreSink", task.sink) for task in self.tasks if task.sink is not None]
