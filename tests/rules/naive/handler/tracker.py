"""The rules of the at-least-once tracker, stated naively.

Source: Apache Flink 1.20.3, CheckpointBarrierTracker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.models.barriers import Barrier, OptionKind
from ckptsim.models.barriers.handler import AllBarriers
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.rules.answers import Answer, Pick
from tests.rules.naive.handler.clock import ClockRules

_CANCELLED = FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER
_TRACKED_MAX = 50


@dataclass(frozen=True, slots=True)
class _Open:
    """A checkpoint that began; no barrier: it is known by a cancellation."""

    checkpoint: int
    barrier: Barrier | None
    target: int
    channels: frozenset[int]
    aborted: bool

    @property
    def whole(self) -> bool:
        return len(self.channels) == self.target


class TrackerRules(ClockRules):
    """What a tracker is to answer."""

    def __init__(
        self, channels: int, *, after_finish: bool = True, counts_bytes: bool = False
    ) -> None:
        super().__init__(counts_bytes=counts_bytes)
        self._channels = range(channels)
        self._after_finish = after_finish
        self._ended: list[int] = []
        self._list: list[_Open] = []
        self._highest = -1
        self._failed = False

    @property
    def _left(self) -> int:
        return len(self._channels) - len(self._ended)

    def refusals(self, event: Any) -> list[str]:
        """Return why a host may not send the event."""
        if isinstance(event, handler_events.TimerFired | handler_events.InputRefused):
            return ["not_of_a_tracker"]
        bad = getattr(event, "channel", 0) not in self._channels
        return (
            ["unknown_channel"]
            if bad and not isinstance(event, handler_events.BarrierAnnounced)
            else []
        )

    def answer(self, event: Any) -> Answer | None:
        """Return what the core is to answer; nothing is promised of a task that has failed."""
        return None if self._failed else super().answer(event)

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        effects = self._effects(event)
        self._failed = any(isinstance(effect, handler_events.FailTask) for effect in effects)
        return effects

    def _effects(self, event: Any) -> list[Any]:
        self._now = getattr(event, "now_ns", self._now)
        match event:
            case handler_events.BytesProcessed():
                return self._bytes(event.count)
            case handler_events.BarrierArrived():
                return self._barrier(event.channel, event.barrier)
            case handler_events.CancellationArrived():
                return self._cancelled(event.channel, event.checkpoint)
            case handler_events.ChannelEnded():
                return self._channel_ended(event.channel)
        return []

    def _barrier(self, channel: int, barrier: Barrier) -> list[Any]:
        checkpoint = barrier.checkpoint
        fresh = checkpoint > self._highest
        if fresh and self._left == 1:
            return [*self._begin(barrier), *self._end(0), *self._trigger(barrier)]
        if any(each.checkpoint == checkpoint for each in self._list):
            self._count(checkpoint, channel)
            whole = next(each for each in self._list if each.checkpoint == checkpoint).whole
            return self._finish(checkpoint) if whole else []
        if not fresh:
            return []
        self._highest = checkpoint
        begun = _Open(checkpoint, barrier, self._left, frozenset({channel}), aborted=False)
        self._list = [*self._list, begun][-_TRACKED_MAX:]
        return self._begin(barrier)

    def _count(self, checkpoint: int, channel: int) -> None:
        self._list = [
            replace(each, channels=each.channels | {channel})
            if each.checkpoint == checkpoint
            else each
            for each in self._list
        ]

    def _finish(self, checkpoint: int) -> list[Any]:
        """Trigger a whole checkpoint, unless it was aborted; it and those before it are over."""
        at = [each.checkpoint for each in self._list].index(checkpoint)
        done, self._list = self._list[at], self._list[at + 1 :]
        if done.aborted or done.barrier is None:
            return []
        effects = self._aligned_now() if checkpoint == self._highest else []
        if any(isinstance(effect, handler_events.FailTask) for effect in effects):
            return effects
        return [*effects, *self._trigger(done.barrier)]

    def _cancelled(self, channel: int, checkpoint: int) -> list[Any]:
        if checkpoint > self._highest and self._left == 1:
            return [*self._reset(), handler_events.AbortCheckpoint(checkpoint, _CANCELLED)]
        effects: list[Any] = []
        while self._list and self._list[0].checkpoint < checkpoint:
            effects += self._aborted(self._list.pop(0), _CANCELLED)
        if self._list and self._list[0].checkpoint == checkpoint:
            effects += self._aborted(self._list[0], _CANCELLED)
            self._list[0] = replace(self._list[0], aborted=True)
            self._count(checkpoint, channel)
            if self._list[0].whole:
                self._list = self._list[1:]
        elif checkpoint > self._highest:
            effects.append(handler_events.AbortCheckpoint(checkpoint, _CANCELLED))
            self._highest = checkpoint
            marker = _Open(checkpoint, None, self._left, frozenset({channel}), aborted=True)
            self._list = [marker, *self._list]
        return effects

    def _aborted(self, one: _Open, reason: FailureReason) -> list[Any]:
        return [] if one.aborted else [handler_events.AbortCheckpoint(one.checkpoint, reason)]

    def _channel_ended(self, channel: int) -> list[Any]:
        self._ended.append(channel)
        effects: list[Any] = []
        if not self._after_finish:
            for each in self._list:
                effects += self._aborted(
                    each, FailureReason.CHECKPOINT_DECLINED_INPUT_END_OF_STREAM
                )
            self._list = []
            return [*effects, *self._reset()]
        for each in reversed(list(self._list)):  # those behind the first whole one are not counted
            self._count(each.checkpoint, channel)
            if len(each.channels | {channel}) == each.target:
                return self._finish(each.checkpoint)
        return []

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        latest = self._list[-1].checkpoint if self._list else -1
        yield "latest", core.latest, latest
        yield "pending", core.pending, bool(self._list)
        numbers = tuple(each.checkpoint for each in self._list)
        yield "pending_checkpoints", core.pending_checkpoints, numbers
        yield "open_channels", core.open_channels, self._left
        yield "all_barriers", core.all_barriers(latest), AllBarriers.DONE

    def stray(self, pick: Pick) -> Any:
        """Return what channels may bring next, and what belongs to other handlers."""
        now = self._now + pick.of((0, 1, 4_000_000))
        there = [channel for channel in self._channels if channel not in self._ended]
        if not there:
            return None
        # One channel lags behind, so that several checkpoints lack nothing but its barrier or end.
        channel = pick.of(there if pick.one_in(3) else there[:-1] or there)
        checkpoint = max(0, self._highest + pick.of((-2, -1, 0, 0, 0, 1, 1, 2)))
        barrier = Barrier(checkpoint, checkpoint * 1_000_000, OptionKind.AT_LEAST_ONCE)
        kind = pick.integer(0, 15)
        if kind < 9:
            return handler_events.BarrierArrived(now, channel, barrier)
        if kind < 11:
            return handler_events.CancellationArrived(now, channel, checkpoint)
        if kind == 11:
            return handler_events.ChannelEnded(now, there[-1])
        return pick.of(
            (
                handler_events.BytesProcessed(pick.integer(1, 100)),
                handler_events.ChannelEnded(now, channel),
                handler_events.BarrierAnnounced(now, channel, barrier, 1),
                handler_events.HandlerClosed(),
                handler_events.TimerFired(now, barrier),
                handler_events.InputRefused(now, FailureReason.IO_EXCEPTION),
                handler_events.BarrierArrived(now, pick.of((-1, len(self._channels))), barrier),
            )
        )
