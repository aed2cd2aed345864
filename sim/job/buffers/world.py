"""The buffer plane of one job: makes the tasks of an attempt, starts them, ends them, runs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.scenarios.job import Job
from ckptsim.sim.job.buffers.compiled import CompiledDriver, compiled_driver
from ckptsim.sim.job.buffers.constants import MECHANISMS, Constants, Mechanisms, constants_of
from ckptsim.sim.job.buffers.cores import Cores
from ckptsim.sim.job.buffers.deployment import Deployment, open_transactions
from ckptsim.sim.job.buffers.due import Clocks
from ckptsim.sim.job.buffers.halt import cancel_all_but, kill, note_goals, stall
from ckptsim.sim.job.buffers.input import InputEvents
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.messages import BufferMessages
from ckptsim.sim.job.buffers.restoring import Regions, Rescales, TimedFailover
from ckptsim.sim.job.buffers.sampling import Sampling
from ckptsim.sim.job.buffers.skipping import Skipper
from ckptsim.sim.job.buffers.state import (
    Identities,
    Snapshots,
    Storage,
    StorageFaults,
    keyed_state,
    make_files,
    preload,
    restore_channels,
    restore_counts,
)
from ckptsim.sim.job.buffers.tasks import Source, Task
from ckptsim.sim.job.buffers.timers import Pauses, TaskTimers, first_delay_ns, let_work
from ckptsim.sim.job.buffers.watched import WatchedBuffers, waits
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.detection import DetectionHost
from ckptsim.sim.job.control.failover import FailoverHost
from ckptsim.sim.job.control.faults import NO_FAULTS, FaultPlan
from ckptsim.sim.job.control.gateway import Gateway
from ckptsim.sim.job.control.sinks import Sinks
from ckptsim.sim.job.control.started import lost_state
from ckptsim.sim.job.control.task import TaskControl
from ckptsim.sim.job.control.task.cores import make_cores
from ckptsim.sim.job.control.watchdog import Watchdog
from ckptsim.sim.job.embedding import ALONE, Embedding
from ckptsim.sim.job.events import Events, of_job
from ckptsim.sim.job.oracle.buffers.observed import BufferObserver
from ckptsim.sim.job.oracle.view import Violation
from ckptsim.sim.job.parallelism import Changes
from ckptsim.sim.job.settings import job_settings
from ckptsim.sim.job.splits import Splits
from ckptsim.sim.job.world import JobWorld
from ckptsim.sim.kernel import Environment, Wait, garbage_collector_paused
from ckptsim.sim.slots import OURS, ProtocolCores
from ckptsim.sim.violations import ViolationLog, record_violation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.control.sinks.sink import SinkWriter
    from ckptsim.sim.job.tables import TaskFigures

_ENOUGH_CORES = 1024
# What continues when an attempt has failed.
_KEEPERS: tuple[type, ...] = (
    *(JobWorld, FaultPlan, FailoverHost, DetectionHost, CoordinatorHost, Gateway, Sampling, Sinks),
    *(StorageFaults, Skipper),
)


class DataflowWorld:
    """One run of one job.

    constants: in the place of the ones of the job's profile.
    pauses: the ones of the machine, drawn unless they are known.  restored: the checkpoint that the
    first attempt starts from, as a user would start a job from a savepoint.
    phases: an instant of the periodic trigger of each attempt in ns, drawn where it is not known.
    tasks: all subtasks of the attempt, by number. control: the job over all its attempts.
    compiled: the driver with a kernel, or None.
    embedding: what takes the place of its own surroundings where it is part of something larger.
    flushers: the thread of each task manager that flushes the memtables of all its tasks.
    identities: which record is where, if its records come from there.
    protocol: makes the cores that decide about checkpoints.  observer: makes who is reported what
    happens. Nothing is noted by default.  violations: the first of each property.  ignore:
    properties that are not judged.
    """

    @garbage_collector_paused()
    def __init__(
        self,
        env: Environment,
        model: Job,
        constants: Constants | None = None,
        mechanisms: Mechanisms = MECHANISMS,
        *,
        protocol: ProtocolCores = OURS,
        faults: FaultPlan = NO_FAULTS,
        observer: Callable[[DataflowWorld], BufferObserver] = BufferObserver,
        pauses: Pauses | None = None,
        embedding: Embedding = ALONE,
        restored: JobCheckpoint | None = None,
        phases: Sequence[int] = (),
        ignore: Collection[str] = (),
    ) -> None:
        self.env = env
        self.model = model = model.spelled_out()
        self.constants = constants = constants_of(model, constants)
        self.mechanisms, self.protocol, self.faults = mechanisms, protocol, faults
        self.embedding = embedding
        self.identities = None if embedding.reader is None else Identities()
        self.rescales = Rescales(model)
        self.graph = self.rescales.graph
        self.violations: list[Violation] = []
        self.violation_log = ViolationLog(ignore)
        self.tasks: list[Task] = []
        self.pauses = Pauses(env, constants) if pauses is None else pauses
        self.cores = Cores(env, constants.cores if mechanisms.shared_cores else _ENOUGH_CORES)
        self.flushers = defaultdict[int, Cores](lambda: Cores(env, 1))
        self.storage = Storage(env, self.cores, model.storage, constants, faults)
        self.messages = BufferMessages(env, self.cores, constants, self.pauses, model.costs)
        self.lost_state = lost_state(self.graph, restored)
        self._phases = phases
        self.clocks, self.sampling, self.skipper = Clocks(), Sampling(self), Skipper(self)
        self._over = env.event()
        self.input_ended_ns = 0  # when a source ended its data last
        self.closed_ns: dict[int, int] = {}
        self.regions = Regions(self)
        self.timed = TimedFailover(self) if model.recovery.timed else None
        self.compiled: CompiledDriver | None = None
        self.events = Events()
        self.observer = observer(self)
        self.control: JobWorld = JobWorld(
            env,
            self,
            job_settings(model, kind=Kind.COORDINATOR, fault_kind=Kind.FAULT),
            core=protocol.coordinator,
            listener=protocol.end_of_data,
            faults=faults,
            over=self._end,
            recovery=protocol.failover,
            owner=embedding.owner,
            restored=restored,
        )
        self.coordinator: CoordinatorHost = self.control.coordinator
        if self.timed is not None:
            self.timed.attach(self.control)
        self._deploy(restored)
        self.watchdog: Watchdog = Watchdog(WatchedBuffers(self))

    def run(self) -> None:
        """Run until the job is over, the wanted checkpoints are complete, or time is up."""
        env = self.env
        self.begin_run()
        env.call_at(self.model.duration_ns, Kind.MEASURE, env.entity("world"), self.control.end)
        self.control.begin()
        with garbage_collector_paused():
            env.run(until=self._over)
        self.end_run()

    def begin_run(self) -> None:
        """Enter what happens at set instants into the calendar."""
        self.control.plan_instants()
        self.sampling.start()
        self.skipper.start()

    def end_run(self) -> None:
        """Note the observations of the run, which is over, and check what must hold at its end."""
        note_goals(self.tasks)
        self.catch_up()
        if self.timed is not None:
            self.timed.end()
        self.observer.end(ended=self.control.ended)
        if self.control.ended:
            careless = [vertex.name for vertex in self.graph.vertices if vertex.opens_after_finish]
            self.control.sinks.check_end(careless)
            self.observer.check_contents()

    def _end(self) -> None:
        if not self._over.triggered:
            self._over.succeed()

    def tasks_of(self, vertex: str) -> list[Task]:
        """Return the subtasks of a vertex in the attempt that runs."""
        return [self.tasks[number] for number in self.graph.tasks_of(vertex)]

    # What the job asks of its data plane ------------------------------------------------------

    def may_rescale(self, vertex: str, parallelism: int, latest: JobCheckpoint | None) -> bool:
        """Allow it always."""
        del vertex, parallelism, latest
        return True

    @property
    def changes(self) -> Changes:
        """What the user has asked for and holds from the next attempt on."""
        return self.rescales.changes

    def deploy(self, number: int, restored: JobCheckpoint | None) -> None:
        """Make the tasks and channels of an attempt, with what a checkpoint holds of them."""
        del number
        restored = self.regions.carried_into(restored)
        self.cores.forget()
        self.storage.forget()
        self.flushers.clear()
        self.closed_ns = {}
        before, times = self.graph, {task.place: task.time_in for task in self.tasks}
        self.model, self.graph = self.rescales.apply()
        self.events.emit(of_job.JobChanged(self.model))
        self.sampling.redeployed(before, self.graph)
        self.lost_state = lost_state(self.graph, restored)
        self._deploy(restored)
        for task in self.tasks:
            task.time_in = times.get(task.place, task.time_in)
        self.regions.equip(self.tasks)

    @garbage_collector_paused()
    def _deploy(self, restored: JobCheckpoint | None) -> None:
        self.events.emit(of_job.AttemptDeploying())
        taken_over = self.rescales.taken_over(restored)
        held = restored if taken_over is None else taken_over.checkpoint
        for goal in () if taken_over is None else taken_over.goals:
            self.env.goals.reach(goal)
        self.splits = Splits(self.graph, restored)
        self.compiled = compiled_driver(self, held)
        self.tasks = (self.compiled or Deployment(self, held)).all_tasks()
        self.told_apart = () if taken_over is None else taken_over.told_apart
        for number, gate in self.told_apart:
            self.tasks[number].gates[gate].told_apart = True
        if held is not None:
            restore_counts(self, held)
        self._equip(restored, held)
        self.rescales.begun(self.control, self.tasks, restored)
        backlog = self.model.channels.preloaded_records
        if self.timed is not None and self.timed.restores(restored):
            self.timed.prepare(held, taken_over)
        elif held is not None:
            restore_channels(self.tasks, held)
        elif backlog:
            preload(self.tasks, self.graph, backlog, self.model.network.segment_bytes)
        if self.timed is not None:
            self.timed.lateness.found(self.tasks)
            if held is not None:
                restore_channels(self.regions.running_on(), held)
        self.events.emit(of_job.AttemptBegun(restored))

    def start(self) -> None:
        """Let the tasks work, as soon as they have restored what they are to restore."""
        if self.timed is not None and self.timed.restores(self.control.restored):
            self.timed.start()
            let_work(self.regions.running_on())
            self.regions.carried = {}
        else:
            let_work(self.tasks)
        TaskTimers(self).start()

    def kill(self, numbers: Iterable[int]) -> None:
        """Let tasks do nothing more: they have failed."""
        kill(self.tasks[number] for number in numbers)

    def halt(self) -> None:
        """End what a failure restarts: nothing of it acts any more."""
        if not self.regions.halt():
            self.end_attempt()

    def end_attempt(self) -> None:
        """End all tasks of the attempt."""
        self.events.emit(of_job.AttemptHalted())
        for task in self.tasks:
            task.halt()
        note_goals(self.tasks)
        cancel_all_but(self.env, (*_KEEPERS, *self.embedding.keepers), self._over)

    def is_alive(self, number: int) -> bool:
        """Return whether a task has not closed."""
        return not self.tasks[number].has_ended

    def stall(self, number: int, lasts_ns: int) -> None:
        """Let a task's thread do nothing for a while."""
        self.tasks[number].post(stall, self.tasks[number], lasts_ns)

    def has_backlog(self) -> bool:
        """Return whether records are in flight."""
        ends = (c for task in self.tasks for c in task.channels)
        return any(c.queued or c.subpartition.core.data_count for c in ends)

    def positions(self) -> dict[int, int]:
        """Return how many records of each split this attempt has emitted, as it counts."""
        if self.regions.some_run:
            self.catch_up()
        sources = (task for task in self.tasks if isinstance(task, Source))
        return {split: count for task in sources for split, count in task.splits.items()}

    def first_delay_ns(self, restored: JobCheckpoint | None) -> int:
        """Return when the first periodic trigger comes: as set, or drawn."""
        del restored
        return first_delay_ns(self, self._phases)

    def figures(self, number: int) -> TaskFigures:
        """Return what a task has done."""
        return self.sampling.figures(self.tasks[number])

    def task_finished(self, number: int) -> None:
        """Note when a task is known to have FINISHED, and what it has done."""
        task = self.tasks[number]
        task.finished_ns = self.env.now
        self.rescales.finished(task.place, task.processed)
        if self.identities is not None:
            self.identities.finished(task)
        self.env.trace.record("finished", task.entity)

    def violate(self, name: str, says: str, checkpoint: int | None = None) -> None:
        """Report a property that does not hold. checkpoint: the one concerned, if any."""
        if self.embedding.owner is not None:
            self.embedding.owner.violate(name, says)
        elif self.violation_log.is_first(name):
            self.violations.append((name, self.env.now, says, checkpoint))
            record_violation(self.env, self.env.entity("job"), name, says)

    def progressed(self) -> None:
        """Note that a task has done something."""
        if self.embedding.owner is not None:
            self.embedding.owner.job_progressed()

    # What an owner asks -------------------------------------------------------------------------

    @property
    def sinks(self) -> list[SinkWriter]:
        """The sinks of the attempt that were not deployed as finished."""
        return [task.sink for task in self.tasks if task.sink is not None]

    def catch_up(self) -> None:
        """Count the records that are done by now, because the kernel logs late."""
        for task in self.tasks:
            task.sync()

    def records_of(self, number: int) -> Sequence[int]:
        """Return the records in the state of a task has."""
        records = self.tasks[number].records
        return () if records is None else records.state

    def waits(self) -> list[Wait]:
        """Return who waits for whom."""
        return waits(self)

    # Parts of an attempt -----------------------------------------------------------------------

    def _equip(self, restored: JobCheckpoint | None, held: JobCheckpoint | None) -> None:
        """Give every task what it needs besides its channels.

        held: the restored data, with the numbers of today's tasks.
        """
        if self.identities is not None:
            self.identities.deploy(self.tasks, held)
        for task, file in zip(self.tasks, make_files(self), strict=True):
            task.file = file
            vertex = task.spec.vertex
            before = None if restored is None else restored.vertices[task.name]
            finished = before is FinishedState.FULL
            task.snapshots = Snapshots(
                task,
                state=keyed_state(self, task, held),
                sync_ns=self.model.snapshot_sync_ns(vertex),
            )
            self.events.emit(of_job.TaskDeployed(task))
            task.control = TaskControl(
                task,
                make_cores(
                    self.protocol,
                    self.model,
                    vertex,
                    gate_channels=[len(gate.channels) for gate in task.gates],
                    outputs=len(task.subpartitions),
                    restored_from=None if restored is None else restored.checkpoint_id,
                    finished_on_restore=finished,
                    witness=self.env.witness,
                ),
                writer=file.writer,
                events=self.events,
                clock=self.env,
                reach=self.env.goals.reach,
            )
            if task.control.handler is not None:
                task.events = InputEvents(task, task.control.handler)
            for writer in task.writers:
                writer.pool.on_available = task.output_available
            if isinstance(task, Source) and self.embedding.reader is not None:
                task.feed(self.embedding.reader(task.subtask, task.wake))
            if not finished and task.number not in self.regions.carried:
                open_transactions(self, task, restored)
