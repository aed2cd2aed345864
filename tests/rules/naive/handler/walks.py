"""Questions to a barrier handler, and the events of its walks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ckptsim.models.barriers import AllBarriers, Barrier, HandlerKind, OptionKind
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.rules.answers import Pick, Refused
from tests.rules.naive.handler.answers import HandlerAnswers
from tests.rules.naive.handler.tracker import TrackerRules
from tests.rules.naive.naive import Rules, asked


def handler_rules(
    kind: HandlerKind,
    channels: int,
    *,
    gates: int = 1,
    after_finish: bool = True,
    counts_bytes: bool = False,
) -> Rules:
    """Return the rules of a handler of this kind."""
    if kind is HandlerKind.TRACKER:
        return TrackerRules(channels, after_finish=after_finish, counts_bytes=counts_bytes)
    return HandlerRules(
        kind, channels, gates=gates, after_finish=after_finish, counts_bytes=counts_bytes
    )


class HandlerRules(HandlerAnswers):
    """The rules with what can be asked of the core, and the events of its walks."""

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        if self._failed:
            return
        yield "latest", core.latest, self._current
        yield "pending", core.pending, self._pending
        yield "open_channels", core.open_channels, self._left
        yield "blocked", core.blocked, tuple(sorted(self._blocked))
        yield "announced", core.announced, tuple(sorted(self._announced.items()))
        yield "aligned", core.aligned, tuple(sorted(self._delivered))
        yield "target", core.target, self._target
        settled = AllBarriers.DONE if self._left == 0 else self._all
        yield "all_barriers", core.all_barriers(self._current), settled
        yield "all_barriers before", core.all_barriers(self._current - 1), AllBarriers.DONE
        if self._left:
            refused = Refused.by("unknown_checkpoint")
            yield "all_barriers behind", asked(core.all_barriers, self._current + 1), refused
        yield "clock.checkpoint", core.clock.checkpoint, self._measured
        yield "clock.running", core.clock.running, self._running is not None
        yield "clock.owed", core.clock.owed, tuple(self._owed)

    def stray(self, pick: Pick) -> Any:
        """Return what channels, timers and the host may bring next."""
        now = self._now + pick.of((0, 0, 1, 1_000_000, 3_000_000))
        there = [channel for channel in self._channels if channel not in self._ended]
        if not there:
            return None
        if self._refusable is not None and pick.one_in(5):
            return handler_events.InputRefused(now, pick.of(tuple(FailureReason)))
        channel = pick.of(there)
        checkpoint = max(0, self._current + pick.of((-1, 0, 0, 0, 0, 0, 1, 1, 2)))
        barrier = self._stray_barrier(pick, checkpoint)
        kind = pick.integer(0, 24)
        if kind < 12:
            return handler_events.BarrierArrived(now, channel, barrier, by_rpc=pick.one_in(8))
        if kind < 16 and barrier.kind is OptionKind.TIMEOUTABLE:
            return handler_events.BarrierAnnounced(now, channel, barrier, pick.integer(1, 9))
        if kind < 18 and self._set:
            return handler_events.TimerFired(now, pick.of(self._set[-2:]))
        if kind < 20:
            return handler_events.CancellationArrived(now, channel, checkpoint)
        if kind < 22:
            return handler_events.ChannelEnded(now, channel)
        return pick.of(
            (
                handler_events.BytesProcessed(pick.integer(1, 100)),
                handler_events.BytesProcessed(pick.integer(1, 100)),
                handler_events.HandlerClosed(),
                handler_events.InputRefused(now, FailureReason.IO_EXCEPTION),
                handler_events.BarrierArrived(now, pick.of((-1, len(self._channels))), barrier),
            )
        )

    def _stray_barrier(self, pick: Pick, checkpoint: int) -> Barrier:
        """Return a barrier; those of one checkpoint differ in kind only by edges and time-outs."""
        if self._barrier is not None and checkpoint == self._current and not pick.one_in(8):
            same = self._barrier
            turned = same.kind is OptionKind.TIMEOUTABLE and pick.one_in(4)
            return same.as_unaligned() if turned else same
        timestamp_ns = max(0, self._now - pick.of((0, 0, 1_000_000, 2_000_000)))
        usual = {
            HandlerKind.ALIGNED: OptionKind.ALIGNED,
            HandlerKind.ALTERNATING: OptionKind.TIMEOUTABLE,
            HandlerKind.UNALIGNED: OptionKind.UNALIGNED,
        }[self._kind]
        rare = pick.of(tuple(OptionKind))
        kind = rare if pick.one_in(10) else usual
        timed = kind is OptionKind.TIMEOUTABLE
        return Barrier(
            checkpoint, timestamp_ns, kind, pick.of((1, 2)) * 1_000_000 if timed else None
        )
