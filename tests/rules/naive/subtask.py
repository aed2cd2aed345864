"""The rules of the subtask side of a checkpoint, stated naively: from what came for each.

Source: Apache Flink 1.20.3, SubtaskCheckpointCoordinatorImpl and AsyncCheckpointRunnable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckptsim.models.barriers import Barrier, OptionKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import Naive

_REMEMBERED = 128


class SubtaskRules(Naive):
    """What the subtask side is to answer.

    `_running` has each checkpoint that was triggered and is not answered for, with what came since.
    """

    def __init__(self) -> None:
        self._newest = -1
        self._running: dict[int, tuple[Barrier, tuple[Any, ...]]] = {}
        self._aborted_early: list[int] = []
        self._failed_early: dict[int, FailureReason] = {}
        self._waits_for_input: int | None = None
        self._outputs_of: int | None = None  # whose output states are open
        self._timer: int | None = None
        self._now = 0

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        self._now = getattr(event, "now_ns", self._now)
        match event:
            case subtask_events.CheckpointInitialized():
                return self._initialize(event.barrier, whole=event.all_received)
            case subtask_events.InputReceived():
                return self._input_received(event.checkpoint)
            case subtask_events.CheckpointTriggered():
                return self._trigger(event.barrier)
            case subtask_events.CheckpointAborted():
                return self._abort(event.checkpoint, event.reason)
            case subtask_events.AbortNotified():
                return self._abort_notified(event.checkpoint)
            case subtask_events.OutputTimerFired():
                if event.checkpoint != self._timer:
                    return []
                self._timer = None
                return [subtask_events.TimeOutOutputs(event.checkpoint)]
            case _:
                return self._progress(event)

    def _initialize(self, barrier: Barrier, *, whole: bool) -> list[Any]:
        number = barrier.checkpoint
        if barrier.kind is OptionKind.TIMEOUTABLE:
            return [subtask_events.StartWriter(number), subtask_events.CloseInputState(number)]
        if barrier.kind is not OptionKind.UNALIGNED:
            return []
        self._waits_for_input = number
        start = [subtask_events.StartWriter(number), subtask_events.SavePartialRecords(number)]
        return [*start, *(self._input_received(number) if whole else [])]

    def _input_received(self, number: int) -> list[Any]:
        if number != self._waits_for_input:
            return []
        self._waits_for_input = None
        return [subtask_events.CloseInputState(number)]

    def _trigger(self, barrier: Barrier) -> list[Any]:
        number = barrier.checkpoint
        given_up = number in self._aborted_early
        self._aborted_early = [each for each in self._aborted_early if each != number]
        if number <= self._newest:
            return [subtask_events.AbortWriter(number, FailureReason.CHECKPOINT_DECLINED_SUBSUMED)]
        self._newest = number
        if given_up:
            return [
                *self._drop(number),
                subtask_events.BroadcastCancellation(number),
                subtask_events.AbortWriter(number, FailureReason.CHECKPOINT_DECLINED),
            ]
        effects: list[Any] = []
        if barrier.kind is OptionKind.FORCED_ALIGNED:
            timed = barrier.timeout_ns is not None
            kind = OptionKind.TIMEOUTABLE if timed else OptionKind.UNALIGNED
            barrier = Barrier(number, barrier.timestamp_ns, kind, barrier.timeout_ns)
            effects = self._initialize(barrier, whole=True)
        early = self._failed_early.get(number)
        heard = () if early is None else (subtask_events.ChannelStateFailed(number, early),)
        self._failed_early = {n: why for n, why in self._failed_early.items() if n > number}
        self._running[number] = (barrier, heard)
        return [
            *effects,
            subtask_events.PrepareOperators(number),
            subtask_events.BroadcastBarrier(barrier),
        ]

    # Progress of one checkpoint --------------------------------------------------------------

    def _progress(self, event: Any) -> list[Any]:
        number = event.checkpoint
        if number not in self._running:
            if isinstance(event, subtask_events.ChannelStateFailed) and number > self._newest:
                self._failed_early[number] = event.reason
            return []
        barrier, heard = self._running[number]
        self._running[number] = (barrier, (*heard, event))
        match event:
            case subtask_events.BarrierSent():
                return self._sent(event, barrier, heard)
            case subtask_events.OutputSettled(failed=False):
                return self._settled(number)
            case subtask_events.SyncPartDone():
                reasons = self._failures(number)
                start = [subtask_events.StartAsyncPart(number)]
                return self._decline(number, reasons[0]) if reasons else start
            case subtask_events.AsyncPartDone() | subtask_events.ChannelStateWritten():
                return self._acknowledge_if_whole(number)
        if self._has(number, subtask_events.SyncPartDone):
            return self._decline(number, self._failures(number)[-1])
        return []

    def _settled(self, number: int) -> list[Any]:
        if self._open_outputs(number):
            return []
        self._outputs_of = None
        return [subtask_events.CloseOutputState(number)]

    def _has(self, number: int, kind: type) -> bool:
        return any(isinstance(each, kind) for each in self._running[number][1])

    def _failures(self, number: int) -> list[FailureReason]:
        """Return why the checkpoint cannot be whole, in the order in which it was told."""
        found = []
        for each in self._running[number][1]:
            if isinstance(each, subtask_events.ChannelStateFailed | subtask_events.AsyncPartFailed):
                found.append(each.reason)
            elif isinstance(each, subtask_events.OutputSettled) and each.failed:
                found.append(FailureReason.CHECKPOINT_ASYNC_EXCEPTION)
        return found

    def _open_outputs(self, number: int) -> int:
        heard = self._running[number][1]
        sent = [at for at, each in enumerate(heard) if isinstance(each, subtask_events.BarrierSent)]
        opened = heard[sent[-1]].open_outputs if sent else 0
        since = heard[sent[-1] :] if sent else heard
        settled = [each.count for each in since if isinstance(each, subtask_events.OutputSettled)]
        return int(opened - sum(settled))

    def _holds_data(self, barrier: Barrier) -> bool:
        return barrier.kind in (OptionKind.UNALIGNED, OptionKind.TIMEOUTABLE)

    def _sent(
        self, event: subtask_events.BarrierSent, barrier: Barrier, heard: tuple[Any, ...]
    ) -> list[Any]:
        number = barrier.checkpoint
        effects = self._cancel_timer()
        if barrier.kind is OptionKind.TIMEOUTABLE and barrier.timeout_ns is not None:
            self._timer = number
            left_ns = barrier.timestamp_ns + barrier.timeout_ns - self._now
            effects.append(subtask_events.SetOutputTimer(number, max(0, left_ns)))
        written = any(isinstance(each, subtask_events.ChannelStateWritten) for each in heard)
        if event.open_outputs:
            self._outputs_of = number
        elif self._holds_data(barrier) and not written:
            effects.append(subtask_events.CloseOutputState(number))
        return [*effects, subtask_events.SnapshotOperators(barrier)]

    def _acknowledge_if_whole(self, number: int) -> list[Any]:
        barrier, heard = self._running[number]
        sizes = [
            each.bytes for each in heard if isinstance(each, subtask_events.ChannelStateWritten)
        ]
        if not self._has(number, subtask_events.AsyncPartDone) or (
            self._holds_data(barrier) and not sizes
        ):
            return []
        size = sizes[-1] if sizes else 0
        del self._running[number]
        return [subtask_events.AcknowledgeCheckpoint(number, size, unaligned=size > 0)]

    def _decline(self, number: int, reason: FailureReason) -> list[Any]:
        del self._running[number]
        return [
            subtask_events.CancelAsyncPart(number),
            subtask_events.DeclineCheckpoint(number, reason),
        ]

    # Ends ------------------------------------------------------------------------------------

    def _abort(self, number: int, reason: FailureReason) -> list[Any]:
        self._newest = max(self._newest, number)
        self._aborted_early = [each for each in self._aborted_early if each >= self._newest]
        return [
            *self._drop(number),
            subtask_events.AbortWriter(number, reason),
            subtask_events.DeclineCheckpoint(number, reason),
            subtask_events.BroadcastCancellation(number),
        ]

    def _abort_notified(self, number: int) -> list[Any]:
        early = number > self._newest and number not in self._running
        if early and number not in self._aborted_early:
            self._aborted_early = [*self._aborted_early, number][-_REMEMBERED:]
        return [
            *self._drop(number),
            subtask_events.AbortWriter(number, FailureReason.CHECKPOINT_DECLINED),
        ]

    def _drop(self, number: int) -> list[Any]:
        effects: list[Any] = []
        if self._waits_for_input == number:
            self._waits_for_input = None
        if number in self._running:
            del self._running[number]
            effects.append(subtask_events.CancelAsyncPart(number))
        if self._outputs_of == number:
            self._outputs_of = None
            effects.append(subtask_events.AbortOutputs(number))
        if self._timer == number:
            effects += self._cancel_timer()
        return effects

    def _cancel_timer(self) -> list[Any]:
        number, self._timer = self._timer, None
        return [] if number is None else [subtask_events.CancelOutputTimer(number)]

    # Questions and stray events --------------------------------------------------------------

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield "last", core.last, self._newest
        yield "running", core.running, tuple(self._running)

    def stray(self, pick: Pick) -> Any:
        """Return what handler, coordinator, operators, outputs and files may bring next."""
        now = self._now + pick.of((0, 1_000_000))
        fresh = max(0, self._newest + pick.of((-1, 0, 1, 1, 1, 2)))
        kind = pick.of(tuple(OptionKind))
        timed = kind is OptionKind.TIMEOUTABLE or (
            kind is OptionKind.FORCED_ALIGNED and pick.one_in(2)
        )
        barrier = Barrier(fresh, max(0, now - 1_000_000), kind, 3_000_000 if timed else None)
        reason = pick.of(tuple(FailureReason))
        if pick.one_in(4) or not self._running:
            return pick.of(
                (
                    subtask_events.CheckpointTriggered(now, barrier),
                    subtask_events.CheckpointTriggered(now, barrier),
                    subtask_events.CheckpointInitialized(barrier, all_received=pick.one_in(2)),
                    subtask_events.CheckpointAborted(fresh, reason),
                    subtask_events.AbortNotified(fresh),
                    subtask_events.ChannelStateFailed(fresh, reason),
                    subtask_events.InputReceived(fresh),
                )
            )
        number = pick.of([*self._running, *self._running, fresh])
        heard = self._running[number][1] if number in self._running else ()
        if not any(
            isinstance(each, subtask_events.BarrierSent) for each in heard
        ) and not pick.one_in(4):
            return subtask_events.BarrierSent(now, number, pick.of((0, 0, 2)))
        return pick.of(
            (
                subtask_events.OutputSettled(number, pick.of((1, 2)), failed=pick.one_in(4)),
                subtask_events.SyncPartDone(number),
                subtask_events.SyncPartDone(number),
                subtask_events.AsyncPartDone(number),
                subtask_events.ChannelStateWritten(number, pick.of((0, 7))),
                subtask_events.AsyncPartFailed(number),
                subtask_events.ChannelStateFailed(number, reason),
                subtask_events.OutputTimerFired(number),
                subtask_events.InputReceived(number),
                subtask_events.AbortNotified(number),
                subtask_events.CheckpointAborted(number, reason),
            )
        )
