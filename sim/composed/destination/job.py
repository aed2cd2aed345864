"""The job of a pipeline: what it is handed, and how its attempts follow the sync around it.

The job knows nothing of the pipeline.  Its sources take records from queues that sockets fill, its
sinks commit through the store, and its owner is the pipeline: a failure of the job ends the attempt
of the sync, and the next attempt of the sync begins the next one of the job.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Plane
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.embedding import Embedding
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.sync.world import SyncWorld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simpy import Event

    from ckptsim.scenarios.job import Job
    from ckptsim.sim.composed.destination.committer import Committer
    from ckptsim.sim.composed.world import PipelineWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.control.faults import FaultPlan
    from ckptsim.sim.job.embedding import EmbeddedPlane
    from ckptsim.sim.kernel import Environment, Wait


class RecordQueue:
    """A bounded queue before one source subtask. Who fills it waits for room afterwards.

    wake: lets the thread of the source look for work.
    """

    def __init__(self, env: Environment, wake: Callable[[], None], capacity: int) -> None:
        self._env = env
        self._wake = wake
        self._capacity = capacity
        self._queue: deque[int] = deque()
        self._waiting: list[Event] = []
        self._closed = False

    @property
    def exhausted(self) -> bool:
        """Whether nothing is queued and nothing comes any more."""
        return self._closed and not self._queue

    @property
    def queued_count(self) -> int:
        """How many records can be taken now."""
        return len(self._queue)

    def put(self, record: int) -> None:
        """Queue a record. The last packet may go beyond the capacity."""
        self._queue.append(record)
        self._wake()

    def take(self) -> int:
        """Take the next record, and let those continue who wait for room."""
        record = self._queue.popleft()
        if self._waiting and len(self._queue) < self._capacity:
            waiting, self._waiting = self._waiting, []
            for event in waiting:
                event.succeed()
        return record

    def room(self) -> Event | None:
        """Return the wait for room, or None when there is some."""
        if len(self._queue) < self._capacity:
            return None
        event = self._env.event()
        self._waiting.append(event)
        return event

    def close(self) -> None:
        """Say that nothing follows."""
        self._closed = True
        self._wake()


class PipelineJob:
    """The job over all attempts. Its completed checkpoints outlive them.

    queues: what feeds its readers in the attempt that runs. committers: what its sinks commit
    through, the ones of sinks that were deployed as finished left out.  kept: every completed
    checkpoint, where the run is to be looked into.  restored_ids: the checkpoints that the attempts
    after the first began from.
    """

    def __init__(self, pipeline: PipelineWorld, faults: FaultPlan) -> None:
        self.queues: list[RecordQueue] = []
        self.committers: list[Committer] = []
        self.kept: list[JobCheckpoint] = []
        self.restored_ids: list[int | None] = []
        self._pipeline = pipeline
        job = pipeline.pipeline.job()
        embedding = Embedding(
            reader=self._make_queue,
            committer=self._make_committer,
            sink=pipeline.cores.sink,
            owner=self,
            keepers=(SyncWorld,),
        )
        self.plane = self._make_plane(job, faults, embedding)
        self.control = self.plane.control
        self.plane.begin_run()

    def _make_plane(self, job: Job, faults: FaultPlan, embedding: Embedding) -> EmbeddedPlane:
        env, cores = self._pipeline.env, self._pipeline.cores
        if job.plane is Plane.RECORDS:
            return RecordWorld(env, job, faults, cores=cores, may_stop=False, embedding=embedding)
        return DataflowWorld(
            env, job, protocol=cores, faults=faults, observer=BufferOracle, embedding=embedding
        )

    def next_attempt(self) -> None:
        """Make the next attempt from the latest completed checkpoint."""
        self.queues, self.committers = [], []
        self.control.redeploy()
        restored = self.restored
        self.restored_ids.append(None if restored is None else restored.checkpoint_id)

    def end_input(self) -> None:
        """Say to every reader that nothing follows."""
        for queue in self.queues:
            queue.close()

    @property
    def ended(self) -> bool:
        """Whether every task has FINISHED."""
        return self.control.ended

    @property
    def restored(self) -> JobCheckpoint | None:
        """The checkpoint that the attempt which runs began from."""
        return self.control.restored

    def numbers_of(self, vertex: str) -> list[int]:
        """Return the numbers of the tasks of a vertex."""
        return list(self.control.coordinator.planning.subtasks[vertex])

    def records_of(self, vertex: str) -> Iterator[int]:
        """Return the records in the state of a vertex has."""
        for number in self.numbers_of(vertex):
            yield from self.plane.records_of(number)

    def under_way(self) -> Sequence[int]:
        """Return the records of transactions that are being committed."""
        transactions = self.control.sinks.external.transactions
        names = [name for sink in self.plane.sinks for name in sink.under_way]
        return [record for name in names for record in transactions[name].records]

    def open_waits(self) -> Iterator[Wait]:
        """Return who waits for whom in the job, unless it has ended."""
        if not self.ended:
            yield from self.plane.waits()

    # What the job is handed -------------------------------------------------------------------

    def _make_queue(self, _subtask: int, wake: Callable[[], None]) -> RecordQueue:
        capacity = self._pipeline.pipeline.readers.buffer_records
        queue = RecordQueue(self._pipeline.env, wake, capacity)
        self.queues.append(queue)
        return queue

    def _make_committer(self, subtask: int) -> Committer:
        pipeline = self._pipeline
        store = pipeline.store
        committer = pipeline.cores.committer(pipeline.beginning, store, store.keys[subtask])
        self.committers.append(committer)
        return committer

    # As the owner of the job ------------------------------------------------------------------

    def job_failed(self, cause: str) -> None:
        """End the attempt around the job: the data read from sockets is lost with it."""
        attempt = self._pipeline.attempt
        if attempt is not None:
            attempt.faults.note_strike()  # nothing of the sync has failed
            attempt.end(f"the job failed: {cause}")

    def job_finished(self) -> None:
        """Close the committers, and tell the destination: all is stored."""
        for committer in self.committers:
            committer.close()
        if self._pipeline.attempt is not None:
            self._pipeline.attempt.storage.job_ended()

    def job_progressed(self) -> None:
        """Note a sign of life of the job, and so of the whole attempt."""
        self._pipeline.beginning.sign()

    def checkpoint_completed(self, checkpoint: JobCheckpoint) -> None:
        """Keep a completed checkpoint where the run is to be looked into."""
        if self._pipeline.spec.keep_trace:
            self.kept.append(checkpoint)

    def violate(self, name: str, says: str) -> None:
        """Report a property that does not hold."""
        self._pipeline.note(name, says)
