"""The world of one job on buffers: build it, start it, run it to its end."""

from __future__ import annotations

from ckptsim.models.barriers.interface import handler_kind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CoordinatorParameters, EndOfDataListener
from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.scenarios.job import Checkpointing, Engine, Job
from ckptsim.sim.job.buffers.account import Account
from ckptsim.sim.job.buffers.alignment import Alignment
from ckptsim.sim.job.buffers.channel_files import make_files
from ckptsim.sim.job.buffers.constants import CONSTANTS, Constants
from ckptsim.sim.job.buffers.cores import Cores
from ckptsim.sim.job.buffers.ending import Ending
from ckptsim.sim.job.buffers.graph import Graph
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.mechanisms import MECHANISMS, Mechanisms
from ckptsim.sim.job.buffers.messages import BufferMessages
from ckptsim.sim.job.buffers.pauses import Pauses
from ckptsim.sim.job.buffers.placement import Placement
from ckptsim.sim.job.buffers.sampling import Sampling
from ckptsim.sim.job.buffers.snapshots import Snapshots
from ckptsim.sim.job.buffers.source import Source
from ckptsim.sim.job.buffers.state_sizes import state_sizes
from ckptsim.sim.job.buffers.states import State
from ckptsim.sim.job.buffers.storage import Storage
from ckptsim.sim.job.buffers.stretch import Stretches
from ckptsim.sim.job.buffers.task import Task
from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
from ckptsim.sim.job.control.coordinator import CoordinatorHost, CoordinatorSettings
from ckptsim.sim.job.control.faults import NO_FAULTS, FaultPlan
from ckptsim.sim.job.control.planning import PlanCalculator
from ckptsim.sim.kernel import Environment, garbage_collector_paused
from ckptsim.sim.slots import OURS, ProtocolCores

_ENOUGH_CORES = 1024


class DataflowWorld:
    """One run of one job.

    pauses: those of the machine, drawn unless they are known.
    tasks: all subtasks, by number; ended: whether the job is over or has shown what was wanted.
    stretches: the driver that moves the flow of data in bulk, or None.
    protocol: makes the cores that decide about checkpoints.  account: what really happens, kept
    apart from what the cores believe, and what must hold of it; nothing is noted by default.
    """

    def __init__(
        self,
        env: Environment,
        model: Job,
        constants: Constants = CONSTANTS,
        mechanisms: Mechanisms = MECHANISMS,
        *,
        protocol: ProtocolCores = OURS,
        faults: FaultPlan = NO_FAULTS,
        account: Account | None = None,
        pauses: Pauses | None = None,
    ) -> None:
        self.env = env
        self.model = model = model.spelled_out()
        self.constants = constants
        self.mechanisms = mechanisms
        self.protocol = protocol
        self.faults = faults
        self.account = Account() if account is None else account
        self.record_bytes = model.network.record_bytes
        self.tasks: list[Task] = []
        self.ended = False
        self._completed = 0
        self.placement = Placement(model.placement)
        cores = constants.cores if mechanisms.shared_cores else _ENOUGH_CORES
        self.cores = Cores(env, cores)
        self.storage = Storage(env, self.cores, model.storage, constants)
        self.graph = Graph(self)
        self.pauses = Pauses(env, constants) if pauses is None else pauses
        self.coordinator = self._make_coordinator()
        self.sampling = Sampling(self)
        self._over = env.event()
        self.failure: str | None = None
        self.failed_checkpoints: FailureReason | None = None
        self._equip()
        in_stretches = model.engine is Engine.STRETCHES
        self.stretches = Stretches(self) if in_stretches else None
        self.account.begin(self)

    def run(self) -> None:
        """Run until the job is over, the wanted checkpoints are complete, or time is up."""
        self._start()
        with garbage_collector_paused():
            if self.stretches is not None:
                self.stretches.run(self._over)
            else:
                self.env.run(until=self._over)
        self._note_goals()
        self.account.end()

    def _start(self) -> None:
        env = self.env
        for task in self.tasks:
            if isinstance(task, Source):
                env.call_at(env.now, Kind.TASK, task.entity, task.run)
        self._start_timers()
        self._plan_stalls()
        self.sampling.start()
        self._start_checkpoints()
        env.call_at(self.model.duration_ns, Kind.MEASURE, env.entity("world"), self.end)

    def _make_coordinator(self) -> CoordinatorHost:
        table, env = self.model.checkpointing, self.env
        planning = PlanCalculator(
            self.model.vertices, self.graph.edges, self.finished_on_restore, after_finish=True
        )
        return CoordinatorHost(
            env,
            self.protocol.coordinator(coordinator_parameters(table)),
            settings=CoordinatorSettings(kind=Kind.COORDINATOR, interval_ns=table.interval_ns),
            planning=planning,
            listener=EndOfDataListener(len(self.tasks), enabled=True),
            messages=BufferMessages(env, self.cores, self.constants, self.pauses),
            faults=self.faults,
            job=self,
            observer=self.account,
        )

    def _start_checkpoints(self) -> None:
        self.coordinator.start(1, self.tasks)
        savepoint_ns = self.model.checkpointing.savepoint_at_ns
        if savepoint_ns is not None:
            ask = self.coordinator.request_savepoint
            entity = self.env.entity("coordinator")
            self.env.call_at(savepoint_ns, Kind.COORDINATOR, entity, ask)

    # What the coordinator host asks -----------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether the tasks run."""
        return not self.ended

    def first_delay_ns(self) -> int:
        """Return when the first periodic trigger comes: as set, or drawn."""
        table = self.model.checkpointing
        if table.first_trigger_ns is not None:
            return table.first_trigger_ns
        bounds = coordinator_parameters(table).first_delay_bounds_ns
        return self.env.stream("coordinator").uniform_ns(*bounds)

    def finished_on_restore(self, vertex: str) -> bool:
        """Return whether a vertex was deployed as finished: never, as nothing is restored."""
        del vertex
        return False

    def checkpoint_of(
        self, record: CheckpointRecord, vertices: dict[str, FinishedState]
    ) -> JobCheckpoint:
        """Return what is kept of a checkpoint."""
        return JobCheckpoint(
            checkpoint_id=record.checkpoint,
            savepoint=record.request.savepoint,
            tasks={number: part.snapshot for number, (part, _) in record.parts.items()},
            vertices=vertices,
            finished=frozenset(self.coordinator.planning.numbers(record.plan.finished)),
            positions={},
            lost_state=frozenset(),
        )

    def checkpoint_completed(self, record: CheckpointRecord) -> None:
        """End the run when as many checkpoints are complete as were wanted."""
        del record
        self._completed += 1
        wanted = self.model.checkpointing.count
        if wanted is not None and self._completed >= wanted:
            self.end()

    def checkpoints_failed(self, reason: FailureReason) -> None:
        """Fail the job."""
        self.failed_checkpoints = reason
        self.failure = f"checkpoints failed in a row, the last: {reason.value}"
        self.end()

    def stop_failed(self) -> None:
        """Do nothing: a job at the level of buffers is not stopped."""

    def task_finished(self, number: int) -> None:
        """Note when a task is known to have FINISHED."""
        task = self.tasks[number]
        task.finished_ns = self.env.now
        self.env.trace.record("finished", task.entity)

    def all_finished(self) -> None:
        """End the job."""
        self.coordinator.suspend(FailureReason.CHECKPOINT_COORDINATOR_SHUTDOWN)
        self.end()

    # The end ----------------------------------------------------------------------------------

    def end(self) -> None:
        """End the run at this instant."""
        self.ended = True
        if not self._over.triggered:
            self._over.succeed()

    def fail_task(self, task: Task, name: str, story: str) -> None:
        """Fail a task, and with it the job: what would restart it is not part of this world."""
        self.account.violate(name, f"{task.entity.name} fails: {story}")
        self.account.task_failed(task)
        self.failure = f"{task.entity.name} failed: {story}"
        self.end()

    def _plan_stalls(self) -> None:
        for stall in self.faults.stalls:
            task = self.graph.by_name[stall.vertex][stall.subtask]
            self.env.call_at(
                stall.at_ns, Kind.MAIL, task.entity, task.post, self._stall, task, stall.lasts_ns
            )

    def _stall(self, task: Task, lasts_ns: int) -> None:
        if not task.has_ended:
            self.env.trace.record("stalled", task.entity, lasts_ns)
            task.stand_still(lasts_ns, int)

    def _equip(self) -> None:
        """Give every task what it needs besides its channels."""
        checkpoints = self.model.checkpointing
        kind = handler_kind(
            exactly_once=checkpoints.exactly_once, unaligned_enabled=checkpoints.unaligned
        )
        sizes = state_sizes(self.model)
        copying = {v.name: self.model.snapshot_sync_ns(v) for v in self.model.vertices}
        for task, file in zip(self.tasks, make_files(self), strict=True):
            task.file = file
            task.snapshots = Snapshots(
                task,
                state_bytes=sizes[task.name][task.subtask],
                sync_ns=copying[task.name],
            )
            task.ending = Ending(task)
            if task.gates:
                handler = self.protocol.handler(
                    kind, len(task.channels), gates=len(task.gates), after_finish=True
                )
                task.alignment = Alignment(task, handler)
            for writer in task.writers:
                writer.pool.on_available = task.output_available

    def _start_timers(self) -> None:
        env, draws = self.env, self.env.stream("timers")
        timeout = self.model.network.buffer_timeout_ns
        period = self.constants.debloat_period_ns
        for task in self.tasks:
            if timeout and task.writers:
                first = draws.integer(1, timeout)
                env.call_at(first, Kind.FLUSH, task.entity, self._flush, task, timeout)
            if self.model.network.debloat and task.gates:
                first = draws.integer(1, period)
                env.call_at(first, Kind.MEASURE, task.entity, self._debloat, task, period)
        for source in self.model.vertices:
            if source.ends_at_ns is not None:
                for task in self.graph.by_name[source.name]:
                    if isinstance(task, Source):
                        env.call_at(source.ends_at_ns, Kind.MAIL, task.entity, task.post, task.stop)

    def _note_goals(self) -> None:
        """Note the rare situations that the parts of the world have seen."""
        reach = self.env.goals.reach
        for task in self.tasks:
            task.enter(task.state)
            if any(channel.starved for channel in task.channels):
                reach("credit_starvation")
            if any(writer.pool.overdraft_peak for writer in task.writers):
                reach("overdraft_used")
            if task.time_in[State.BLOCKED]:
                reach("back_pressured")

    def _flush(self, task: Task, timeout_ns: int) -> None:
        if task.state is not State.ENDED:
            task.flush()
            period = timeout_ns + self.constants.flusher_overshoot_ns
            self.env.call_in(period, Kind.FLUSH, task.entity, self._flush, task, timeout_ns)

    def _debloat(self, task: Task, period_ns: int) -> None:
        if task.state is not State.ENDED:
            task.post(task.debloat)
            self.env.call_in(period_ns, Kind.MEASURE, task.entity, self._debloat, task, period_ns)


def coordinator_parameters(table: Checkpointing) -> CoordinatorParameters:
    """Return the coordinator's settings of a scenario."""
    return CoordinatorParameters(
        interval_ns=table.interval_ns,
        timeout_ns=table.timeout_ns,
        min_pause_ns=table.min_pause_ns,
        max_concurrent=table.max_concurrent,
        tolerable_failures=table.tolerable_failures,
        exactly_once=table.exactly_once,
        unaligned=table.unaligned,
        alignment_timeout_ns=table.alignment_ends_after_ns,
        retained=table.retained,
    )
