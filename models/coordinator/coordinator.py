"""The checkpoint coordinator: requests, running and retained checkpoints, and failures.

A request becomes a checkpoint when the decider chooses it and a plan of tasks is there.  The
checkpoint runs until every task of its plan has acknowledged. Then it is stored.  A completed
checkpoint gives up all older running ones (savepoints excepted) and pushes out the oldest kept one.
A plain savepoint is the user's: it is not retained, aborts nothing and notifies no task. Only the
tasks of a stop wait for the notification.

Promised: never more running checkpoints than allowed, forced ones apart. Numbers start at 1, grow
by 1 and are never used twice. The given value up never completes. Tasks are notified of a
completion only after it is stored. However many failures were tolerated, ticks continue.

Source: Apache Flink 1.20.3, CheckpointCoordinator and PendingCheckpoint.
"""

from __future__ import annotations

from collections import deque
from typing import assert_never

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.coordinator import requests
from ckptsim.models.coordinator.events import CoordinatorEffect, CoordinatorEvent, TimerKind
from ckptsim.models.coordinator.failures import FailureCounter
from ckptsim.models.coordinator.parameters import CoordinatorParameters
from ckptsim.models.core import ProtocolError

REMEMBERED_ENDED = 16
"""Ended checkpoints whose late acknowledgements are recognised.  Source: the same class."""


class CheckpointCoordinator:
    """Runs the checkpoints of one job.

    A stop of the scheduler ends everything. After a restart of the job a new SchedulerStarted
    continues with the numbers and with the kept data.

    first_checkpoint: the number of the next checkpoint (after a restore: one above the last used).
    completed: checkpoints to begin with, oldest first.
    """

    __slots__ = (
        "_cleaning",
        "_completed",
        "_decider",
        "_effects",
        "_ended",
        "_failures",
        "_last_completion_ns",
        "_next_checkpoint",
        "_next_tick_ns",
        "_now_ns",
        "_parameters",
        "_pending",
        "_periodic",
        "_planning",
        "_requests",
        "_tick",
        "_unanswered",
    )

    def __init__(
        self,
        parameters: CoordinatorParameters,
        *,
        first_checkpoint: int = 1,
        completed: tuple[int, ...] = (),
    ) -> None:
        self._parameters = parameters
        self._decider = requests.RequestDecider(
            max_concurrent=parameters.max_concurrent,
            min_pause_ns=parameters.min_pause_ns,
            max_queued=parameters.max_queued,
        )
        self._failures = FailureCounter(parameters.tolerable_failures)
        self._pending: dict[int, requests.PendingCheckpoint] = {}
        self._completed = list(completed)
        self._ended: deque[int] = deque(maxlen=REMEMBERED_ENDED)
        # Aborted while the store works on them: each stays until its one answer comes, however many
        # others end meanwhile, since a store may be as slow as it likes.
        self._unanswered: set[int] = set()
        self._cleaning: set[int] = set()
        self._planning: requests.Request | None = None
        self._next_checkpoint = first_checkpoint
        self._requests = 0
        self._periodic = False
        self._tick = 0
        self._next_tick_ns = 0
        self._last_completion_ns: int | None = None
        self._now_ns = 0
        self._effects: list[CoordinatorEffect] = []

    @property
    def pending(self) -> tuple[int, ...]:
        """The running checkpoints, oldest first."""
        return tuple(self._pending)

    @property
    def completed(self) -> tuple[int, ...]:
        """The checkpoints that are kept, oldest first."""
        return tuple(self._completed)

    @property
    def latest_completed(self) -> int | None:
        """The checkpoint that a restart begins from."""
        return self._completed[-1] if self._completed else None

    @property
    def next_checkpoint(self) -> int:
        """The number that the next checkpoint gets."""
        return self._next_checkpoint

    @property
    def queued(self) -> tuple[requests.Request, ...]:
        """The waiting requests, next one first."""
        return self._decider.queued

    @property
    def failures(self) -> int:
        """Failures counted since the last success."""
        return self._failures.count

    @property
    def planning(self) -> bool:
        """Whether a plan has been asked for and is not there yet."""
        return self._planning is not None

    def awaited(self, checkpoint: int) -> tuple[int, ...]:
        """Return the tasks that a running checkpoint waits for, ascending. None when it is over."""
        pending = self._pending.get(checkpoint)
        return tuple(sorted(pending.awaited)) if pending is not None else ()

    def step(self, event: CoordinatorEvent) -> list[CoordinatorEffect]:
        """Take one event and return its effects.

        Raises ProtocolError for a plan that no one asked for and for a store's answer about a
        checkpoint that is not being stored.
        """
        effects: list[CoordinatorEffect] = []
        self._effects = effects
        self._now_ns = event.now_ns
        match event:
            case coordinator_events.SchedulerStarted():
                self._start(event.first_delay_ns)
            case coordinator_events.SchedulerStopped():
                self._stop(event.reason)
            case coordinator_events.CheckpointRequested():
                self._submit(self._request(event))
            case coordinator_events.Planned():
                self._planned(event)
            case coordinator_events.PlanRefused():
                self._plan_refused(event)
            case coordinator_events.Acknowledged():
                self._acknowledged(event)
            case coordinator_events.Declined():
                self._declined(event)
            case coordinator_events.Stored():
                self._stored(event)
            case coordinator_events.TimerFired():
                self._timer_fired(event)
            case coordinator_events.Cleaned():
                self._cleaning.discard(event.checkpoint)
                self._choose()
            case _:
                assert_never(event)
        return effects

    def _start(self, first_delay_ns: int) -> None:
        if self._parameters.interval_ns is None:
            return
        self._cancel_tick()
        self._periodic = True
        self._set_tick(first_delay_ns)

    def _stop(self, reason: FailureReason) -> None:
        self._cancel_tick()
        self._periodic = False
        if self._planning is not None:
            self._effects.append(coordinator_events.RefuseRequest(self._planning, reason))
            self._planning = None
        self._carry_out(self._decider.drop_all(reason))
        for checkpoint in self.pending:
            self._abort(checkpoint, reason)

    def _timer_fired(self, event: coordinator_events.TimerFired) -> None:
        if event.kind is TimerKind.EXPIRY:
            pending = self._pending.get(event.number)
            if pending is not None and not pending.storing:
                self._abort(event.number, FailureReason.CHECKPOINT_EXPIRED)
                self._choose()
            return
        interval_ns = self._parameters.effective_interval_ns
        if event.number != self._tick or not self._periodic or interval_ns is None:
            return
        self._next_tick_ns += interval_ns
        delay_ns = max(0, self._next_tick_ns - self._now_ns)
        self._effects.append(coordinator_events.SetTimer(TimerKind.TICK, self._tick, delay_ns))
        if self._parameters.collapse_ticks and self._decider.waiting_periodic:
            return
        self._requests += 1
        self._submit(
            requests.Request(number=self._requests, submitted_ns=self._now_ns, periodic=True)
        )

    def _request(self, event: coordinator_events.CheckpointRequested) -> requests.Request:
        self._requests += 1
        by_rule = event.savepoint and not self._parameters.unaligned
        return requests.Request(
            number=self._requests,
            submitted_ns=event.now_ns,
            savepoint=event.savepoint,
            forced=by_rule if event.forced is None else event.forced,
            synchronous=event.synchronous,
        )

    def _submit(self, request: requests.Request) -> None:
        self._carry_out(self._decider.submit(request, self._situation()))

    def _choose(self) -> None:
        self._carry_out(self._decider.choose(self._situation()))

    def _situation(self) -> requests.Situation:
        return requests.Situation(
            now_ns=self._now_ns,
            triggering=self._planning is not None,
            pending=len(self._pending),
            cleaning=len(self._cleaning),
            last_completion_ns=self._last_completion_ns,
        )

    def _carry_out(self, decisions: list[requests.Decision]) -> None:
        for decision in decisions:
            match decision:
                case requests.Execute():
                    self._planning = decision.request
                    self._effects.append(coordinator_events.PlanCheckpoint(decision.request))
                case requests.Drop():
                    self._refuse(decision.request, decision.reason)
                case requests.Reschedule():
                    self._cancel_tick()
                    self._set_tick(decision.delay_ns)
                case _:
                    assert_never(decision)

    def _refuse(self, request: requests.Request, reason: FailureReason) -> None:
        self._effects.append(coordinator_events.RefuseRequest(request, reason))
        if not request.savepoint and self._failures.failed(reason, None):
            self._effects.append(coordinator_events.FailJob(None, reason))

    def _planned(self, event: coordinator_events.Planned) -> None:
        request = self._take_planning(event)
        checkpoint = self._next_checkpoint
        self._next_checkpoint += 1
        pending = requests.PendingCheckpoint(request, self._now_ns, event.await_tasks)
        self._pending[checkpoint] = pending
        timeout_ns = self._parameters.timeout_ns
        self._effects.append(coordinator_events.SetTimer(TimerKind.EXPIRY, checkpoint, timeout_ns))
        kind = self._parameters.kind_of(savepoint=request.savepoint)
        alignment_ns = (
            self._parameters.alignment_timeout_ns if kind is OptionKind.TIMEOUTABLE else None
        )
        barrier = Barrier(checkpoint, self._now_ns, kind, alignment_ns)
        self._effects.append(coordinator_events.TriggerTasks(barrier, event.trigger, request))
        self._store_if_whole(checkpoint)
        self._choose()

    def _plan_refused(self, event: coordinator_events.PlanRefused) -> None:
        self._refuse(self._take_planning(event), event.reason)
        self._choose()

    def _take_planning(self, event: object) -> requests.Request:
        request, self._planning = self._planning, None
        if request is None:
            raise ProtocolError("no_plan_wanted", state=self._words(), event=event)
        return request

    def _acknowledged(self, event: coordinator_events.Acknowledged) -> None:
        pending = self._pending.get(event.checkpoint)
        if pending is None or event.task not in pending.known:
            late = event.checkpoint in self._ended
            self._effects.append(
                coordinator_events.DiscardState(event.checkpoint, event.task, late)
            )
            return
        if event.task in pending.awaited:
            pending.awaited.remove(event.task)
            pending.acknowledged_ns = event.now_ns
            self._store_if_whole(event.checkpoint)

    def _store_if_whole(self, checkpoint: int) -> None:
        pending = self._pending[checkpoint]
        if pending.awaited or pending.storing:
            return
        pending.storing = True
        self._effects.append(coordinator_events.CancelTimer(TimerKind.EXPIRY, checkpoint))
        self._effects.append(
            coordinator_events.StoreCheckpoint(checkpoint, pending.request.savepoint)
        )

    def _declined(self, event: coordinator_events.Declined) -> None:
        pending = self._pending.get(event.checkpoint)
        if pending is None or pending.storing:
            return
        stopping = pending.request.savepoint and pending.request.synchronous
        self._abort(event.checkpoint, event.reason, by_task=True)
        if stopping:
            self._effects.append(coordinator_events.FailJob(event.checkpoint, event.reason))
        self._choose()

    def _stored(self, event: coordinator_events.Stored) -> None:
        checkpoint = event.checkpoint
        pending = self._pending.get(checkpoint)
        if checkpoint in self._unanswered:
            self._unanswered.remove(checkpoint)
            return  # aborted while the store was working
        if pending is None or not pending.storing:
            raise ProtocolError("not_being_stored", state=self._words(), event=event)
        if event.failed:
            self._abort(checkpoint, event.reason)
            self._unanswered.discard(checkpoint)  # this was the answer
            self._choose()
            return
        del self._pending[checkpoint]
        self._ended.append(checkpoint)
        self._failures.succeeded(checkpoint)
        self._last_completion_ns = self._now_ns
        duration_ns = pending.acknowledged_ns - pending.triggered_ns
        self._effects.append(coordinator_events.CheckpointCompleted(checkpoint, duration_ns))
        request = pending.request
        subsumed = None if request.savepoint else self._keep(checkpoint)
        if not request.savepoint or request.synchronous:
            self._abort_older(checkpoint)
            self._effects.append(coordinator_events.NotifyComplete(checkpoint, subsumed))
        self._choose()

    def _keep(self, checkpoint: int) -> int | None:
        """Keep a checkpoint. Returns the oldest one when it must go."""
        self._completed.append(checkpoint)
        if len(self._completed) <= self._parameters.retained:
            return None
        oldest = self._completed.pop(0)
        self._discard(oldest)
        return oldest

    def _abort_older(self, checkpoint: int) -> None:
        for older in self.pending:
            if older < checkpoint and not self._pending[older].request.savepoint:
                self._abort(older, FailureReason.CHECKPOINT_SUBSUMED)

    def _abort(self, checkpoint: int, reason: FailureReason, *, by_task: bool = False) -> None:
        pending = self._pending.pop(checkpoint)
        self._ended.append(checkpoint)
        if pending.storing:
            self._unanswered.add(checkpoint)
        else:
            self._effects.append(coordinator_events.CancelTimer(TimerKind.EXPIRY, checkpoint))
        self._effects.append(coordinator_events.CheckpointFailed(checkpoint, reason))
        # A savepoint that fails at the coordinator is the user's matter. One that fails at a task
        # may be cured by a restart, so it counts like a checkpoint (a stop fails the job anyway).
        counts = by_task and not pending.request.synchronous
        if (counts or not pending.request.savepoint) and self._failures.failed(reason, checkpoint):
            self._effects.append(coordinator_events.FailJob(checkpoint, reason))
        self._effects.append(coordinator_events.NotifyAborted(checkpoint, self.latest_completed))
        self._discard(checkpoint)

    def _discard(self, checkpoint: int) -> None:
        if self._parameters.awaits_cleaning:
            self._cleaning.add(checkpoint)
        self._effects.append(coordinator_events.DiscardCheckpoint(checkpoint))

    def _set_tick(self, delay_ns: int) -> None:
        self._tick += 1
        self._next_tick_ns = self._now_ns + delay_ns
        self._effects.append(coordinator_events.SetTimer(TimerKind.TICK, self._tick, delay_ns))

    def _cancel_tick(self) -> None:
        if self._periodic:
            self._effects.append(coordinator_events.CancelTimer(TimerKind.TICK, self._tick))

    def _words(self) -> str:
        return f"running {list(self._pending)}, kept {self._completed}"
