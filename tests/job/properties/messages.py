"""Worlds with coordinator and tasks that do not send, or take, what they should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ckptsim.models.barriers import Barrier
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.gateway import Gateway
from ckptsim.sim.job.events import of_job
from ckptsim.sim.job.port import TaskGateway, TaskPart
from ckptsim.sim.job.records.messages import RecordMessages
from tests.job.records.plans import MS


def sends_no_acknowledgement(patch: pytest.MonkeyPatch) -> None:
    """Send no acknowledgement of checkpoint 2, which expires."""
    right = CoordinatorHost.acknowledge

    def acknowledge(
        self: CoordinatorHost, task: TaskGateway, checkpoint: int, part: TaskPart
    ) -> None:
        if checkpoint != 2:
            right(self, task, checkpoint, part)

    patch.setattr(CoordinatorHost, "acknowledge", acknowledge)


def sends_no_trigger(patch: pytest.MonkeyPatch) -> None:
    """Send no trigger of checkpoint 2, which expires."""
    right = Gateway.trigger

    def trigger(self: Gateway, number: int, barrier: Barrier, *arguments: Any) -> None:
        if barrier.checkpoint != 2:
            right(self, number, barrier, *arguments)

    patch.setattr(Gateway, "trigger", trigger)


def keeps_triggers(patch: pytest.MonkeyPatch) -> None:
    """Keep the trigger of checkpoint 1 until the one of checkpoint 2 has been sent."""
    right = RecordMessages.trigger

    def trigger(
        self: RecordMessages, task: TaskGateway, checkpoint: int, *arguments: Any, **_: int
    ) -> None:
        late_ns = 25 * MS if checkpoint == 1 else 0
        right(self, task, checkpoint, *arguments, late_ns=late_ns)

    patch.setattr(RecordMessages, "trigger", trigger)


def tells_twice(patch: pytest.MonkeyPatch) -> None:
    """Send every notification of a completion twice."""
    right = Gateway.notify_complete

    def notify_complete(self: Gateway, numbers: Sequence[int], checkpoint: int) -> None:
        right(self, [*numbers, *numbers], checkpoint)

    patch.setattr(Gateway, "notify_complete", notify_complete)


def takes_notifications_for_lost(patch: pytest.MonkeyPatch) -> None:
    """Count every notification of an abort among those that a fault takes away."""

    def notify_aborted(self: Gateway, numbers: Sequence[int], checkpoint: int, _: int) -> None:
        for number in numbers:
            self._emit(of_job.NotificationLost(number, checkpoint, completed=False))

    patch.setattr(Gateway, "notify_aborted", notify_aborted)


def tells_nobody_of_aborts(patch: pytest.MonkeyPatch) -> None:
    """Send no task word that a checkpoint was aborted."""
    patch.setattr(Gateway, "notify_aborted", lambda *_: None)


def takes_late_parts(patch: pytest.MonkeyPatch) -> None:
    """Take in what tasks acknowledge of checkpoints that have ended."""
    right = CoordinatorHost._acknowledged

    def acknowledged(self: CoordinatorHost, task: Any, checkpoint: int, part: Any) -> None:
        record = self.records[checkpoint]
        if record.status != "pending":
            self._emit(of_job.PartAcknowledged(record, task, part))
        right(self, task, checkpoint, part)

    patch.setattr(CoordinatorHost, "_acknowledged", acknowledged)


def repeats_savepoints(patch: pytest.MonkeyPatch) -> None:
    """Repeat, with the word that a checkpoint was aborted, whatever was completed last."""
    right = Gateway.notify_aborted
    completed: list[int] = []

    def complete(self: CoordinatorHost, checkpoint: int, duration_ns: int) -> None:
        completed.append(checkpoint)
        carry_out(self, checkpoint, duration_ns)

    def notify_aborted(
        self: Gateway, numbers: Sequence[int], checkpoint: int, latest: int | None
    ) -> None:
        right(self, numbers, checkpoint, max(completed, default=latest))

    carry_out = CoordinatorHost._complete
    patch.setattr(CoordinatorHost, "_complete", complete)
    patch.setattr(Gateway, "notify_aborted", notify_aborted)
