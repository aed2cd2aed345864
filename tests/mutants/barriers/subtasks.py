"""Faulty subtask sides, writers and coordinators."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.channel_state import SharedStateWriter
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import SubtaskCheckpoints
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.coordinator.coordinator import CheckpointCoordinator


class OutputTimeOutUnreported(SubtaskCheckpoints):
    """Says of a timeoutable checkpoint that it was aligned, whatever it holds."""

    def step(self, event: subtask_events.SubtaskEvent) -> list[subtask_events.SubtaskEffect]:
        """Take the flag from the barrier instead of from the data."""
        running = {number: self._parts[number].barrier for number in self._parts}
        return [
            replace(effect, unaligned=running[effect.checkpoint].is_unaligned)
            if isinstance(effect, subtask_events.AcknowledgeCheckpoint)
            else effect
            for effect in super().step(event)
        ]


class EarlyAbortWithoutMarker(SubtaskCheckpoints):
    """Lets the tasks below wait for the barrier of a checkpoint that was aborted before."""

    def step(self, event: subtask_events.SubtaskEvent) -> list[subtask_events.SubtaskEffect]:
        """Send markers only for aborts that come with barriers."""
        effects = super().step(event)
        if isinstance(event, subtask_events.CheckpointTriggered):
            return [e for e in effects if not isinstance(e, subtask_events.BroadcastCancellation)]
        return effects


class EarlyAbortUnanswered(SharedStateWriter):
    """Says nothing to a subtask that begins after the abort."""

    def _start(self, event: writer_events.WriteStarted) -> None:
        if event.checkpoint > self._aborted and event.checkpoint >= self._ongoing:
            super()._start(event)


class LateAbortClosesWriter(SharedStateWriter):
    """Closes the open file, whichever checkpoint the abort is for."""

    def _abort(self, event: writer_events.WriteAborted) -> None:
        older = event.checkpoint < self._ongoing
        super()._abort(event)
        if older:
            self._fail_all(FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION)


class SupersededResultRemoved(SharedStateWriter):
    """Forgets the older checkpoint's parts without answering for them."""

    def _start(self, event: writer_events.WriteStarted) -> None:
        if event.checkpoint > self._ongoing:
            self._clear()
        super()._start(event)


class SavepointsSubsumed(CheckpointCoordinator):
    """Makes no exception for savepoints."""

    def _abort_older(self, checkpoint: int) -> None:
        for older in self.pending:
            if older < checkpoint:
                self._abort(older, FailureReason.CHECKPOINT_SUBSUMED)


class SlowStoresForgotten(CheckpointCoordinator):
    """Knows a checkpoint that was aborted while being stored only among the last that ended."""

    def step(
        self, event: coordinator_events.CoordinatorEvent
    ) -> list[coordinator_events.CoordinatorEffect]:
        """Forget the awaited answers, except for the last few."""
        effects = super().step(event)
        self._unanswered.intersection_update(self._ended)
        return effects
