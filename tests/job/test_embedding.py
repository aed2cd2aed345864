"""A job as part of something larger: its owner feeds it, commits and restarts it, on each plane."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace

import pytest

from ckptsim.scenarios.job import Checkpointing, Engine, Input, Job, Plane, Vertex, VertexKind
from ckptsim.scenarios.job.faults import CrashTask, JobFault
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.sinks.external import Transaction
from ckptsim.sim.job.embedding import EmbeddedPlane, Embedding
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.kernel import Environment
from ckptsim.sim.slots import OURS

MS = 1_000_000
RECORDS = 60
COMMIT_NS = 40 * MS
PLANES = pytest.mark.parametrize("plane", list(Plane))


class Feed:
    """A reader that gets some records every few milliseconds, and says so."""

    def __init__(self, owner: Owner, records: list[int], wake: Callable[[], None]) -> None:
        self._owner = owner
        self._coming = deque(records)
        self._queue: deque[int] = deque()
        self._wake = wake
        self.dropped = False
        owner.later(3 * MS, self._next)

    def _next(self) -> None:
        if self.dropped:
            return
        if self._coming:
            for _ in range(min(self._owner.burst, len(self._coming))):
                self._queue.append(self._coming.popleft())
            self._owner.later(3 * MS, self._next)
        self._wake()

    @property
    def exhausted(self) -> bool:
        return not self._coming and not self._queue

    @property
    def queued_count(self) -> int:
        return len(self._queue)

    def take(self) -> int:
        return self._queue.popleft()


class SlowCommitter:
    """Makes a transaction durable after a while, once, anyone who asks for it."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._attempt = owner.attempts

    def commit(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        self._owner.later(COMMIT_NS, self._durable, transaction, committed)

    def recover(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        if transaction.name in self._owner.durable:
            committed()
        else:
            self.commit(transaction, committed)

    def _durable(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        if self._attempt == self._owner.attempts:
            self._owner.durable[transaction.name] = tuple(transaction.records)
            committed()


class Owner:
    """Runs one job as a part of itself. Begins the next attempt a while after a failure.

    burst: how many records a reader gets at a time.
    """

    def __init__(
        self, plane: Plane, *faults: JobFault, engine: Engine = Engine.AUTO, burst: int = 1
    ) -> None:
        self.env = Environment(1)
        self.burst = burst
        self._engine = engine
        self.feeds: list[Feed] = []
        self.durable: dict[str, tuple[int, ...]] = {}
        self.attempts = 1
        self.causes: list[str] = []
        self.finished_ns: int | None = None
        self.completed: list[int] = []
        self.violations: list[str] = []
        self.progressed = 0
        embedding = Embedding(
            reader=self._feed,
            committer=lambda _subtask: SlowCommitter(self),
            owner=self,
            keepers=(Owner,),
        )
        self.plane = self._world(plane, FaultPlan(faults), embedding)
        self.plane.begin_run()
        self.plane.control.begin()

    def _world(self, plane: Plane, faults: FaultPlan, embedding: Embedding) -> EmbeddedPlane:
        model = replace(job(plane), engine=self._engine)
        if plane is Plane.RECORDS:
            return RecordWorld(self.env, model, faults, cores=OURS, embedding=embedding)
        return DataflowWorld(self.env, model, faults=faults, embedding=embedding)

    def _feed(self, _subtask: int, wake: Callable[[], None]) -> Feed:
        restored = self.plane.control.restored if self.attempts > 1 else None
        seen = set() if restored is None else set(restored.tasks[0].records)
        records = [record for record in range(RECORDS) if record not in seen]
        self.feeds.append(Feed(self, records, wake))
        return self.feeds[-1]

    def later(self, delay_ns: int, function: Callable[..., None], *arguments: object) -> None:
        """Call something of the owner's own, which no end of an attempt strikes out."""
        self.env.call_in(delay_ns, 40, self.env.entity("owner"), self._call, function, arguments)

    def _call(self, function: Callable[..., None], arguments: tuple[object, ...]) -> None:
        function(*arguments)

    def _next_attempt(self) -> None:
        self.plane.control.redeploy()
        self.plane.control.begin()

    def job_failed(self, cause: str) -> None:
        self.causes.append(cause)
        self.attempts += 1
        self.feeds[-1].dropped = True
        self.plane.control.interrupt(cause)
        self.later(20 * MS, self._next_attempt)

    def job_finished(self) -> None:
        self.finished_ns = self.env.now

    def job_progressed(self) -> None:
        self.progressed += 1

    def checkpoint_completed(self, checkpoint: JobCheckpoint) -> None:
        self.completed.append(checkpoint.checkpoint_id)

    def violate(self, name: str, says: str) -> None:
        self.violations.append(f"{name}: {says}")


def job(plane: Plane) -> Job:
    """Return a source, an operator and a sink of one subtask each."""
    return Job(
        plane=plane,
        vertices=(
            Vertex(name="source", kind=VertexKind.SOURCE),
            Vertex(name="operator", inputs=(Input(upstream="source"),), service_ns=MS),
            Vertex(name="sink", kind=VertexKind.SINK, inputs=(Input(upstream="operator"),)),
        ),
        checkpointing=Checkpointing(interval_ns=50 * MS, min_pause_ns=50 * MS),
    )


def run(plane: Plane, *faults: JobFault) -> Owner:
    """Run a job until long after its end."""
    owner = Owner(plane, *faults)
    owner.env.run(until=2_000 * MS)
    return owner


@PLANES
def test_a_job_takes_what_it_is_fed_and_commits_as_it_is_told(plane: Plane) -> None:
    """Every record is durable once, and the job ends when the last of its commits is."""
    owner = run(plane)
    found = Counter(record for records in owner.durable.values() for record in records)
    assert found == Counter(range(RECORDS))
    assert owner.violations == []
    assert owner.causes == []
    assert owner.completed == sorted(owner.completed)
    assert len(owner.completed) >= 2
    assert owner.progressed >= 3
    assert owner.finished_ns is not None
    assert owner.finished_ns >= RECORDS * 3 * MS + COMMIT_NS


@PLANES
def test_a_failure_is_the_owners_to_answer(plane: Plane) -> None:
    """A crash ends nothing but the attempt.

    Everything that was durable stays so, and the rest comes once.
    """
    owner = run(plane, CrashTask(vertex="operator", subtask=0, at_ns=140 * MS))
    assert owner.causes == ["operator/0 crashes"]
    failover = owner.plane.control.failovers[0]
    assert (failover.failed_ns, failover.resumed_ns) == (140 * MS, 160 * MS)
    assert failover.restored is not None
    found = Counter(record for records in owner.durable.values() for record in records)
    assert found == Counter(range(RECORDS))
    assert owner.violations == []
    assert owner.finished_ns is not None


@PLANES
def test_records_keep_their_identities(plane: Plane) -> None:
    """The state of every task, and its part of a checkpoint, names the records themselves."""
    owner = run(plane)
    states = [list(owner.plane.records_of(number)) for number in range(3)]
    assert states == [list(range(RECORDS))] * 3


def test_every_driver_runs_a_job_that_is_fed() -> None:
    """Records are taken one by one at the same instants, whatever drives the job."""
    found = []
    for engine in Engine:
        crash = CrashTask(vertex="operator", subtask=0, at_ns=140 * MS)
        owner = Owner(Plane.BUFFERS, crash, engine=engine, burst=7)
        owner.env.run(until=2_000 * MS)
        found.append((owner.env.trace.digest(), owner.durable, owner.completed, owner.finished_ns))
    assert all(one == found[0] for one in found)
