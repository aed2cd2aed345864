"""Cores with one broken promise each, to show that each property of a job can fail.

Unlike the library's mutants they are no published faults, and each is made so, with a small job
around it, that nothing but its own property notices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.models.barriers import Barrier, RemoteChannel, Subpartition
from ckptsim.models.barriers.barrier import NetworkEvent
from ckptsim.models.barriers.channels import (
    NetworkEffect,
    OutputStateKnown,
    Persister,
    PersisterStatus,
    PersistInput,
)
from ckptsim.models.barriers.channels.input_channel import _Placed
from ckptsim.models.barriers.handler import SingleCheckpointHandler
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CheckpointCoordinator, CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.lifecycle import StopMode, TaskLifecycle
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events

# --- ends of a channel ---


class KeepsSending(Subpartition):
    """Does not stop behind a barrier that is to be aligned."""

    def poll(self) -> object | None:
        """Continue."""
        element = super().poll()
        self.blocked = False
        return element

    def resume(self) -> None:
        """Do nothing: the queue was never blocked."""


class SwapsData(Subpartition):
    """Sends the second of its first two records first."""

    swapped = False

    def poll(self) -> object | None:
        """Swap once."""
        queue = self._queue
        if len(queue) > 1 and not self.swapped:
            first, second = queue[0], queue[1]
            if not isinstance(first, NetworkEvent) and not isinstance(second, NetworkEvent):
                queue[0], queue[1] = second, first
                self.swapped = True
        return super().poll()


class NewestFirst(RemoteChannel):
    """Lets a priority element pass those that are there."""

    def _add_priority(self, placed: _Placed) -> None:
        super()._add_priority(placed)
        if self._priority is not None:
            self._priority.insert(0, self._priority.pop())


class _NeverReceives(Persister):
    """Continues persisting behind the barrier."""

    def barrier_arrived(self, checkpoint: int) -> bool:
        """Note the number only."""
        self.last_seen = max(self.last_seen, checkpoint)
        return True

    def start(self, checkpoint: int) -> None:
        """Persist in any case."""
        self.status = PersisterStatus.BARRIER_PENDING
        self.last_seen = checkpoint


class PersistsBehindTheBarrier(RemoteChannel):
    """Takes what comes behind a barrier into its checkpoint."""

    def __init__(self, index: int, outbox: list[NetworkEffect]) -> None:
        super().__init__(index, outbox)
        self.persister = _NeverReceives()


class SlowToOvertake(RemoteChannel):
    """Puts an unaligned barrier behind what is queued."""

    def _add_priority(self, placed: _Placed) -> None:
        self._queue.append(placed)


class PersistsForTheOlder(RemoteChannel):
    """Persists for an older checkpoint behind a newer one."""

    def start(self, checkpoint: int) -> FailureReason | None:
        """Add nothing, but to the wrong checkpoint."""
        refused = super().start(checkpoint)
        if checkpoint > 1:
            self._outbox.append(PersistInput(self.index, checkpoint, ()))
            self._outbox.append(PersistInput(self.index, checkpoint - 1, ()))
        return refused


class OneOutputStaysOpen(Subpartition):
    """Never says what the output's part of its first timeoutable checkpoint is."""

    silent = False

    def _event_polled(self, event: NetworkEvent) -> None:
        super()._event_polled(event)
        last = self._outbox[-1] if self._outbox else None
        if isinstance(last, OutputStateKnown) and not self.silent:
            self.silent = True
            self._outbox.pop()


class TakesAnyResume(Subpartition):
    """Continues as often as it is told to."""

    def resume(self) -> None:
        """Continue, blocked or not."""
        self.blocked = False


class Overtakes(Subpartition):
    """Sends every barrier as an unaligned one."""

    def add_barrier(self, barrier: Barrier) -> bool:
        """Let it overtake."""
        return super().add_barrier(barrier.as_unaligned())


# --- barrier handlers ---


class _Changed(SingleCheckpointHandler):
    """A handler whose effects are changed afterwards."""

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Change every effect."""
        found = super().step(event)
        return [one for effect in found for one in self.changed(event, effect)]

    def changed(
        self, event: handler_events.HandlerEvent, effect: handler_events.HandlerEffect
    ) -> list[handler_events.HandlerEffect]:
        """Return what stands for an effect."""
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


def handler(faulty: type[SingleCheckpointHandler], *, first_only: bool = False) -> Any:
    """Return a factory of faulty handlers; with `first_only` all but the first are right."""
    return _First(faulty, SingleCheckpointHandler if first_only else faulty)


def first_of_all(faulty: type[Subpartition]) -> Any:
    """Return a factory of queues of which the first is faulty."""
    return _First(faulty, Subpartition)


@dataclass(slots=True)
class _First:
    """Makes cores: one that is faulty, then others; a run needs a copy that has made none."""

    faulty: Callable[..., Any]
    others: Callable[..., Any]
    made: int = 0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.made += 1
        return (self.faulty if self.made == 1 else self.others)(*arguments, **named)


# --- coordinators ---


def aligned_in_name(parameters: CoordinatorParameters, **rest: Any) -> CheckpointCoordinator:
    """Make a coordinator that calls every checkpoint aligned."""
    return CheckpointCoordinator(replace(parameters, unaligned=False), **rest)


def one_too_many(parameters: CoordinatorParameters, **rest: Any) -> CheckpointCoordinator:
    """Make a coordinator that lets one checkpoint more run at once."""
    more = replace(parameters, max_concurrent=parameters.max_concurrent + 1)
    return CheckpointCoordinator(more, **rest)


def never_expires(parameters: CoordinatorParameters, **rest: Any) -> CheckpointCoordinator:
    """Make a coordinator whose checkpoints have ten times as long."""
    return CheckpointCoordinator(replace(parameters, timeout_ns=10 * parameters.timeout_ns), **rest)


class LeavesTimers(CheckpointCoordinator):
    """Does not cancel the timer of a checkpoint that ends."""

    def step(self, event: coordinator_events.CoordinatorEvent) -> list[Any]:
        """Leave each cancellation out."""
        cancels = coordinator_events.CancelTimer
        return [effect for effect in super().step(event) if not isinstance(effect, cancels)]


class GivesUpAgain(CheckpointCoordinator):
    """Gives a checkpoint up at every task's refusal."""

    def _declined(self, event: coordinator_events.Declined) -> None:
        if event.checkpoint in self._ended:
            self._effects.append(
                coordinator_events.CheckpointFailed(event.checkpoint, event.reason)
            )
        super()._declined(event)


class StopsAfterFailure(CheckpointCoordinator):
    """Triggers no more after a failed checkpoint."""

    def _abort(self, checkpoint: int, reason: FailureReason, *, by_task: bool = False) -> None:
        super()._abort(checkpoint, reason, by_task=by_task)
        self._cancel_tick()
        self._periodic = False


class NeverSubsumes(CheckpointCoordinator):
    """Lets an older checkpoint complete after a newer one."""

    def _abort_older(self, checkpoint: int) -> None:
        del checkpoint


class TellsNobodyOfAborts(CheckpointCoordinator):
    """Gives checkpoints up without a word to the tasks."""

    def step(self, event: coordinator_events.CoordinatorEvent) -> list[Any]:
        """Leave the notifications out."""
        untold = coordinator_events.NotifyAborted
        return [effect for effect in super().step(event) if not isinstance(effect, untold)]


class SaysNothingIsKept(CheckpointCoordinator):
    """Says that no completed checkpoint is kept, and keeps them."""

    @property
    def completed(self) -> tuple[int, ...]:
        """Return nothing."""
        return ()


# --- more barrier handlers ---


class ForgetsAChannel(_Changed):
    """Leaves a channel blocked behind every alignment."""

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


# --- lifecycles ---


class _Otherwise(TaskLifecycle):
    """A lifecycle whose effects are changed afterwards."""

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Change every effect."""
        return [one for effect in super().step(event) for one in self.changed(effect)]

    def changed(self, effect: lifecycle_effects.Effect) -> list[lifecycle_effects.Effect]:
        """Return what stands for an effect."""
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
        """Put the call in front of EndOfData."""
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
