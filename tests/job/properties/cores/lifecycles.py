"""Lifecycles of tasks that break one promise each."""

from __future__ import annotations

from ckptsim.models.lifecycle import StopMode, TaskLifecycle
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events


class _Otherwise(TaskLifecycle):
    """A lifecycle with effects that are changed afterwards."""

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Change every effect."""
        return [one for effect in super().step(event) for one in self.changed(effect)]

    def changed(self, effect: lifecycle_effects.Effect) -> list[lifecycle_effects.Effect]:
        """Return what represents an effect."""
        return [effect]


class AcknowledgesTwice(_Otherwise):
    """Acknowledges every EndOfData twice."""

    def changed(self, effect: lifecycle_effects.Effect) -> list[lifecycle_effects.Effect]:
        """Double the acknowledgement."""
        return (
            [effect, effect]
            if isinstance(effect, lifecycle_effects.AcknowledgeEndOfData)
            else [effect]
        )


class EndsInputTwice(_Otherwise):
    """Calls endInput twice."""

    def changed(self, effect: lifecycle_effects.Effect) -> list[lifecycle_effects.Effect]:
        """Double the call."""
        return [effect, effect] if isinstance(effect, lifecycle_effects.EndInput) else [effect]


class FiresTimersOnNoDrain(_Otherwise):
    """Advances event time to its end also in a stop without drain."""

    def changed(self, effect: lifecycle_effects.Effect) -> list[lifecycle_effects.Effect]:
        """Put the call before EndOfData."""
        if (
            isinstance(effect, lifecycle_effects.EmitEndOfData)
            and effect.stop_mode is StopMode.NO_DRAIN
        ):
            return [lifecycle_effects.AdvanceToMaxWatermark(), effect]
        return [effect]


class CommitsAtPrecommit(TaskLifecycle):
    """Commits a transaction as soon as it is pre-committed."""

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Commit at once, unless a checkpoint is final: then nothing can go wrong any more."""
        found = super().step(event)
        early = [
            effect for effect in found if isinstance(effect, lifecycle_effects.PrecommitTransaction)
        ]
        if self.ended or self.transactions is None:
            return found
        return found + [
            lifecycle_effects.CommitTransactions(
                one.checkpoint_id, self.transactions.commit(one.checkpoint_id)
            )
            for one in early
        ]
