"""The rules of a barrier handler that takes one checkpoint at a time, stated naively.

Source: Apache Flink 1.20.3, SingleCheckpointBarrierHandler and its states, as docs/dataflow.md
tells them: what happens is written out here state by state, where the core runs tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckptsim.models.barriers import AllBarriers, Barrier, HandlerKind, OptionKind
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.rules.answers import Answer, Refused
from tests.rules.naive.handler.clock import ClockRules

_TURNS = (OptionKind.ALIGNED, OptionKind.TIMEOUTABLE, OptionKind.UNALIGNED)


class _FailedError(Exception):
    """The task fails in the middle of a state's work."""


class HandlerAnswers(ClockRules):
    """What a handler is to answer.

    `_overtaking` says whether barriers of the checkpoint overtake already, `_collecting` whether
    one has been taken: together they are the state of an alternating handler.
    """

    def __init__(
        self,
        kind: HandlerKind,
        channels: int,
        *,
        gates: int = 1,
        after_finish: bool = True,
        counts_bytes: bool = False,
    ) -> None:
        super().__init__(counts_bytes=counts_bytes)
        self._kind = kind
        self._channels = range(channels)
        self._gates = range(gates)
        self._after_finish = after_finish
        self._ended: list[int] = []
        self._current = -1
        self._over = -1  # the newest that is complete or given up
        self._barrier: Barrier | None = None
        self._delivered: set[int] = set()
        self._target = 0
        self._all = AllBarriers.OPEN
        self._timers = 0
        self._timer: int | None = None
        self._set: list[Barrier] = []  # of timers, for strays
        self._blocked: set[int] = set()
        self._announced: dict[int, int] = {}
        self._overtaking = kind is HandlerKind.UNALIGNED
        self._collecting = False
        self._refusable: tuple[Any, ...] | None = None
        self._failed = False
        self._out: list[Any] = []

    @property
    def _left(self) -> int:
        return len(self._channels) - len(self._ended)

    @property
    def _pending(self) -> bool:
        return self._current >= 0 and self._current != self._over

    @property
    def _full(self) -> bool:
        return len(self._delivered) == self._target

    def refusals(self, event: Any) -> list[str]:
        """Return why a host may not send the event."""
        if isinstance(event, handler_events.InputRefused):
            return [] if self._refusable is not None else ["nothing_to_refuse"]
        known = getattr(event, "channel", 0) in self._channels
        return [] if known else ["unknown_channel"]

    def answer(self, event: Any) -> Answer | None:
        """Return what the core is to answer; nothing is promised of a task that has failed."""
        answer = None if self._failed else super().answer(event)
        if isinstance(answer, Refused):
            self._refusable = None  # a refusal of the input comes before anything else, or never
        return answer

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        self._out = []
        self._now = getattr(event, "now_ns", self._now)
        refusable, self._refusable = self._refusable, None
        try:
            self._take(event, refusable)
        except _FailedError:
            self._failed = True
        return self._out

    def _take(self, event: Any, refusable: tuple[Any, ...] | None) -> None:
        match event:
            case handler_events.BarrierArrived():
                self._barrier_arrived(event)
            case handler_events.BarrierAnnounced():
                self._begin_if_new(event.barrier)
                if not self._is_over(event.barrier.checkpoint):
                    self._announcement(event.channel, event.sequence)
            case handler_events.CancellationArrived():
                number = event.checkpoint
                if number > self._current or (number == self._current and self._delivered):
                    self._abort(number, FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER)
            case handler_events.ChannelEnded():
                self._channel_ended(event.channel)
            case handler_events.BytesProcessed():
                self._out += self._bytes(event.count)
            case handler_events.TimerFired():
                self._time_out(event.barrier)
                self._timer = None
            case handler_events.InputRefused():
                self._undo(refusable)
                self._abort(self._current, event.reason)
            case handler_events.HandlerClosed():
                self._cancel_timer()
                self._settle(AllBarriers.FAILED)

    def _channel_ended(self, channel: int) -> None:
        self._ended.append(channel)
        if self._pending and not self._after_finish:
            self._abort(self._current, FailureReason.CHECKPOINT_DECLINED_INPUT_END_OF_STREAM)
        elif self._pending and self._barrier is not None:
            self._deliver(channel, self._barrier, ended=True)

    def _is_over(self, checkpoint: int) -> bool:
        return checkpoint < self._current or (checkpoint == self._current and not self._pending)

    def _barrier_arrived(self, event: handler_events.BarrierArrived) -> None:
        if self._is_over(event.barrier.checkpoint):
            if event.barrier.kind is not OptionKind.UNALIGNED:
                self._out.append(handler_events.ResumeChannels((event.channel,)))
            return
        self._begin_if_new(event.barrier)
        self._deliver(event.channel, event.barrier, by_rpc=event.by_rpc)

    def _begin_if_new(self, barrier: Barrier) -> None:
        if self._current >= barrier.checkpoint:
            return
        if self._pending:
            self._abort(self._current, FailureReason.CHECKPOINT_DECLINED_SUBSUMED)
        self._current, self._barrier = barrier.checkpoint, barrier
        self._delivered, self._target, self._all = set(), self._left, AllBarriers.OPEN
        timed = barrier.kind is OptionKind.TIMEOUTABLE and self._kind is HandlerKind.ALTERNATING
        if timed and barrier.timeout_ns is not None:
            self._timers += 1
            self._timer = self._timers
            self._set.append(barrier)
            delay_ns = max(0, barrier.timestamp_ns + barrier.timeout_ns - self._now)
            self._out.append(handler_events.SetTimer(self._timer, delay_ns, barrier))

    def _deliver(
        self, channel: int, barrier: Barrier, *, by_rpc: bool = False, ended: bool = False
    ) -> None:
        """Count a channel, then do what the state does with a barrier or the end of a channel."""
        self._delivered = self._delivered | {channel}
        if len(self._delivered) == 1:
            self._out += self._begin(barrier)
            if self._full:
                self._out += self._end(0)
        elif self._full:
            self._out += self._aligned_now()
            if isinstance(self._out[-1] if self._out else None, handler_events.FailTask):
                raise _FailedError
        before = (self._timer, self._over, self._all)
        if ended:
            self._end_in_state(channel, barrier, before)
        else:
            self._barrier_in_state(channel, barrier, before, blocks=not by_rpc)
        if self._full:
            self._delivered, self._over = set(), self._current
            self._cancel_timer()
            self._settle(AllBarriers.DONE)

    # What the states do ----------------------------------------------------------------------

    def _late(self, barrier: Barrier) -> bool:
        """Return whether the barrier is behind its time-out, which nobody has noticed yet."""
        timed = barrier.kind is OptionKind.TIMEOUTABLE and barrier.timeout_ns is not None
        return timed and self._now - barrier.timestamp_ns > (barrier.timeout_ns or 0)

    def _barrier_in_state(
        self, channel: int, barrier: Barrier, before: tuple[Any, ...], *, blocks: bool
    ) -> None:
        unaligned = barrier.kind is OptionKind.UNALIGNED
        if self._kind is HandlerKind.ALIGNED and unaligned:
            self._fail()
        if not unaligned:
            if not self._overtaking:
                self._announced.pop(channel, None)
            if blocks:
                self._blocked = self._blocked | {channel}
                self._out.append(handler_events.BlockChannel(channel))
        if self._overtaking:
            self._overtake(barrier, before)
        elif unaligned or (self._alternates and not self._full and self._late(barrier)):
            self._turn(barrier, before)
            self._overtake(barrier.as_unaligned(), before)
        else:
            self._align(barrier, before)

    @property
    def _alternates(self) -> bool:
        return self._kind is HandlerKind.ALTERNATING

    def _align(self, barrier: Barrier, before: tuple[Any, ...]) -> None:
        if not self._full:
            self._collecting = True
            return
        if self._alternates:
            self._prepare(barrier, before)
        self._out += self._trigger(barrier)
        self._resume()
        self._collecting = False

    def _turn(self, barrier: Barrier, before: tuple[Any, ...]) -> None:
        """Let barriers overtake from now on; the snapshot of one that was taken is due now."""
        if self._announced:
            self._out.append(
                handler_events.PrioritizeBarriers(tuple(sorted(self._announced.items())))
            )
            self._announced = {}
        if self._collecting:
            self._start(barrier, before)
        self._overtaking = True

    def _overtake(self, barrier: Barrier, before: tuple[Any, ...]) -> None:
        if not self._collecting:
            if barrier.kind is OptionKind.SAVEPOINT:
                self._fail(bad_argument=True)
            if barrier.kind not in _TURNS:
                self._fail()
            self._start(barrier, before)
            self._collecting = True
        if self._full:
            self._finish(barrier.checkpoint)

    def _finish(self, checkpoint: int) -> None:
        self._out += [handler_events.StopInput(gate, checkpoint) for gate in self._gates]
        self._resume()
        self._home()

    def _start(self, barrier: Barrier, before: tuple[Any, ...]) -> None:
        unaligned = barrier.as_unaligned()
        self._prepare(unaligned, before)
        self._out += [handler_events.StartInput(gate, unaligned) for gate in self._gates]
        self._out += self._trigger(unaligned)

    def _prepare(self, barrier: Barrier, before: tuple[Any, ...]) -> None:
        state = (self._collecting, self._overtaking, self._blocked)
        self._refusable = (state, before)
        self._out.append(handler_events.InitializeInput(barrier))

    def _end_in_state(self, channel: int, barrier: Barrier, before: tuple[Any, ...]) -> None:
        self._blocked = self._blocked - {channel}
        self._announced.pop(channel, None)
        if not self._collecting:
            return  # no barrier has been taken: nothing is triggered
        if self._overtaking:
            self._overtake(barrier, before)
        elif self._alternates and barrier.kind is OptionKind.UNALIGNED:
            self._fail()
        elif self._full or not (self._alternates and self._late(barrier)):
            self._align(barrier, before)
        else:
            self._turn(barrier, before)
            self._overtake(barrier, before)

    def _announcement(self, channel: int, sequence: int) -> None:
        if self._overtaking:
            self._out.append(handler_events.PrioritizeBarriers(((channel, sequence),)))
        elif self._alternates:
            self._announced[channel] = sequence

    def _time_out(self, barrier: Barrier) -> None:
        waits = self._all is AllBarriers.OPEN and self._left > 0
        if barrier.checkpoint != self._current or not waits:
            return
        before = (self._timer, self._over, self._all)
        if self._kind is HandlerKind.ALIGNED:
            self._fail()
        if not self._overtaking:
            self._turn(barrier, before)

    # The end of a checkpoint -----------------------------------------------------------------

    def _abort(self, checkpoint: int, reason: FailureReason) -> None:
        self._current = max(self._current, checkpoint)
        self._over = max(self._over, checkpoint)
        self._barrier, self._delivered, self._target = None, set(), 0
        self._cancel_timer()
        if self._overtaking and self._collecting:
            self._finish(checkpoint)
        else:
            self._resume()
            self._home()
        if checkpoint == self._current:
            self._out += self._reset()
        self._out.append(handler_events.AbortCheckpoint(checkpoint, reason))
        self._settle(AllBarriers.FAILED)

    def _undo(self, refusable: tuple[Any, ...] | None) -> None:
        """Go back to the state before the input was prepared: the host has done nothing since."""
        assert refusable is not None
        state, before = refusable
        self._collecting, self._overtaking, self._blocked = state
        self._timer, self._over, self._all = before
        self._owed = [number for number in self._owed if number != self._current]
        self._refusable = None

    def _home(self) -> None:
        self._collecting = False
        self._overtaking = self._kind is HandlerKind.UNALIGNED

    def _resume(self) -> None:
        if self._blocked:
            self._out.append(handler_events.ResumeChannels(tuple(sorted(self._blocked))))
        self._blocked, self._announced = set(), {}

    def _settle(self, outcome: AllBarriers) -> None:
        if self._all is AllBarriers.OPEN:
            self._all = outcome
            if outcome is AllBarriers.DONE:
                self._out.append(handler_events.AllBarriersReceived(self._current))

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._out.append(handler_events.CancelTimer(self._timer))
        self._timer = None

    def _fail(self, *, bad_argument: bool = False) -> None:
        self._out.append(handler_events.FailTask("", bad_argument=bad_argument))
        raise _FailedError
