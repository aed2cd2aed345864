"""Faulty barrier handlers. Each factory is in for `make_handler`."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.handler import (
    BarrierHandler,
    HandlerKind,
    SingleCheckpointHandler,
    make_handler,
)
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.handler.states import Input


class GateLocalLookup(SingleCheckpointHandler):
    """Starts the first gate as often as there are gates."""

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Send every start to gate 0."""
        return [
            replace(effect, gate=0) if isinstance(effect, handler_events.StartInput) else effect
            for effect in super().step(event)
        ]


class SnapshotOneStepLate(SingleCheckpointHandler):
    """Holds the trigger of an unaligned checkpoint back until something else happens."""

    __slots__ = ("_late",)

    def __init__(
        self, kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
    ) -> None:
        super().__init__(kind, channels, gates=gates, after_finish=after_finish)
        self._late: list[handler_events.HandlerEffect] = []

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Let the held trigger go first."""
        effects, self._late = self._late, []
        for effect in super().step(event):
            if isinstance(effect, handler_events.TriggerCheckpoint) and effect.barrier.is_unaligned:
                self._late.append(effect)
            else:
                effects.append(effect)
        return effects


class ClockNotStartedAfterAnnouncement(SingleCheckpointHandler):
    """Lets only a barrier that opens its checkpoint start the clock."""

    __slots__ = ("_announced_first",)

    def __init__(
        self, kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
    ) -> None:
        super().__init__(kind, channels, gates=gates, after_finish=after_finish)
        self._announced_first = -1

    def _announcement(self, event: handler_events.BarrierAnnounced) -> None:
        if event.barrier.checkpoint > self._current:
            self._announced_first = event.barrier.checkpoint
        super()._announcement(event)

    def _mark(self, channel: int, barrier: Barrier, given: Input, *, by_rpc: bool) -> None:
        skipped = barrier.checkpoint == self._announced_first and not self._aligned
        if skipped and self._target > 1:
            self._aligned.add(-1)  # as if the clock had been started before
            super()._mark(channel, barrier, given, by_rpc=by_rpc)
            self._aligned.discard(-1)
        else:
            super()._mark(channel, barrier, given, by_rpc=by_rpc)


class ObsoleteBarrierNotResumed(SingleCheckpointHandler):
    """Leaves the sender of an obsolete barrier where it stopped."""

    def _barrier(self, event: handler_events.BarrierArrived) -> None:
        if not self._is_obsolete(event.barrier.checkpoint):
            super()._barrier(event)


def gate_local_lookup(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Make a handler that starts only the first gate."""
    return _single(GateLocalLookup, kind, channels, gates, after_finish)


def snapshot_one_step_late(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Make a handler with an unaligned trigger that comes late."""
    return _single(SnapshotOneStepLate, kind, channels, gates, after_finish)


def clock_not_started_after_announcement(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Make a handler with a clock that an announcement keeps from starting."""
    return _single(ClockNotStartedAfterAnnouncement, kind, channels, gates, after_finish)


def end_of_partition_aborts(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Make a handler that knows no checkpoints after tasks have finished."""
    del after_finish
    return make_handler(kind, channels, gates=gates, after_finish=False)


def obsolete_barrier_not_resumed(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Make a handler that forgets who is after an obsolete barrier."""
    return _single(ObsoleteBarrierNotResumed, kind, channels, gates, after_finish)


def _single(
    faulty: type[SingleCheckpointHandler],
    kind: HandlerKind,
    channels: int,
    gates: int,
    after_finish: bool,
) -> BarrierHandler:
    """Make the faulty handler, or a right tracker where the job has one."""
    if kind is HandlerKind.TRACKER:
        return make_handler(kind, channels, gates=gates, after_finish=after_finish)
    return faulty(kind, channels, gates=gates, after_finish=after_finish)
