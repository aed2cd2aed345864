"""Questions to a coordinator, and the events of its walks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ckptsim.models.barriers.barrier import MAX_TIMEOUT_NS
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.coordinator.answers import CoordinatorAnswers

_TICK, _EXPIRY = coordinator_events.TimerKind.TICK, coordinator_events.TimerKind.EXPIRY


class CoordinatorRules(CoordinatorAnswers):
    """The rules with what can be asked of the core, and the events of its walks."""

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield "pending", core.pending, tuple(self._running)
        yield "completed", core.completed, tuple(self._kept)
        yield "latest_completed", core.latest_completed, self._kept[-1] if self._kept else None
        yield "next_checkpoint", core.next_checkpoint, self._next
        yield "queued", core.queued, tuple(self._in_order())
        yield "failures", core.failures, self._failures()[0]
        yield "planning", core.planning, self._planning is not None
        for checkpoint in range(max(0, self._next - 3), self._next + 1):
            running = self._running.get(checkpoint)
            awaited = running.awaited if running else ()
            yield f"awaited of {checkpoint}", core.awaited(checkpoint), awaited

    def stray(self, pick: Pick) -> Any:
        """Return what tasks, timers, a store, a planner or an operator may send next."""
        now = self._now + pick.of((0, 1, 5_000_000, 40_000_000))
        if self._planning is not None and not pick.one_in(4):
            tasks = tuple(range(pick.integer(0, 3)))
            return pick.of(
                (
                    coordinator_events.Planned(now, tasks, tasks),
                    coordinator_events.Planned(now, (0,), (0, 1, 2)),
                    coordinator_events.PlanRefused(now),
                    coordinator_events.PlanRefused(now, FailureReason.IO_EXCEPTION),
                )
            )
        known = [*self._running, *self._ended[-2:], *self._unanswered, *self._kept[-1:]]
        checkpoint = pick.of([*known, self._next] if known else [self._next])
        storing = [number for number, one in self._running.items() if one.storing]
        # While one is stored, others that run may be acknowledged, and be stored beside it.
        others = [number for number in self._running if number not in storing]
        if storing and (pick.one_in(6) if others else not pick.one_in(3)):
            number = pick.of(storing)
            return coordinator_events.Stored(now, number, failed=pick.one_in(4))
        if len(self._running) < self._crowd and pick.one_in(2):
            return self._asks(pick, now)
        if self._running and not pick.one_in(3):
            # Newer ones as often come first, which subsumes those before them.
            among = others if others and not pick.one_in(6) else list(self._running)
            number = pick.of((*among, *[max(among)] * len(among)))
            awaited = self._running[number].awaited or (0,)
            return pick.of(
                (coordinator_events.Acknowledged(now, number, pick.of(awaited)),) * 3
                + (
                    coordinator_events.Declined(now, number, 0, pick.of(tuple(FailureReason))),
                    coordinator_events.TimerFired(now, _EXPIRY, number),
                )
            )
        return self._stray_of_anybody(pick, now, checkpoint)

    @property
    def _crowd(self) -> int:
        """Return how many checkpoints had better be under way together."""
        most = 3 if self._parameters.max_concurrent > 1 else 1
        return 0 if len(self._in_order()) > most else most

    def _asks(self, pick: Pick, now: int) -> coordinator_events.CheckpointRequested:
        return coordinator_events.CheckpointRequested(
            now,
            savepoint=not pick.one_in(2),
            synchronous=pick.one_in(3),
            forced=pick.of((None, None, True, False)),
        )

    def _stray_of_anybody(self, pick: Pick, now: int, checkpoint: int) -> Any:
        reason = pick.of(tuple(FailureReason))
        asks = self._asks(pick, now)
        tick = coordinator_events.TimerFired(now, _TICK, self._ticks[1])
        return pick.of(
            [
                *([asks] * 4),
                *([tick] * 4),
                coordinator_events.SchedulerStarted(now, pick.of((0, 7_000_000))),
                coordinator_events.SchedulerStarted(now, 3_000_000),
                coordinator_events.SchedulerStopped(now, reason),
                coordinator_events.Planned(now, (0,), (0,)),
                coordinator_events.PlanRefused(now),
                coordinator_events.Acknowledged(now, checkpoint, pick.integer(0, 3)),
                coordinator_events.Declined(now, checkpoint, 0, reason),
                coordinator_events.Stored(now, checkpoint, failed=pick.one_in(2), reason=reason),
                coordinator_events.TimerFired(now, _TICK, self._ticks[1] - 1),
                coordinator_events.TimerFired(now, _EXPIRY, checkpoint),
                coordinator_events.Cleaned(now, pick.of(self._cleaning or [checkpoint])),
            ]
        )


def drawn_parameters(pick: Pick) -> CoordinatorParameters:
    """Return settings that Flink accepts, at and around their bounds."""
    unaligned = pick.one_in(2)
    return CoordinatorParameters(
        interval_ns=pick.of((None, 10_000_000, 10_000_000)),
        timeout_ns=pick.of((1, 50_000_000)),
        min_pause_ns=pick.of((0, 0, 5_000_000, 20_000_000)),
        max_concurrent=1 if unaligned else pick.integer(1, 3),
        tolerable_failures=pick.of((None, 0, 0, 1, 2)),
        retained=pick.integer(1, 3),
        max_queued=pick.of((1000, 1, 2)),
        exactly_once=unaligned or not pick.one_in(3),
        unaligned=unaligned,
        alignment_timeout_ns=pick.of((None, 0, 1, 7_000_000, MAX_TIMEOUT_NS - 1, MAX_TIMEOUT_NS)),
        collapse_ticks=pick.one_in(2),
        awaits_cleaning=pick.one_in(3),
    )
