"""The record plane of one job: its tasks attempt by attempt, and what must hold throughout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.recovery.persistence import LogService
from ckptsim.scenarios.job import Job, StopKind
from ckptsim.scenarios.job.graph import forward_group
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.patience import Patience, patience
from ckptsim.sim.job.control.sinks.external import ExternalSystem
from ckptsim.sim.job.control.started import lost_state
from ckptsim.sim.job.control.watchdog import Watchdog
from ckptsim.sim.job.embedding import ALONE, Embedding
from ckptsim.sim.job.events import Events, of_job
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.oracle.job import JobOracle
from ckptsim.sim.job.oracle.view import Violation
from ckptsim.sim.job.parallelism import Changes
from ckptsim.sim.job.records.attempt import Attempt
from ckptsim.sim.job.records.committers import committers
from ckptsim.sim.job.records.enumerators import EnumeratorHost, enumerators
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.messages import RecordMessages
from ckptsim.sim.job.records.restoring.rescaling import can_rescale
from ckptsim.sim.job.records.state import SpillCounts
from ckptsim.sim.job.records.state.shared_files import SharedFiles
from ckptsim.sim.job.records.state.view import RecordView
from ckptsim.sim.job.records.times import longest_times
from ckptsim.sim.job.records.uncoordinated import UncoordinatedJob, uncoordinated
from ckptsim.sim.job.settings import job_settings
from ckptsim.sim.job.tables import TaskFigures
from ckptsim.sim.job.world import JobWorld
from ckptsim.sim.kernel import Environment, Wait
from ckptsim.sim.slots import ProtocolCores
from ckptsim.sim.violations import ViolationLog, record_violation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.control.coordinator import CoordinatorHost
    from ckptsim.sim.job.control.sinks.sink import SinkWriter
    from ckptsim.sim.job.records.tasks import Task
    from ckptsim.sim.job.records.uncoordinated import MessageLog, TaskCheckpoints


class RecordWorld:
    """One run of one job.

    cores: make the cores of the job.
    restored: the checkpoint that the first attempt starts from, as a user would start a job from a
    savepoint.  external: the system it writes to.
    origin: the graph that the job began with, perhaps in a run that this one continues from.
    parallelisms: those that each vertex has ever had.  changes: what the user has asked for.
    embedding: what takes the place of its own surroundings where it is part of something larger.
    judged: an oracle follows it.  ignore: properties that are not judged.
    control: the job over all its attempts. attempt: its tasks and channels now.
    spilled: buffers sent and written over all of them. log_service: keeps them where one does.
    shared_files: what incremental checkpoints share, None where there are none.
    """

    def __init__(
        self,
        env: Environment,
        job: Job,
        faults: FaultPlan,
        *,
        cores: ProtocolCores,
        restored: JobCheckpoint | None = None,
        external: ExternalSystem | None = None,
        may_stop: bool = True,
        embedding: Embedding = ALONE,
        judged: bool = True,
        origin: Graph | None = None,
        ignore: Collection[str] = (),
    ) -> None:
        self.env = env
        self.job = job
        self.graph = Graph(job, origin)
        self.origin = self.graph if origin is None else origin
        self.changes = Changes()
        self.parallelisms = {vertex.name: [vertex.parallelism] for vertex in job.vertices}
        self.faults = faults
        self.embedding = embedding
        self.cores = cores
        self.violations: list[Violation] = []
        self.violation_log = ViolationLog(ignore)
        self.spilled = SpillCounts()
        self.log_service = LogService()
        self.closed_ns: dict[int, int] = {}
        self.emitted: dict[int, int] = {}  # the most that earlier attempts have emitted
        self.attempts_before = 0  # of the job that `restored` is of
        self.progress_ns = 0
        self.log_cuts: dict[int, tuple[int, int]] = {}  # by split, with the instant
        self.entity = env.entity("job")
        self.events = Events()
        self.shared_files = SharedFiles(self) if job.state.incremental else None
        self.oracle: JobOracle | None = self._judge() if judged else None
        self.messages = RecordMessages(env, job.costs)
        self._over = env.event()
        self.uncoordinated: UncoordinatedJob | None = uncoordinated(job, cores)
        kinds = {"kind": Kind.COORDINATOR, "fault_kind": Kind.FAULT}
        self.control: JobWorld = JobWorld(
            env,
            self,
            job_settings(job, **kinds, may_stop=may_stop),
            core=cores.coordinator,
            listener=cores.end_of_data,
            faults=faults,
            over=self._end,
            recovery=cores.failover,
            restored=restored,
            external=external,
            owner=embedding.owner,
            latest=None if self.uncoordinated is None else self.uncoordinated.restored,
        )
        self.enumerators: dict[str, EnumeratorHost] = self._beside_tasks()
        self.lost_state: frozenset[str] = lost_state(self.graph, restored)
        self.attempt: Attempt = Attempt(self, 1, restored)
        self.watchdog = Watchdog(self)
        self._watch = env.timer(Kind.COORDINATOR, env.entity("watch"), self._look)

    def _beside_tasks(self) -> dict[str, EnumeratorHost]:
        """Make what takes part in checkpoints beside the tasks, and return the enumerators."""
        self.control.sinks.committers = committers(self)
        found = enumerators(self)
        beside = (self.control.sinks.committers, found)
        self.coordinator.participants = [one for hosts in beside for one in hosts.values()]
        return found

    def _judge(self) -> JobOracle:
        """Return the oracle of the job, and look between instants."""
        self.env.between_instants.append(self._look_at_threads)
        return JobOracle(self.env, self.job, RecordView(self), self.violate, self.events)

    def new_log(self) -> MessageLog | None:
        """Return the log of a channel that is being made, where messages are logged or indexed."""
        return None if self.uncoordinated is None else self.uncoordinated.new_log()

    def checkpoints_of(self, task: Task) -> TaskCheckpoints | None:
        """Return what takes the checkpoints of a task by itself, where that is how it is done."""
        return None if self.uncoordinated is None else self.uncoordinated.of_task(task)

    # --- running ---

    def run(self) -> None:
        """Run the job to its end."""
        control = self.control
        control.plan_instants()
        self._watch.arm_at(self.watchdog.next_look_ns)
        self.events.emit(of_job.AttemptBegun(control.restored))
        if control.restored is not None:
            self.events.emit(of_job.CheckpointRestored(control.restored))
        control.begin()
        self.env.run(until=self._over)
        self._watch.cancel()
        for host in self.enumerators.values() if self.watchdog.stalled else ():
            host.check_end(stalled=True)

    def _look(self) -> None:
        self.watchdog.look()
        if self.control.running or not self.watchdog.stalled:
            self._watch.arm_at(self.watchdog.next_look_ns)

    def _end(self) -> None:
        """End the run: the job has finished, has failed for good, or is stalled."""
        if self.oracle is not None:
            self.oracle.end(ended=self.ended)
        if self.uncoordinated is not None:
            self.uncoordinated.end(self.attempt)
        if self.shared_files is not None:
            self.shared_files.check_end()
        self.attempt.end()
        if not self._over.triggered:
            self._over.succeed()

    # --- the job over all attempts ---

    @property
    def coordinator(self) -> CoordinatorHost:
        """The coordinator of its checkpoints."""
        return self.control.coordinator

    @property
    def external(self) -> ExternalSystem:
        """The system that sinks write to."""
        return self.control.sinks.external

    @property
    def attempts(self) -> int:
        """How many attempts there were."""
        return self.control.attempts

    @property
    def ended(self) -> bool:
        """Whether every task has FINISHED."""
        return self.control.ended

    @property
    def stopped_without_drain(self) -> bool:
        """Return whether the job ended to be resumed from its savepoint."""
        return self.coordinator.stop_completed and self.job.ending.stop_kind is StopKind.NO_DRAIN

    # --- what the job asks of its data plane ---

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks of the attempt."""
        return self.attempt.tasks

    def deploy(self, number: int, restored: JobCheckpoint | None) -> None:
        """Make the tasks and channels of the next attempt."""
        self.emitted = self.most_emitted()
        job = self.changes.apply(self.job)
        if job is not self.job:
            self.job, self.graph = job, Graph(job, self.origin)
            for vertex in job.vertices:
                self.parallelisms[vertex.name].append(vertex.parallelism)
            self.events.emit(of_job.JobChanged(job))
        self.lost_state = lost_state(self.graph, restored)
        self.closed_ns = {}
        self.attempt = Attempt(self, number, restored)
        self.events.emit(of_job.AttemptBegun(restored))

    def begin_attempt(self, attempt: Attempt) -> None:
        """Make what takes part in an attempt beside its tasks."""
        for one in self.coordinator.participants:
            one.begin(attempt)

    def may_rescale(self, vertex: str, parallelism: int, latest: JobCheckpoint | None) -> bool:
        """Return whether a job may be restored from a checkpoint with another parallelism."""
        group = dict.fromkeys(forward_group(self.job.vertices, vertex), parallelism)
        wanted = self.changes.subtasks(self.job)
        allowed = latest is None or can_rescale(self.job, latest, wanted | group)
        if not allowed:
            self.env.goals.reach("rescale_refused")
        return allowed

    def start(self) -> None:
        """Let the tasks work."""
        self.attempt.start()

    def halt(self) -> None:
        """End the attempt: nothing of it acts any more."""
        self.events.emit(of_job.AttemptHalted())
        self.attempt.end()

    def kill(self, numbers: Iterable[int]) -> None:
        """Let tasks do nothing more, and nothing of them be heard: they have failed."""
        for number in numbers:
            self.tasks[number].kill()

    def is_alive(self, number: int) -> bool:
        """Return whether a task has not closed."""
        return not self.tasks[number].gone

    def stall(self, number: int, lasts_ns: int) -> None:
        """Let a task's thread do nothing for a while."""
        task = self.tasks[number]
        task.occupy(lasts_ns)
        self.env.trace.record("stalled", task.entity, lasts_ns)

    def positions(self) -> dict[int, int]:
        """Return how many records of each split this attempt has emitted, as it counts."""
        return {split: count for task in self.attempt.tasks for split, count in task.splits.items()}

    def most_emitted(self) -> dict[int, int]:
        """Return how many records of each split have been emitted in any attempt."""
        now = self.positions()
        return {split: max(count, self.emitted.get(split, 0)) for split, count in now.items()}

    def first_delay_ns(self, restored: JobCheckpoint | None) -> int:
        """Return when the first periodic trigger comes: as set, or after one interval.

        Every attempt begins to trigger anew.  Source: Apache Flink 1.20.3,
        CheckpointCoordinator.startCheckpointScheduler.
        """
        checkpointing = self.job.checkpointing
        first_ns = checkpointing.first_trigger_ns
        if restored is not None or first_ns is None or self.attempts > 1:
            return checkpointing.interval_ns
        return max(0, first_ns - self.env.now)

    @property
    def input_ended_ns(self) -> int:
        """When the last source had ended its data."""
        return self.attempt.input_ended_ns

    def figures(self, number: int) -> TaskFigures:
        """Return what a task has done. Without the jitter of its service times."""
        task = self.tasks[number]
        records = sum(task.splits.values()) if task.is_source else len(task.state)
        return TaskFigures(
            records=records,
            busy_ns=records * task.spec.vertex.service_ns,
            finished_ns=self.closed_ns.get(number),
        )

    def task_finished(self, number: int) -> None:
        """Do nothing: the instants at which tasks close are on record already."""

    def progressed(self) -> None:
        """Note that something was done, so the run does not count as stalled."""
        self.progress_ns = self.env.now
        if self.embedding.owner is not None:
            self.embedding.owner.job_progressed()

    # --- what an owner asks ---

    @property
    def sinks(self) -> list[SinkWriter]:
        """The sinks of the attempt that were not deployed as finished."""
        return [task.sink for task in self.attempt.tasks if task.sink is not None]

    def begin_run(self) -> None:
        """Enter what happens at set instants into the calendar."""
        self.control.plan_instants()

    def end_run(self) -> None:
        """Do nothing: what must hold is checked when it happens."""

    def catch_up(self) -> None:
        """Do nothing: every record counts when it is done."""

    def records_of(self, number: int) -> Sequence[int]:
        """Return the records in the state of a task has."""
        return self.attempt.tasks[number].state

    # --- everything that is checked on the way ---

    def check_contents(self) -> None:
        """Check what state and output of a job that has ended hold."""
        for host in self.enumerators.values():
            host.check_end()
        if self.oracle is not None:
            self.oracle.check_contents()

    def _look_at_threads(self) -> None:
        """Check that no thread sleeps while there is something for it to do."""
        for task in self.attempt.tasks:
            if task.sleeps and task.has_work:
                self.events.emit(of_job.ThreadSlept(task))

    def violate(self, name: str, says: str, checkpoint: int | None = None) -> None:
        """Report a property that does not hold. checkpoint: the one concerned, if any."""
        if self.embedding.owner is not None:
            self.embedding.owner.violate(name, says)
            return
        if self.violation_log.is_first(name):
            self.violations.append((name, self.env.now, says, checkpoint))
            record_violation(self.env, self.entity, name, says)

    def has_backlog(self) -> bool:
        """Return whether records are in flight."""
        return any(channel.emitted > channel.consumed for channel in self.attempt.channels)

    @property
    def patience(self) -> Patience:
        """For how long the attempt may do nothing."""
        return patience(self.job, self.faults, longest_times(self.job, self.graph))

    def has_records(self) -> bool:
        """Return whether a source can emit, or a task has data to take."""
        sources = (task for task in self.attempt.tasks if task.is_source)
        return any(not (s.exhausted or s.gone or s.has_ended()) for s in sources) or any(
            channel.emitted > channel.consumed and not channel.receiver.has_ended()
            for channel in self.attempt.channels
        )

    def waits(self) -> list[Wait]:
        """Return who waits for whom."""
        found = [wait for task in self.attempt.tasks for wait in task.waits()]
        for number in self.coordinator.core.pending:
            for index in self.coordinator.core.awaited(number):
                name = self.graph.tasks[index].name
                found.append(Wait("the coordinator", f"checkpoint {number}", name))
        return found
