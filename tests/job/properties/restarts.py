"""Worlds that deal with a failure in a wrong way each: what they restart from, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ckptsim.models.coordinator import CheckpointCoordinator
from ckptsim.models.coordinator.plan import Rejected
from ckptsim.models.recovery.detection import DetectionEffect
from ckptsim.models.recovery.persistence import LogService
from ckptsim.sim.job.control.checkpoint import JobCheckpoint, newest_of
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.detection import DetectionHost
from ckptsim.sim.job.control.failover import StrategyHost
from ckptsim.sim.job.control.operations import Operations
from ckptsim.sim.job.records.uncoordinated import MessageLog
from ckptsim.sim.job.world import JobWorld


def goes_back_too_far(patch: pytest.MonkeyPatch) -> None:
    """Restart from the oldest checkpoint that is kept."""

    def oldest(self: JobWorld) -> JobCheckpoint | None:
        return next(iter(self.coordinator.completed.values()), None)

    patch.setattr(JobWorld, "newest", oldest)


def keeps_what_was_given_up(patch: pytest.MonkeyPatch) -> None:
    """Keep a checkpoint that was aborted while it was being stored."""
    right = CoordinatorHost.store

    def store(self: CoordinatorHost, checkpoint: int, core: CheckpointCoordinator) -> None:
        record = self.records[checkpoint]
        if record.status != "pending":
            vertices = self.planning.finalize(record)
            assert not isinstance(vertices, Rejected)
            self.completed[checkpoint] = self._job.checkpoint_of(record, vertices)
        right(self, checkpoint, core)

    patch.setattr(CoordinatorHost, "store", store)


def cuts_the_log_service_for_the_next_checkpoint(patch: pytest.MonkeyPatch) -> None:
    """Cut a log service at the completion of a checkpoint as if the next one were complete."""
    right = LogService.completed

    def completed(self: LogService, checkpoint: int) -> None:
        right(self, checkpoint + 1)

    patch.setattr(LogService, "completed", completed)


def truncates_too_much(patch: pytest.MonkeyPatch) -> None:
    """Delete one message of a log more than lies before the line."""
    right = MessageLog.truncate

    def truncate(self: MessageLog, number: int) -> None:
        right(self, number)
        del self._items[:1]

    patch.setattr(MessageLog, "truncate", truncate)


def goes_back_to_savepoints(patch: pytest.MonkeyPatch) -> None:
    """Restart from a user's savepoint where that is the newest of all that is complete."""

    def newest(self: JobWorld) -> JobCheckpoint | None:
        found = [self._initial, *self.coordinator.completed.values()]
        return newest_of(found, None)

    patch.setattr(JobWorld, "newest", newest)


def starts_from_any_savepoint(patch: pytest.MonkeyPatch) -> None:
    """Submit a job again from its newest savepoint, also from one that a failure has undone."""

    def newest(self: Operations) -> JobCheckpoint | None:
        found = [self._job.newest(), *self._job.coordinator.completed.values()]
        return max(found, key=lambda one: -1 if one is None else one.checkpoint_id)

    patch.setattr(Operations, "_newest", newest)


def reports_for_the_failed(patch: pytest.MonkeyPatch) -> None:
    """Report the end of the data of a task that has failed, when the next attempt has begun."""
    right = JobWorld.restart

    def restart(self: JobWorld) -> None:
        failed = self._plane.tasks[0]
        right(self)
        self.coordinator.end_of_data(failed)

    patch.setattr(JobWorld, "restart", restart)


def finishes_the_failed(patch: pytest.MonkeyPatch) -> None:
    """Report that a task that has failed has finished, when the next attempt has begun."""
    right = JobWorld.restart

    def restart(self: JobWorld) -> None:
        failed = self._plane.tasks[0]
        right(self)
        self.coordinator.task_closed(failed)

    patch.setattr(JobWorld, "restart", restart)


def lets_the_lost_go_first(patch: pytest.MonkeyPatch) -> None:
    """Go on with all that has waited for a loss to be known, and fail for the loss after it."""
    right = DetectionHost._carry_out

    def carry_out(self: DetectionHost, effect: DetectionEffect) -> None:
        fail_over = self._fail_over

        def behind(cause: str, **given: bool) -> None:
            self._release()
            fail_over(cause, **given)

        self._fail_over = behind
        right(self, effect)
        self._fail_over = fail_over

    patch.setattr(DetectionHost, "_carry_out", carry_out)


def asks_the_user_to_wait(patch: pytest.MonkeyPatch) -> None:
    """Ask the restart strategy also where the user wants the restart."""
    right = JobWorld.fail_over

    def fail_over(self: JobWorld, cause: str, **given: bool) -> None:
        right(self, cause, **given | {"planned": False})

    patch.setattr(JobWorld, "fail_over", fail_over)


def waits_for_nobody(patch: pytest.MonkeyPatch) -> None:
    """Restart at once after each failure, whatever delay the strategy wants."""
    right = StrategyHost.delay_ns

    def delay_ns(self: StrategyHost, **given: bool) -> int | None:
        return None if right(self, **given) is None else 0

    patch.setattr(StrategyHost, "delay_ns", delay_ns)


def restarts_before_losses_are_known(patch: pytest.MonkeyPatch) -> None:
    """Deploy an attempt while another lost task manager may still run tasks of the last one."""
    patch.setattr(DetectionHost, "when_known", lambda _host, call: call())


def watches_what_nobody_knows(patch: pytest.MonkeyPatch) -> None:
    """Let a new job manager take over the heartbeats of the one before."""
    patch.setattr(DetectionHost, "restarted", DetectionHost._release)


def deploys_twice(patch: pytest.MonkeyPatch) -> None:
    """Make the tasks of an attempt again while they act."""
    right = JobWorld.restart

    def restart(self: JobWorld) -> None:
        right(self)
        self.redeploy()

    patch.setattr(JobWorld, "restart", restart)


def remembers_the_finished(patch: pytest.MonkeyPatch) -> None:
    """Take tasks for finished in the next attempt that had finished in the one before."""
    right = CoordinatorHost.start

    def start(self: CoordinatorHost, attempt: int, tasks: Sequence[Any]) -> None:
        finished = set(self.planning.finished)
        right(self, attempt, tasks)
        self.planning.finished |= finished

    patch.setattr(CoordinatorHost, "start", start)
