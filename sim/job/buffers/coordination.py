"""The job manager's side of checkpoints: the coordinator core and the messages around it.

Messages to tasks take `rpc_ns` and some time of a core; what a completed checkpoint has replaced is
deleted on the same cores, so a checkpoint that is triggered right behind another one begins later
at the sources.  This is the only interpreter of the coordinator's effects.

Source: Apache Flink 1.20.3, CheckpointCoordinator; the times are in `constants.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import events as ev
from ckptsim.models.coordinator.parameters import CoordinatorParameters
from ckptsim.models.coordinator.plan import Plan, Vertex, plan_checkpoint
from ckptsim.scenarios.dataflow_faults import LoseAcknowledgement, LoseTrigger, RefuseTrigger
from ckptsim.scenarios.job_faults import (
    DelayAcknowledgement,
    DelayNotification,
    DelayTrigger,
    LoseNotification,
)
from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.models.coordinator.coordinator import CheckpointCoordinator
    from ckptsim.models.coordinator.requests import Request
    from ckptsim.scenarios.dataflow import CheckpointTable
    from ckptsim.sim.job.buffers.part import Part
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.kernel import Timer

_MB = 1_000_000


@dataclass(slots=True)
class CheckpointRecord:
    """What the world knows of one checkpoint, apart from what the coordinator believes.

    request: what was asked for.  parts: the parts of the tasks that have acknowledged, by task
    number, with the arrival of the acknowledgement.
    """

    checkpoint: int
    triggered_ns: int
    tasks: tuple[int, ...]
    request: Request
    parts: dict[int, tuple[Part, int]] = field(default_factory=dict)
    status: str = "pending"
    reason: str | None = None
    duration_ns: int | None = None
    ended_ns: int | None = None
    file_sizes: list[int] = field(default_factory=list)


def coordinator_parameters(table: CheckpointTable) -> CoordinatorParameters:
    """Return the coordinator's settings of a scenario."""
    return CoordinatorParameters(
        interval_ns=table.interval_ns,
        timeout_ns=table.timeout_ns,
        min_pause_ns=table.min_pause_ns,
        max_concurrent=table.max_concurrent,
        tolerable_failures=table.tolerable_failures,
        exactly_once=table.exactly_once,
        unaligned=table.unaligned,
        alignment_timeout_ns=table.alignment_timeout_ns,
        retained=table.retained,
    )


class Coordination:
    """Runs the checkpoints of the job."""

    def __init__(self, world: DataflowWorld) -> None:
        self.records: dict[int, CheckpointRecord] = {}
        self.failed: FailureReason | None = None
        self._world = world
        self._env = world.env
        self._entity = world.env.entity("coordinator")
        self._core: CheckpointCoordinator = world.protocol.coordinator(
            coordinator_parameters(world.model.checkpoint)
        )
        self._timers: dict[tuple[int, int], Timer] = {}
        self._finished: dict[int, None] = {}
        self._data_ended = 0
        self._completed = 0

    def start(self) -> None:
        """Begin to trigger periodically."""
        table = self._world.model.checkpoint
        first = table.first_trigger_ns
        if first is None:
            bounds = coordinator_parameters(table).first_delay_bounds_ns
            first = self._env.stream("coordinator").uniform_ns(*bounds)
        self._step(ev.SchedulerStarted(self._env.now, first))
        if table.savepoint_at_ns is not None:
            self._env.call_at(
                table.savepoint_at_ns, Kind.COORDINATOR, self._entity, self._ask_for_savepoint
            )

    def _ask_for_savepoint(self) -> None:
        self._step(ev.CheckpointRequested(self._env.now, savepoint=True))

    # What tasks say ---------------------------------------------------------------------------

    def acknowledge(self, task: Task, part: Part) -> None:
        """Send the acknowledgement of a task."""
        constants, faults = self._world.constants, self._world.faults
        checkpoint = part.barrier.checkpoint
        if faults.strikes(LoseAcknowledgement, task, checkpoint):
            return
        self._world.cores.run(
            constants.acknowledge_cost_ns,
            task.entity,
            self._later,
            constants.rpc_ns + faults.delay_ns(DelayAcknowledgement, task, checkpoint),
            self._acknowledged,
            task,
            part,
        )

    def _acknowledged(self, task: Task, part: Part) -> None:
        checkpoint = part.barrier.checkpoint
        record = self.records[checkpoint]
        if record.status == "pending":
            record.parts[task.number] = (part, self._env.now)
        else:
            self._env.goals.reach("late_acknowledgement")
        self._env.trace.record(
            "acknowledged", task.entity, checkpoint, part.persisted_bytes, part.state_bytes
        )
        self._step(ev.Acknowledged(self._env.now, checkpoint, task.number))

    def decline(self, task: Task, checkpoint: int, reason: FailureReason) -> None:
        """Send a task's refusal."""
        self._later(self._world.constants.rpc_ns, self._declined, task, checkpoint, reason)

    def decline_closing(self, task: Task, checkpoint: int) -> None:
        """Send the refusal of a task that closes or has closed."""
        self.decline(task, checkpoint, FailureReason.CHECKPOINT_DECLINED_TASK_CLOSING)

    def _declined(self, task: Task, checkpoint: int, reason: FailureReason) -> None:
        self._env.trace.record("declined", task.entity, checkpoint, reason.value)
        self._env.goals.reach("declined")
        self._step(ev.Declined(self._env.now, checkpoint, task.number, reason))

    def data_ended(self, task: Task) -> None:
        """Hear that a task has sent its end of data; when all have, trigger at once.

        Source: FLINK-28386, apache/flink pull request 22670.
        """
        self._data_ended += 1
        if self._data_ended == len(self._world.tasks):
            self._later(self._world.constants.rpc_ns, self._request, task)

    def _request(self, _task: Task) -> None:
        self._step(ev.CheckpointRequested(self._env.now))

    def task_closed(self, task: Task) -> None:
        """Hear that a task has closed, after a while."""
        self._later(self._world.constants.finish_ns, self._task_finished, task)

    def _task_finished(self, task: Task) -> None:
        self._finished[task.number] = None
        task.finished_ns = self._env.now
        self._env.trace.record("finished", task.entity)
        if len(self._finished) == len(self._world.tasks):
            self._step(
                ev.SchedulerStopped(self._env.now, FailureReason.PERIODIC_SCHEDULER_SHUTDOWN)
            )
            self._world.end()

    def note_file(self, checkpoint: int, size: int) -> None:
        """Note that a file of `size` bytes is written for a checkpoint."""
        self.records[checkpoint].file_sizes.append(size)

    def _later(self, delay_ns: int, function: Callable[..., object], *arguments: Any) -> None:
        task: Task = arguments[0]
        self._env.call_in(delay_ns, Kind.COORDINATOR, task.entity, function, *arguments)

    # What the coordinator decides -------------------------------------------------------------

    def _step(self, event: ev.CoordinatorEvent) -> None:
        for effect in self._core.step(event):
            self._carry_out(effect)

    def _carry_out(self, effect: ev.CoordinatorEffect) -> None:  # noqa: C901, PLR0912 - one branch per effect
        match effect:
            case ev.SetTimer(kind, number, delay_ns):
                self._timers[kind, number] = self._env.call_in(
                    delay_ns, Kind.COORDINATOR, self._entity, self._timer_fired, kind, number
                )
            case ev.CancelTimer(kind, number):
                timer = self._timers.pop((kind, number), None)
                if timer is not None:
                    timer.cancel()
            case ev.PlanCheckpoint():
                self._plan()
            case ev.TriggerTasks(barrier, tasks, request):
                self._trigger(barrier, tasks, request)
            case ev.StoreCheckpoint(checkpoint):
                pause = self._world.pauses.behind_ns(checkpoint)
                delay = self._world.constants.complete_ns + pause
                self._env.call_in(delay, Kind.COORDINATOR, self._entity, self._stored, checkpoint)
            case ev.CheckpointCompleted(checkpoint, duration_ns):
                self._complete(checkpoint, duration_ns)
            case ev.CheckpointFailed(checkpoint, reason):
                self._fail(checkpoint, reason)
            case ev.NotifyComplete(checkpoint):
                self._world.account.notified(self.records[checkpoint])
                for task in self._running():
                    self._notify(task, checkpoint, task.ending.notify_complete, checkpoint)
            case ev.NotifyAborted(checkpoint, latest_completed):
                for task in self._running():
                    function = task.ending.notify_aborted
                    self._notify(task, checkpoint, function, checkpoint, latest_completed)
            case ev.DiscardCheckpoint(checkpoint):
                self._discard(checkpoint)
            case ev.FailJob(_, reason):
                self.failed = reason
                self._world.end()
            case ev.RefuseRequest() | ev.DiscardState():
                pass  # nothing that shows outside the coordinator
            case _:
                assert_never(effect)

    def _timer_fired(self, kind: ev.TimerKind, number: int) -> None:
        self._step(ev.TimerFired(self._env.now, kind, number))

    def _running(self) -> list[Task]:
        return [task for task in self._world.tasks if task.number not in self._finished]

    def _notify(
        self, task: Task, checkpoint: int, function: Callable[..., object], *arguments: Any
    ) -> None:
        """Tell a task how a checkpoint has ended."""
        faults = self._world.faults
        if not faults.strikes(LoseNotification, task, checkpoint):
            late_ns = faults.delay_ns(DelayNotification, task, checkpoint)
            self._send(task, late_ns, function, *arguments)

    def _send(
        self, task: Task, late_ns: int, function: Callable[..., object], *arguments: Any
    ) -> None:
        """Deliver a message to a task: the way there, and its handling on a core."""
        constants = self._world.constants
        self._env.call_in(
            constants.rpc_ns + late_ns,
            Kind.COORDINATOR,
            task.entity,
            self._world.cores.run,
            constants.message_cost_ns,
            task.entity,
            function,
            *arguments,
        )

    def _plan(self) -> None:
        plan = plan_checkpoint(self._vertices(), self._world.graph.edges)
        if not isinstance(plan, Plan):
            self._step(ev.PlanRefused(self._env.now))
            return
        number = self._world.graph.number_of
        trigger = tuple(number(name, index) for name, index in plan.trigger)
        wait_for = tuple(number(name, index) for name, index in plan.wait_for)
        self._step(ev.Planned(self._env.now, trigger, wait_for))

    def _vertices(self) -> list[Vertex]:
        vertices = []
        for name, tasks in self._world.graph.by_name.items():
            ended = frozenset(t.subtask for t in tasks if t.number in self._finished)
            vertices.append(Vertex(name=name, parallelism=len(tasks), finished=ended))
        return vertices

    def _trigger(self, barrier: Barrier, tasks: tuple[int, ...], request: Request) -> None:
        checkpoint = barrier.checkpoint
        awaited = self._core.awaited(checkpoint)
        record = CheckpointRecord(checkpoint, self._env.now, awaited, request)
        self.records[checkpoint] = record
        self._env.trace.record("triggered", self._entity, checkpoint, barrier.kind.name)
        self._world.account.triggered(record)
        faults = self._world.faults
        pause_ns = self._world.pauses.before_sources_ns(checkpoint)
        for number in tasks:
            task = self._world.tasks[number]
            if faults.strikes(LoseTrigger, task, checkpoint):
                continue
            late_ns = pause_ns + faults.delay_ns(DelayTrigger, task, checkpoint)
            if faults.strikes(RefuseTrigger, task, checkpoint):
                self._send(task, late_ns, self._refuse, task, checkpoint)
            else:
                self._send(task, late_ns, task.ending.trigger, barrier)

    def _refuse(self, task: Task, checkpoint: int) -> None:
        self.decline(task, checkpoint, FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY)

    def _stored(self, checkpoint: int) -> None:
        self._step(ev.Stored(self._env.now, checkpoint))

    def _complete(self, checkpoint: int, duration_ns: int) -> None:
        record = self.records[checkpoint]
        self._world.account.completed(record)
        record.status = "completed"
        record.duration_ns = duration_ns
        record.ended_ns = self._env.now
        self._completed += 1
        if record.request.savepoint:
            self._env.goals.reach("savepoint_completed")
        self._env.trace.record("completed", self._entity, checkpoint, duration_ns)
        wanted = self._world.model.checkpoint.count
        if wanted is not None and self._completed >= wanted:
            self._world.end()

    def _fail(self, checkpoint: int, reason: FailureReason) -> None:
        record = self.records[checkpoint]
        self._world.account.failed(record, reason)
        expired = reason is FailureReason.CHECKPOINT_EXPIRED
        record.status = "expired" if expired else "failed"
        record.reason = reason.value
        record.ended_ns = self._env.now
        self._env.trace.record("failed", self._entity, checkpoint, reason.value)
        if expired:
            self._env.goals.reach("expired")
        if reason is FailureReason.CHECKPOINT_SUBSUMED:
            self._env.goals.reach("subsumed")

    def _discard(self, checkpoint: int) -> None:
        record = self.records.get(checkpoint)
        constants = self._world.constants
        for size in record.file_sizes if record is not None else ():
            cost = constants.discard_file_ns + constants.discard_ns_per_mb * size // _MB
            self._world.cores.run(cost, self._entity, self._discarded)

    def _discarded(self) -> None:
        """End a deletion that nobody waits for."""
