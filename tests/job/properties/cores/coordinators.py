"""Coordinators that break one promise each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CheckpointCoordinator, CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events


def aligned_in_name(parameters: CoordinatorParameters, **rest: Any) -> CheckpointCoordinator:
    """Make a coordinator that calls every checkpoint aligned."""
    return CheckpointCoordinator(replace(parameters, unaligned=False), **rest)


def one_too_many(parameters: CoordinatorParameters, **rest: Any) -> CheckpointCoordinator:
    """Make a coordinator that lets one checkpoint more run at once."""
    more = replace(parameters, max_concurrent=parameters.max_concurrent + 1)
    return CheckpointCoordinator(more, **rest)


def never_expires(parameters: CoordinatorParameters, **rest: Any) -> CheckpointCoordinator:
    """Make a coordinator with ten times the time for checkpoints."""
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
