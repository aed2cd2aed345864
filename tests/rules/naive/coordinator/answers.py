"""The rules of a checkpoint coordinator, stated naively: from lists of requests and of what ended.

Source: Apache Flink 1.20.3, CheckpointCoordinator, CheckpointRequestDecider and
CheckpointFailureManager, as docs/jobs.md tells them; not the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.models.barriers import Barrier, OptionKind
from ckptsim.models.barriers.barrier import MAX_TIMEOUT_NS
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CoordinatorParameters, Request
from ckptsim.models.coordinator import events as coordinator_events
from tests.rules.naive.naive import Naive

_TICK, _EXPIRY = coordinator_events.TimerKind.TICK, coordinator_events.TimerKind.EXPIRY
_REMEMBERED = 16
_COUNTED = (
    FailureReason.IO_EXCEPTION,
    FailureReason.CHECKPOINT_ASYNC_EXCEPTION,
    FailureReason.CHECKPOINT_EXPIRED,
    FailureReason.CHECKPOINT_DECLINED,
    FailureReason.FINALIZE_CHECKPOINT_FAILURE,
)


@dataclass(frozen=True, slots=True)
class _Running:
    """A checkpoint that runs: who takes part, and who has acknowledged when."""

    request: Request
    triggered_ns: int
    tasks: tuple[int, ...]
    acknowledged: tuple[tuple[int, int], ...] = ()
    storing: bool = False

    @property
    def awaited(self) -> tuple[int, ...]:
        there = [task for task, _ in self.acknowledged]
        return tuple(sorted({task for task in self.tasks if task not in there}))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A failure (`reason`) or a success (None) of a checkpoint, or of a request without number."""

    checkpoint: int | None
    reason: FailureReason | None = None


class CoordinatorAnswers(Naive):
    """What a coordinator is to answer, from the facts of its life."""

    def __init__(
        self,
        parameters: CoordinatorParameters,
        *,
        first_checkpoint: int = 1,
        completed: tuple[int, ...] = (),
    ) -> None:
        self._parameters = parameters
        self._next = first_checkpoint
        self._kept = list(completed)
        self._running: dict[int, _Running] = {}
        self._ended: list[int] = []
        self._unanswered: list[int] = []
        self._cleaning: list[int] = []
        self._queue: list[Request] = []
        self._requests = 0
        self._planning: Request | None = None
        self._outcomes: list[_Outcome] = []
        self._completions: list[int] = []  # when
        self._ticks = (False, 0, 0)  # whether they come, their number, when the next is due
        self._now = 0

    def refusals(self, event: Any) -> list[str]:
        """Return why a host may not send the event."""
        match event:
            case coordinator_events.Planned() | coordinator_events.PlanRefused() if (
                self._planning is None
            ):
                return ["no_plan_wanted"]
            case coordinator_events.Stored():
                running = self._running.get(event.checkpoint)
                waited_for = running is not None and running.storing
                if not waited_for and event.checkpoint not in self._unanswered:
                    return ["not_being_stored"]
        return []

    def take(self, event: Any) -> Sequence[Any]:  # noqa: PLR0911 - one branch per event
        """Note an event, and return the effects that it has."""
        self._now = event.now_ns
        match event:
            case coordinator_events.SchedulerStarted():
                return self._take_start(event.first_delay_ns)
            case coordinator_events.SchedulerStopped():
                return self._take_stop(event.reason)
            case coordinator_events.CheckpointRequested():
                forced = event.savepoint and not self._parameters.unaligned
                return self._submit(
                    savepoint=event.savepoint,
                    synchronous=event.synchronous,
                    forced=forced if event.forced is None else event.forced,
                )
            case coordinator_events.Planned():
                return self._take_plan(event)
            case coordinator_events.PlanRefused():
                request, self._planning = self._planning, None
                return [*self._refuse(request, event.reason), *self._choose()]
            case coordinator_events.Acknowledged():
                return self._take_acknowledgement(event)
            case coordinator_events.Declined():
                return self._take_decline(event)
            case coordinator_events.Stored():
                return self._take_stored(event)
            case coordinator_events.TimerFired():
                return self._take_timer(event)
            case coordinator_events.Cleaned():
                self._cleaning = [each for each in self._cleaning if each != event.checkpoint]
                return self._choose()
        return []

    # The scheduler -------------------------------------------------------------------------

    def _interval_ns(self) -> int | None:
        interval_ns = self._parameters.interval_ns
        return None if interval_ns is None else max(interval_ns, self._parameters.min_pause_ns)

    def _take_start(self, first_delay_ns: int) -> list[Any]:
        if self._parameters.interval_ns is None:
            return []
        return self._ticks_from(first_delay_ns, on=True)

    def _ticks_from(self, delay_ns: int, *, on: bool) -> list[Any]:
        """Let the ticks come anew from a delay on; those that came before are cancelled."""
        before, number, _ = self._ticks
        self._ticks = (on, number + 1, self._now + delay_ns)
        cancel = [coordinator_events.CancelTimer(_TICK, number)] if before else []
        return [*cancel, coordinator_events.SetTimer(_TICK, number + 1, delay_ns)]

    def _take_stop(self, reason: FailureReason) -> list[Any]:
        on, number, due_ns = self._ticks
        self._ticks = (False, number, due_ns)
        effects: list[Any] = [coordinator_events.CancelTimer(_TICK, number)] if on else []
        if self._planning is not None:
            effects.append(coordinator_events.RefuseRequest(self._planning, reason))
            self._planning = None
        queue, self._queue = self._in_order(), []
        for request in queue:
            effects += self._refuse(request, reason)
        for checkpoint in list(self._running):
            effects += self._abort(checkpoint, reason)
        return effects

    def _take_timer(self, event: coordinator_events.TimerFired) -> list[Any]:
        if event.kind is _EXPIRY:
            running = self._running.get(event.number)
            if running is None or running.storing:
                return []
            return [*self._abort(event.number, FailureReason.CHECKPOINT_EXPIRED), *self._choose()]
        on, number, due_ns = self._ticks
        interval_ns = self._interval_ns()
        if not on or event.number != number or interval_ns is None:
            return []
        self._ticks = (on, number, due_ns + interval_ns)
        again = coordinator_events.SetTimer(_TICK, number, max(0, due_ns + interval_ns - self._now))
        if self._parameters.collapse_ticks and any(each.periodic for each in self._queue):
            return [again]
        return [again, *self._submit(periodic=True)]

    # Requests ------------------------------------------------------------------------------

    def _submit(self, **options: Any) -> list[Any]:
        self._requests += 1
        request = Request(number=self._requests, submitted_ns=self._now, **options)
        too_many = FailureReason.TOO_MANY_CHECKPOINT_REQUESTS
        waiting = self._in_order()
        full = len(waiting) >= self._parameters.max_queued
        if full and not waiting[-1].periodic:
            return self._refuse(request, too_many)
        self._queue.append(request)
        if not full:
            return self._choose()
        last = self._in_order()[-1]
        self._queue = [each for each in self._queue if each is not last]
        return [*self._refuse(last, too_many), *self._choose()]

    def _in_order(self) -> list[Request]:
        """Return what waits: savepoints, then forced, then by hand, then the older ones."""
        return sorted(
            self._queue,
            key=lambda each: (
                0 if each.savepoint else 1,
                0 if each.forced else 1,
                1 if each.periodic else 0,
                each.submitted_ns,
                each.number,
            ),
        )

    def _choose(self) -> list[Any]:
        allowed = self._parameters.max_concurrent
        if not self._queue or self._planning is not None or len(self._cleaning) > allowed:
            return []
        head = self._in_order()[0]
        if len(self._running) >= allowed and not head.forced:
            return []
        self._queue = [each for each in self._queue if each is not head]
        soonest_ns = max(self._completions, default=0) + self._parameters.min_pause_ns
        soon = bool(self._completions) and self._now < soonest_ns
        if soon and head.periodic and not head.forced and len(self._running) < allowed:
            effects = self._refuse(head, FailureReason.MINIMUM_TIME_BETWEEN_CHECKPOINTS)
            on = self._ticks[0]
            return [*effects, *self._ticks_from(soonest_ns - self._now, on=on)]
        self._planning = head
        return [coordinator_events.PlanCheckpoint(head)]

    def _refuse(self, request: Request | None, reason: FailureReason) -> list[Any]:
        assert request is not None
        effects: list[Any] = [coordinator_events.RefuseRequest(request, reason)]
        if not request.savepoint and self._too_many(_Outcome(None, reason)):
            effects.append(coordinator_events.FailJob(None, reason))
        return effects

    # Failures ------------------------------------------------------------------------------

    def _too_many(self, outcome: _Outcome) -> bool:
        """Note a failure, and return whether the job is to fail of it."""
        self._outcomes.append(outcome)
        return self._failures()[1]

    def _failures(self) -> tuple[int, bool]:
        """Return how many failures count now, and whether the last outcome fails the job."""
        tolerable = self._parameters.tolerable_failures
        count, best, fails = 0, -1, False
        seen: list[int] = []
        for outcome in self._outcomes:
            number, fails = outcome.checkpoint, False
            if outcome.reason is None:
                if number is not None and number > best:
                    count, best, seen = 0, number, []
                continue
            if tolerable is None or (number is not None and number <= best):
                continue
            if outcome.reason in _COUNTED and number not in seen:
                count += 1
                seen += [] if number is None else [number]
            if count > tolerable:
                count, seen, fails = 0, [], True
        return count, fails

    # Checkpoints ---------------------------------------------------------------------------

    def _kind(self, request: Request) -> OptionKind:
        timeout_ns = self._parameters.alignment_timeout_ns
        if not self._parameters.exactly_once:
            return OptionKind.AT_LEAST_ONCE
        if request.savepoint:
            return OptionKind.SAVEPOINT
        if not self._parameters.unaligned:
            return OptionKind.ALIGNED
        timed = timeout_ns is not None and 0 < timeout_ns < MAX_TIMEOUT_NS
        return OptionKind.TIMEOUTABLE if timed else OptionKind.UNALIGNED

    def _take_plan(self, event: coordinator_events.Planned) -> list[Any]:
        request, self._planning = self._planning, None
        assert request is not None
        checkpoint, self._next = self._next, self._next + 1
        self._running[checkpoint] = _Running(request, self._now, event.await_tasks)
        kind = self._kind(request)
        timed = kind is OptionKind.TIMEOUTABLE
        timeout_ns = self._parameters.alignment_timeout_ns if timed else None
        return [
            coordinator_events.SetTimer(_EXPIRY, checkpoint, self._parameters.timeout_ns),
            coordinator_events.TriggerTasks(
                Barrier(checkpoint, self._now, kind, timeout_ns), event.trigger, request
            ),
            *self._store_if_whole(checkpoint),
            *self._choose(),
        ]

    def _take_acknowledgement(self, event: coordinator_events.Acknowledged) -> list[Any]:
        running = self._running.get(event.checkpoint)
        if running is None or event.task not in running.tasks:
            late = event.checkpoint in self._ended[-_REMEMBERED:]
            return [coordinator_events.DiscardState(event.checkpoint, event.task, late)]
        if event.task not in running.awaited:
            return []
        there = (*running.acknowledged, (event.task, self._now))
        self._running[event.checkpoint] = replace(running, acknowledged=there)
        return self._store_if_whole(event.checkpoint)

    def _store_if_whole(self, checkpoint: int) -> list[Any]:
        running = self._running[checkpoint]
        if running.awaited:
            return []
        self._running[checkpoint] = replace(running, storing=True)
        stored = coordinator_events.StoreCheckpoint(checkpoint, running.request.savepoint)
        return [coordinator_events.CancelTimer(_EXPIRY, checkpoint), stored]

    def _take_decline(self, event: coordinator_events.Declined) -> list[Any]:
        running = self._running.get(event.checkpoint)
        if running is None or running.storing:
            return []
        stops = running.request.savepoint and running.request.synchronous
        effects = self._abort(event.checkpoint, event.reason, by_task=True)
        failed = [coordinator_events.FailJob(event.checkpoint, event.reason)] if stops else []
        return [*effects, *failed, *self._choose()]

    def _take_stored(self, event: coordinator_events.Stored) -> list[Any]:
        checkpoint = event.checkpoint
        if checkpoint in self._unanswered:
            self._unanswered.remove(checkpoint)
            return []
        running = self._running[checkpoint]
        if event.failed:
            effects = self._abort(checkpoint, event.reason)
            self._unanswered.remove(checkpoint)  # this was the answer
            return [*effects, *self._choose()]
        del self._running[checkpoint]
        self._ended.append(checkpoint)
        self._outcomes.append(_Outcome(checkpoint))
        self._completions.append(self._now)
        last_ns = max((at for _, at in running.acknowledged), default=running.triggered_ns)
        effects = [
            coordinator_events.CheckpointCompleted(checkpoint, last_ns - running.triggered_ns)
        ]
        request, pushed_out = running.request, None
        if not request.savepoint:
            self._kept.append(checkpoint)
            if len(self._kept) > self._parameters.retained:
                pushed_out = self._kept.pop(0)
                effects += self._discard(pushed_out)
        if not request.savepoint or request.synchronous:
            for older in list(self._running):
                if older < checkpoint and not self._running[older].request.savepoint:
                    effects += self._abort(older, FailureReason.CHECKPOINT_SUBSUMED)
            effects.append(coordinator_events.NotifyComplete(checkpoint, pushed_out))
        return [*effects, *self._choose()]

    def _abort(self, checkpoint: int, reason: FailureReason, *, by_task: bool = False) -> list[Any]:
        running = self._running.pop(checkpoint)
        self._ended.append(checkpoint)
        effects: list[Any] = []
        if running.storing:
            self._unanswered.append(checkpoint)
        else:
            effects.append(coordinator_events.CancelTimer(_EXPIRY, checkpoint))
        effects.append(coordinator_events.CheckpointFailed(checkpoint, reason))
        request = running.request
        counts = not request.savepoint or (by_task and not request.synchronous)
        if counts and self._too_many(_Outcome(checkpoint, reason)):
            effects.append(coordinator_events.FailJob(checkpoint, reason))
        latest = self._kept[-1] if self._kept else None
        return [
            *effects,
            coordinator_events.NotifyAborted(checkpoint, latest),
            *self._discard(checkpoint),
        ]

    def _discard(self, checkpoint: int) -> list[Any]:
        if self._parameters.awaits_cleaning and checkpoint not in self._cleaning:
            self._cleaning.append(checkpoint)
        return [coordinator_events.DiscardCheckpoint(checkpoint)]
