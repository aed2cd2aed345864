"""Mutants of whole cores: each shows what a find looks like.

A mutant is made like the right core and differs in one rule.  Each takes the slot of its core, as a
core of yours does.
"""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models import ordering
from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.channel_state import SharedStateWriter
from ckptsim.models.barriers.handler import (
    BarrierHandler,
    BarrierTracker,
    HandlerKind,
    SingleCheckpointHandler,
    make_handler,
)
from ckptsim.models.coordinator import CheckpointCoordinator
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.lifecycle import TaskLifecycle
from ckptsim.models.lifecycle.tables import Act
from ckptsim.models.ordering.events import Effect
from ckptsim.models.store.client import Parts, StoreClient
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.medium import ModelMedium
from ckptsim.models.store.settings import Order, Placement, SyncRules
from ckptsim.models.store.state import PartitionState
from ckptsim.models.store.topics import TopicPartition
from ckptsim.models.store.versions import StoreVersions
from ckptsim.sim.mutants.mutant import Mutant, by_name, of_slot


class NoOrderingShelf(ordering.release.Shelf):
    """Any state may go."""

    def candidates(self) -> list[ordering.release.PendingState]:
        """Return all states in the order of arrival."""
        return list(self._pending.values())


class GapsToleratedShelf(ordering.release.Shelf):
    """The lowest state may go, whether its predecessor went or not."""

    def candidates(self) -> list[ordering.release.PendingState]:
        """Return the state with the lowest index."""
        head = self.head
        return [] if head is None else [self._pending[head]]


class ArrivalOrderShelf(ordering.release.Shelf):
    """The state that came first may go."""

    def candidates(self) -> list[ordering.release.PendingState]:
        """Return the state that arrived first."""
        return list(self._pending.values())[:1]


class CursorFirstReleaser(ordering.release.Releaser):
    """The cursor moves before the send, and stays where it is when the send fails."""

    def _send(self, state: ordering.release.PendingState) -> Effect:
        effect = super()._send(state)
        self._shelves.of(state.scope).last_released = state.key.index
        return effect


class NeverTimesOut(SingleCheckpointHandler):
    """Sets no alignment timer."""

    def _set_timer(self, barrier: Barrier) -> None:
        del barrier


class TrackerStopsAnyClock(BarrierTracker):
    """Ends the clock for every checkpoint that completes."""

    def _finish(self, position: int) -> None:
        self._clock.stop(self._now_ns, self._effects)
        super()._finish(position)


def never_times_out(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Make a handler without alignment timers."""
    if kind is HandlerKind.TRACKER:
        return make_handler(kind, channels, gates=gates, after_finish=after_finish)
    return NeverTimesOut(kind, channels, gates=gates, after_finish=after_finish)


def tracker_stops_any_clock(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Make a tracker with a clock that any completion ends."""
    if kind is HandlerKind.TRACKER:
        return TrackerStopsAnyClock(channels, after_finish=after_finish)
    return make_handler(kind, channels, gates=gates, after_finish=after_finish)


class ToldBeforeStored(CheckpointCoordinator):
    """Notifies the tasks of a completed checkpoint before it is stored."""

    def step(
        self, event: coordinator_events.CoordinatorEvent
    ) -> list[coordinator_events.CoordinatorEffect]:
        """Move the notification forward."""
        effects = super().step(event)
        if isinstance(event, coordinator_events.Stored):
            return [
                effect
                for effect in effects
                if not isinstance(effect, coordinator_events.NotifyComplete)
            ]
        early = [
            effect for effect in effects if isinstance(effect, coordinator_events.StoreCheckpoint)
        ]
        return effects + [
            coordinator_events.NotifyComplete(effect.checkpoint, None) for effect in early
        ]


class WriteErrorLost(SharedStateWriter):
    """Takes a file that could not be written for written (FLINK-24667)."""

    def step(self, event: writer_events.WriterEvent) -> list[writer_events.WriterEffect]:
        """Take the failure of the file for its success."""
        if isinstance(event, writer_events.StreamFailed):
            event = writer_events.StreamStored(event.checkpoint)
        return super().step(event)


class SkippedTriggerSetsMinimum(TaskLifecycle):
    """Lets a late trigger that it skips set the minimum id."""

    def _triggered(self, checkpoint_id: int) -> None:
        if self.ended and self.minimum_id is None:
            self.minimum_id = checkpoint_id


class ClosesWithoutFinalCheckpoint(TaskLifecycle):
    """Does not wait for a checkpoint after its end (before FLINK-23408)."""

    def _met(self, act: Act) -> bool:
        return act is Act.AWAIT_CHECKPOINT or super()._met(act)


class CheckpointFirst(PartitionIngestion):
    """Writes the checkpoint before the data, whatever the settings say."""

    def __init__(self, rules: SyncRules, restored: PartitionState) -> None:
        super().__init__(replace(rules, order=Order.CHECKPOINT_FIRST), restored)

    def rules_changed(self, event: ingestion_events.RulesChanged) -> list[ingestion_events.Effect]:
        """Take the rules, but not the order."""
        return super().rules_changed(
            ingestion_events.RulesChanged(replace(event.rules, order=Order.CHECKPOINT_FIRST))
        )


class NeverWipes(StoreClient):
    """Restarts at the beginning over the rows that are there."""

    def reset(self, key: TopicPartition, *, wipe: bool) -> None:
        """Delete the checkpoint only."""
        del wipe
        super().reset(key, wipe=False)


def checkpoint_first(placement: Placement) -> StoreVersions:
    """Writes the checkpoint before the data, whatever the settings say."""
    return _store(placement, StoreClient, Parts(ingestion=CheckpointFirst))


def never_wipes(placement: Placement) -> StoreVersions:
    """Restarts at the beginning over the rows that are there."""
    return _store(placement, NeverWipes, Parts())


def _store(placement: Placement, client: type[StoreClient], parts: Parts) -> StoreVersions:
    medium = ModelMedium(atomic=placement is Placement.COLOCATED)
    return StoreVersions(client(placement, medium, parts=parts))


def _ordering(name: str, says: str, parts: ordering.Parts) -> Mutant:
    factory = lambda parameters: ordering.OrderingCore(parameters, parts)  # noqa: E731
    return Mutant(name, says, "ordering", factory)


MUTANTS = by_name(
    _ordering(
        "no_ordering",
        "Sends any state with durable records, whatever its index.",
        ordering.Parts(shelf=NoOrderingShelf),
    ),
    _ordering(
        "gaps_tolerated",
        "Sends the lowest state without waiting for the missing one before it.",
        ordering.Parts(shelf=GapsToleratedShelf),
    ),
    _ordering(
        "arrival_order",
        "Sends states in the order in which they arrived.",
        ordering.Parts(shelf=ArrivalOrderShelf),
    ),
    _ordering(
        "cursor_before_send",
        "Moves the cursor before the send, so that a failed send blocks the scope for ever.",
        ordering.Parts(releaser=CursorFirstReleaser),
    ),
    Mutant(
        "never_times_out",
        "Sets no alignment timer, so a checkpoint waits for the data of a slow channel "
        "(before FLINK-19681).",
        "handler",
        never_times_out,
    ),
    Mutant(
        "tracker_stops_any_clock",
        "Ends the alignment clock for whatever checkpoint completes, also when another one "
        "runs it (FLINK-23201).",
        "handler",
        tracker_stops_any_clock,
    ),
    *of_slot("channel_state", WriteErrorLost),
    *of_slot("coordinator", ToldBeforeStored),
    *of_slot("lifecycle", SkippedTriggerSetsMinimum, ClosesWithoutFinalCheckpoint),
    *of_slot("store", checkpoint_first, never_wipes),
)
