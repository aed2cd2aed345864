"""Barrier handlers that break one promise each."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models.barriers.handler import SingleCheckpointHandler
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason


class _Changed(SingleCheckpointHandler):
    """A handler with effects that are changed afterwards."""

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Change every effect."""
        found = super().step(event)
        return [one for effect in found for one in self.changed(event, effect)]

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Return what represents an effect."""
        del event
        return [effect]


class ResumesTwice(_Changed):
    """Resumes every channel once more."""

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Resume the senders twice."""
        del event
        return [effect, effect] if isinstance(effect, handler_events.ResumeChannels) else [effect]


class NeverStops(_Changed):
    """Does not tell its gates that a checkpoint is over."""

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Leave the call to the gates out."""
        del event
        return [] if isinstance(effect, handler_events.StopInput) else [effect]


class AbortsTwice(_Changed):
    """Gives every checkpoint that it gives up, up again."""

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Double the abort."""
        del event
        return [effect, effect] if isinstance(effect, handler_events.AbortCheckpoint) else [effect]


class MeasuresSinceTheTrigger(_Changed):
    """Takes the age of the run for the duration of an alignment."""

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Replace the duration."""
        if isinstance(effect, handler_events.AlignmentMeasured) and isinstance(
            event, handler_events.BarrierArrived
        ):
            return [replace(effect, duration_ns=event.now_ns)]
        return [effect]


class TriggersOutOfOrder(_Changed):
    """Holds its first trigger back until the second is done."""

    held: handler_events.TriggerCheckpoint | None = None
    over = False

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Swap the first two triggers."""
        del event
        if not isinstance(effect, handler_events.TriggerCheckpoint) or self.over:
            return [effect]
        if self.held is None:
            self.held = effect
            return []
        self.over = True
        return [effect, self.held]


class ForgetsAChannel(_Changed):
    """Leaves a channel blocked after every alignment."""

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Resume all but the first."""
        del event
        if isinstance(effect, handler_events.ResumeChannels) and len(effect.channels) > 1:
            return [handler_events.ResumeChannels(effect.channels[1:])]
        return [effect]


class ResumesAtOnce(_Changed):
    """Lets every sender continue as soon as its barrier has come."""

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Resume the senders too early."""
        del event
        if isinstance(effect, handler_events.BlockChannel):
            return [effect, handler_events.ResumeChannels((effect.channel,))]
        return [] if isinstance(effect, handler_events.ResumeChannels) else [effect]


class GivesUpOnce(SingleCheckpointHandler):
    """Gives its first checkpoint up when it has begun."""

    gave_up = False

    def _barrier(self, event: handler_events.BarrierArrived) -> None:
        super()._barrier(event)
        if self.pending and not self.gave_up:
            self.gave_up = True
            self._abort(self._current, FailureReason.CHECKPOINT_DECLINED)


class FailsTheTask(_Changed):
    """Fails its task instead of taking part in a checkpoint."""

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Put the failure in the place of the trigger."""
        del event
        failed = isinstance(effect, handler_events.TriggerCheckpoint)
        return [handler_events.FailTask("for no reason")] if failed else [effect]
