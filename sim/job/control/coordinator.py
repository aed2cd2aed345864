"""The host of the coordinator core: requests, plans, messages, completed checkpoints, the stop.

The core decides. Here its effects meet time, messages and faults.  This is the only interpreter of
them, for both data planes: what crosses machines goes through `Messages`, what concerns the job as
a whole through `JobPort`, and what really happens into the stream of events.

A message of an attempt that is over is taken like any other: its checkpoint was aborted with the
attempt, so the core knows it as one that has ended.

Source: Apache Flink 1.20.3, CheckpointCoordinator (receiveAcknowledgeMessage,
receiveDeclineMessage, sendAcknowledgeMessages, sendAbortedMessages), SchedulerBase.notifyEndOfData.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.coordinator.events import CoordinatorEffect, CoordinatorEvent, TimerKind
from ckptsim.models.coordinator.plan import Plan, Rejected
from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
from ckptsim.sim.job.control.gateway import Gateway
from ckptsim.sim.job.events import of_job

if TYPE_CHECKING:
    from ckptsim.models.barriers import Barrier
    from ckptsim.models.coordinator import EndOfDataListener, Request
    from ckptsim.models.lifecycle import StopMode
    from ckptsim.sim.job.control.faults import FaultPlan
    from ckptsim.sim.job.control.planning import PlanCalculator
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.port import JobPort, Messages, Participant, TaskGateway, TaskPart
    from ckptsim.sim.job.settings import CoordinatorSettings
    from ckptsim.sim.kernel import Environment, Timer
    from ckptsim.sim.slots.protocols import Coordinator


class CoordinatorHost:
    """The checkpoints of one job over all its attempts.

    records: all that were triggered. completed: the kept data of those that can be restored, both
    by number.  highest_completed: the newest that has ever been completed.  stop_id: the savepoint
    of the stop.  backlog: the interval while sources start up, and until when, where it is another.
    participants: those beside the tasks.
    """

    def __init__(
        self,
        env: Environment,
        core: Coordinator,
        *,
        settings: CoordinatorSettings,
        planning: PlanCalculator,
        listener: EndOfDataListener,
        messages: Messages,
        faults: FaultPlan,
        job: JobPort,
        events: Events,
    ) -> None:
        self.core = core
        self.planning = planning
        self._emit = events.emit
        self.records: dict[int, CheckpointRecord] = {}
        self.completed: dict[int, JobCheckpoint] = {}
        self.highest_completed = -1
        self.stop_id: int | None = None
        self.gateway = Gateway(
            env, messages, faults, events, loss_ratio=settings.notification_loss_ratio
        )
        self._env = env
        self._entity = env.entity("coordinator")
        self._settings = settings
        self._listener = listener
        self._messages = messages
        self._job = job
        self._attempt = 0
        self.participants: Sequence[Participant] = ()
        self._timers: dict[tuple[int, int], Timer] = {}
        self._planned: Plan
        self.backlog: tuple[int, int] | None = None

    # The life of the job ----------------------------------------------------------------------

    def start(self, attempt: int, tasks: Sequence[TaskGateway]) -> None:
        """Begin to trigger: all tasks of an attempt run."""
        self._attempt, self.backlog = attempt, None
        self.gateway.tasks = tasks
        self.planning.finished.clear()
        self._listener.reset()
        self._schedule(self._job.first_delay_ns())

    def rescaled(self, planning: PlanCalculator, listener: EndOfDataListener) -> None:
        """Plan for other tasks from the next attempt on."""
        self.planning = planning
        self._listener = listener

    def _schedule(self, first_ns: int) -> None:
        self._emit(of_job.TriggersScheduled(first_ns))
        self._step(coordinator_events.SchedulerStarted(self._env.now, first_ns))

    def suspend(self, reason: FailureReason) -> None:
        """Give up everything that runs or waits."""
        self._emit(of_job.TriggersSuspended())
        self._step(coordinator_events.SchedulerStopped(self._env.now, reason))

    def request(self, *, savepoint: bool = True) -> None:
        """Take a checkpoint, or a savepoint, that the job continues after."""
        self._step(coordinator_events.CheckpointRequested(self._env.now, savepoint=savepoint))

    def stop(self) -> None:
        """Stop with savepoint: no more periodic checkpoints, then the savepoint."""
        self.suspend(FailureReason.CHECKPOINT_COORDINATOR_SUSPEND)
        self._step(
            coordinator_events.CheckpointRequested(self._env.now, savepoint=True, synchronous=True)
        )

    def forget_stop(self) -> None:
        """Take a stop for failed although its savepoint is complete: the job has gone on."""
        self.stop_id = None
        self._job.stop_failed()

    @property
    def stop_completed(self) -> bool:
        """Whether the savepoint of the stop is complete."""
        return self.stop_id is not None and self.records[self.stop_id].status == "completed"

    def replace_core(self, make: Callable[[Coordinator], Coordinator]) -> None:
        """Continue with a new core, made from the old one: the job manager has come back.

        Timers of the old one are gone with it.
        """
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self.core = make(self.core)

    # What tasks send --------------------------------------------------------------------------

    def acknowledge(self, task: TaskGateway, checkpoint: int, part: TaskPart) -> None:
        """Send a task's acknowledgement of a checkpoint."""
        self.gateway.acknowledge(
            task, checkpoint, part, acknowledged=self._acknowledged, declined=self._declined
        )

    def _acknowledged(self, task: TaskGateway, checkpoint: int, part: TaskPart) -> None:
        record = self.records[checkpoint]
        self._emit(of_job.PartArrived(record, task, part))
        if record.status == "pending" and task.number not in record.parts:
            record.parts[task.number] = (part, self._env.now)
            if part.operators_finished:
                record.operators_finished.add(task.number)
            self._emit(of_job.PartAcknowledged(record, task, part))
        self._step(coordinator_events.Acknowledged(self._env.now, checkpoint, task.number))

    def decline(self, task: TaskGateway, checkpoint: int, reason: FailureReason) -> None:
        """Send a task's refusal of a checkpoint."""
        self._messages.decline(task, self._declined, task, checkpoint, reason)

    def _declined(self, task: TaskGateway, checkpoint: int, reason: FailureReason) -> None:
        self._emit(of_job.PartDeclined(task, checkpoint, reason))
        self._step(coordinator_events.Declined(self._env.now, checkpoint, task.number, reason))

    def end_of_data(self, task: TaskGateway) -> None:
        """Send a task's report that it has ended its data. A stop without drain ends none.

        No one reports where no checkpoint is to follow, as in Apache Flink before 1.18.
        """
        if not self._settings.final_at_once and not self._listener.enabled:
            return
        self._messages.end_of_data(task, self._data_ended, self._attempt, task)

    def _data_ended(self, attempt: int, task: TaskGateway) -> None:
        if attempt != self._attempt or not self._job.running:
            return
        asked = self._listener.reported(task.number)
        self._emit(of_job.DataEndReported(task, asked))
        if asked:
            self._step(coordinator_events.CheckpointRequested(self._env.now))

    def task_closed(self, task: TaskGateway) -> None:
        """Let it be known here, after a while, that a task has FINISHED."""
        self._messages.finished(task, self._finished, self._attempt, task)

    def _finished(self, attempt: int, task: TaskGateway) -> None:
        if attempt != self._attempt or not self._job.running:
            return
        self._emit(of_job.TaskFinished(task))
        finished = self.planning.finished
        finished.add(task.number)
        self._job.task_finished(task.number)
        if len(finished) == self.planning.task_count:
            self._job.all_finished()

    def note_file(self, checkpoint: int, size: int) -> None:
        """Note that a file of `size` bytes is written for a checkpoint."""
        self.records[checkpoint].file_sizes.append(size)

    # What the core decides --------------------------------------------------------------------

    def _step(self, event: CoordinatorEvent) -> None:
        for effect in self.core.step(event):
            self._carry_out(effect)

    def _carry_out(self, effect: CoordinatorEffect) -> None:  # noqa: C901, PLR0912 - one branch per effect
        match effect:
            case coordinator_events.SetTimer(kind, number, delay_ns):
                timer = self._timers[kind, number] = self._env.call_in(
                    delay_ns, self._settings.kind, self._entity, self.timer_fired, kind, number
                )
                if kind is TimerKind.EXPIRY:
                    self._emit(of_job.ExpirySet(number, timer))
            case coordinator_events.CancelTimer(kind, number):
                if (cancelled := self._timers.pop((kind, number), None)) is not None:
                    cancelled.cancel()
            case coordinator_events.PlanCheckpoint(request):
                self._plan(request)
            case coordinator_events.TriggerTasks(barrier, tasks, request):
                self._trigger(barrier, tasks, request)
            case coordinator_events.RefuseRequest(request, reason):
                if reason is FailureReason.TOO_MANY_CHECKPOINT_REQUESTS:
                    self._env.goals.reach("request_dropped")
                if request.synchronous:
                    self._emit(of_job.StopRefused())
                    self._stop_failed()
            case coordinator_events.StoreCheckpoint(checkpoint):
                self._messages.store(checkpoint, self.store, checkpoint, self.core)
            case coordinator_events.CheckpointCompleted(checkpoint, duration_ns):
                self._complete(checkpoint, duration_ns)
            case coordinator_events.CheckpointFailed(checkpoint, reason):
                self._fail(checkpoint, reason)
            case coordinator_events.NotifyComplete(checkpoint):
                record = self.records[checkpoint]
                self._emit(of_job.TasksNotified(record, completed=True))
                numbers = self.planning.numbers(record.plan.commit_to)
                self.gateway.notify_complete(numbers, checkpoint)
                for one in self.participants:
                    one.completed(checkpoint, notified=True)
            case coordinator_events.NotifyAborted(checkpoint, latest_completed):
                record = self.records[checkpoint]
                self._emit(of_job.TasksNotified(record, completed=False))
                numbers = self.planning.numbers(record.plan.commit_to)
                self.gateway.notify_aborted(numbers, checkpoint, latest_completed)
            case coordinator_events.DiscardCheckpoint(checkpoint):
                self._discard(checkpoint)
            case coordinator_events.DiscardState():
                pass  # nothing that shows outside the coordinator
            case coordinator_events.FailJob(_, reason):
                self._job.checkpoints_failed(reason)
            case _:
                assert_never(effect)

    def timer_fired(self, kind: TimerKind, number: int) -> None:
        """Take the end of a timer."""
        self._step(coordinator_events.TimerFired(self._env.now, kind, number))

    # Begin ------------------------------------------------------------------------------------

    def _plan(self, request: Request) -> None:
        """Plan a checkpoint, unless the request was aborted by an effect before this one."""
        if not self.core.planning:
            return
        self._emit(of_job.PlanAsked())
        waited = request.periodic and request.submitted_ns < self._env.now
        skipped = self._settings.skip_missed_ticks and waited
        plan = self.planning.plan()
        ready = self._job.can_checkpoint
        if isinstance(plan, Rejected) or skipped or not ready:
            self._emit(of_job.RequestRefused(request, ready, not isinstance(plan, Rejected)))
            self._step(coordinator_events.PlanRefused(self._env.now))
            return
        self._emit(of_job.CheckpointPlanned(plan))
        self._planned = plan
        numbers = self.planning.numbers
        self._step(
            coordinator_events.Planned(self._env.now, numbers(plan.trigger), numbers(plan.wait_for))
        )

    def _trigger(self, barrier: Barrier, tasks: Sequence[int], request: Request) -> None:
        checkpoint = barrier.checkpoint
        record = self.records[checkpoint] = CheckpointRecord(
            checkpoint,
            request,
            barrier.kind.name.lower(),
            self._planned,
            self.core.awaited(checkpoint),
            self._env.now,
            self._attempt,
            places=self._places(),
        )
        if request.synchronous:
            self.stop_id = checkpoint
        if request.periodic and self.backlog is not None:
            now_ns = self._env.now
            self._env.call_at(now_ns, self._settings.kind, self._entity, self._in_backlog)
        self._emit(of_job.CheckpointTriggered(record))
        if request.synchronous and self._job.has_backlog():
            self._env.goals.reach(f"stopped_under_backlog_{self._settings.stop_mode.name.lower()}")
        stop = self._settings.stop_mode if request.synchronous else None
        then: Callable[[], None] = partial(self._send, barrier, tasks, stop)
        for one in self.participants:
            then = partial(one.prepare, checkpoint, then)
        then()

    def _send(self, barrier: Barrier, tasks: Sequence[int], stop: StopMode | None) -> None:
        """Trigger tasks, unless the checkpoint has failed while others prepared for it."""
        record = self.records[barrier.checkpoint]
        if record.status == "pending":
            self._emit(of_job.TriggersSent(record))
            for number in tasks:
                self.gateway.trigger(number, barrier, stop, self._refuse)

    def _in_backlog(self) -> None:
        """Trigger next after the interval of the backlog, or after the usual one from its end."""
        interval_ns, until_ns = self.backlog or (0, 0)
        left_ns = until_ns - self._env.now
        if left_ns > 0:
            self._schedule(min(interval_ns, left_ns + self._settings.interval_ns))

    def _places(self) -> dict[int, tuple[str, int]]:
        waited = self._planned.wait_for
        return dict(zip(self.planning.numbers(waited), waited, strict=True))

    def _refuse(self, task: TaskGateway, checkpoint: int) -> None:
        self.decline(task, checkpoint, FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY)

    # End --------------------------------------------------------------------------------------

    def store(self, checkpoint: int, core: Coordinator) -> None:
        """Decide what the checkpoint records of each vertex, and keep it or give it up.

        core: which has asked for it. Everything that has taken its place knows nothing of that.
        """
        record = self.records[checkpoint]
        if core is not self.core:
            return
        if record.status != "pending":  # aborted while the store worked
            self._give_up(checkpoint, FailureReason.FINALIZE_CHECKPOINT_FAILURE)
            return
        vertices = self.planning.finalize(record)
        if isinstance(vertices, Rejected):
            record.reason = vertices.rule
            self._give_up(checkpoint, FailureReason.CHECKPOINT_DECLINED_TASK_CLOSING)
            return
        ratio = self._settings.storing_failure_ratio
        if ratio and self._env.stream("storing").uniform() < ratio:
            self._give_up(checkpoint, FailureReason.FINALIZE_CHECKPOINT_FAILURE)
            return
        self.completed[checkpoint] = self._job.checkpoint_of(record, vertices)
        self._step(coordinator_events.Stored(self._env.now, checkpoint))

    def _give_up(self, checkpoint: int, reason: FailureReason) -> None:
        self._step(coordinator_events.Stored(self._env.now, checkpoint, failed=True, reason=reason))

    def _complete(self, checkpoint: int, duration_ns: int) -> None:
        record, kept = self.records[checkpoint], self.completed.get(checkpoint)
        self._emit(of_job.CheckpointCompleted(record, kept, duration_ns))
        record.status = "completed"
        record.duration_ns = duration_ns
        record.ended_ns = self._env.now
        self.highest_completed = max(self.highest_completed, checkpoint)
        self._emit(of_job.CheckpointsKept(self.core.completed, self.completed))
        for one in self.participants:
            one.completed(checkpoint, notified=False)
        self._job.checkpoint_completed(record)
        if checkpoint == self.stop_id and self._settings.triggers_after_stop:
            self._schedule(self._settings.interval_ns)

    def _fail(self, checkpoint: int, reason: FailureReason) -> None:
        record = self.records[checkpoint]
        self._emit(of_job.CheckpointFailed(record, reason))
        expired = reason is FailureReason.CHECKPOINT_EXPIRED
        record.status = "expired" if expired else "aborted"
        record.reason = record.reason or reason.value
        record.ended_ns = self._env.now
        for one in self.participants:
            one.failed(checkpoint)
        if checkpoint == self.stop_id:
            self._stop_failed()

    def _stop_failed(self) -> None:
        self.forget_stop()  # and continue with periodic checkpoints
        self._schedule(self._settings.interval_ns)

    def _discard(self, checkpoint: int) -> None:
        self._emit(of_job.CheckpointDiscarded(checkpoint))
        if checkpoint != self.stop_id:
            self.completed.pop(checkpoint, None)
        sizes = self.records[checkpoint].file_sizes
        self._messages.discard(sizes, self._cleaned, checkpoint, self.core)

    def _cleaned(self, checkpoint: int, core: Coordinator) -> None:
        """Say that a checkpoint is gone, to the core that has asked for it."""
        if core is self.core:
            self._step(coordinator_events.Cleaned(self._env.now, checkpoint))
