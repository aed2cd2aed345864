"""Periodic triggers of the coordinator: ticks, their queue, pauses. Which failures count."""

from __future__ import annotations

import pytest

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import (
    COUNTED_REASONS,
    CheckpointCoordinator,
    CoordinatorParameters,
    FailureCounter,
)
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.coordinator.requests import Request
from tests.barriers.coordinator.test_coordinator import MS, TASKS, complete


def test_ticks_go_on_and_missed_ones_collapse() -> None:
    """While a checkpoint runs, ticks keep coming, and only one periodic request waits."""
    coordinator = CheckpointCoordinator(CoordinatorParameters(interval_ns=10 * MS))
    coordinator.step(coordinator_events.SchedulerStarted(0, 0))
    coordinator.step(coordinator_events.TimerFired(0, coordinator_events.TimerKind.TICK, 1))
    coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    for tick in (1, 2, 3):
        effects = coordinator.step(
            coordinator_events.TimerFired(tick * 10 * MS, coordinator_events.TimerKind.TICK, 1)
        )
        assert effects == [
            coordinator_events.SetTimer(coordinator_events.TimerKind.TICK, 1, 10 * MS)
        ]
    assert len(coordinator.queued) == 1
    effects = complete(coordinator, 1, 35 * MS)
    assert effects[-1] == coordinator_events.PlanCheckpoint(
        Request(number=2, submitted_ns=10 * MS, periodic=True)
    )


def test_ticks_queue_up_when_they_do_not_collapse() -> None:
    """Without collapsing every missed tick leaves a request of its own."""
    parameters = CoordinatorParameters(interval_ns=10 * MS, collapse_ticks=False)
    coordinator = CheckpointCoordinator(parameters)
    coordinator.step(coordinator_events.SchedulerStarted(0, 0))
    for tick in range(4):
        coordinator.step(
            coordinator_events.TimerFired(tick * 10 * MS, coordinator_events.TimerKind.TICK, 1)
        )
        if coordinator.planning:
            coordinator.step(coordinator_events.Planned(tick * 10 * MS, TASKS, TASKS))
    assert len(coordinator.queued) == 3


def test_a_tick_inside_the_pause_is_put_off_by_what_is_missing() -> None:
    """The request is refused and ticking begins anew after the rest of the pause."""
    parameters = CoordinatorParameters(interval_ns=10 * MS, min_pause_ns=8 * MS)
    coordinator = CheckpointCoordinator(parameters)
    coordinator.step(coordinator_events.SchedulerStarted(0, 0))
    coordinator.step(coordinator_events.TimerFired(0, coordinator_events.TimerKind.TICK, 1))
    coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    complete(coordinator, 1, 7 * MS)
    request = Request(number=2, submitted_ns=10 * MS, periodic=True)
    assert coordinator.step(
        coordinator_events.TimerFired(10 * MS, coordinator_events.TimerKind.TICK, 1)
    ) == [
        coordinator_events.SetTimer(coordinator_events.TimerKind.TICK, 1, 10 * MS),
        coordinator_events.RefuseRequest(request, FailureReason.MINIMUM_TIME_BETWEEN_CHECKPOINTS),
        coordinator_events.CancelTimer(coordinator_events.TimerKind.TICK, 1),
        coordinator_events.SetTimer(coordinator_events.TimerKind.TICK, 2, 5 * MS),
    ]
    assert (
        coordinator.step(
            coordinator_events.TimerFired(20 * MS, coordinator_events.TimerKind.TICK, 1)
        )
        == []
    )
    effects = coordinator.step(
        coordinator_events.TimerFired(15 * MS, coordinator_events.TimerKind.TICK, 2)
    )
    assert isinstance(effects[-1], coordinator_events.PlanCheckpoint)


def test_the_first_tick_lies_between_the_pause_and_the_interval() -> None:
    """The effective interval is no shorter than the pause, and bounds the first delay."""
    parameters = CoordinatorParameters(interval_ns=5, min_pause_ns=8)
    assert parameters.effective_interval_ns == 8
    assert parameters.first_delay_bounds_ns == (8, 8)
    assert CoordinatorParameters(interval_ns=9).first_delay_bounds_ns == (0, 9)


COUNTED = FailureReason.CHECKPOINT_EXPIRED


@pytest.mark.parametrize("reason", list(FailureReason))
def test_only_the_named_reasons_count(reason: FailureReason) -> None:
    """With none tolerated a counted reason fails the job, any other is forgiven."""
    assert FailureCounter(0).failed(reason, 1) == (reason in COUNTED_REASONS)


def test_the_job_fails_when_more_than_the_tolerated_have_failed_in_a_row() -> None:
    """A checkpoint counts once, and counting begins anew when the job has failed."""
    counter = FailureCounter(1)
    assert not counter.failed(COUNTED, 1)
    assert not counter.failed(COUNTED, 1)
    assert counter.failed(COUNTED, 2)
    assert counter.count == 0
    assert not counter.failed(COUNTED, 2)
    assert counter.count == 1


def test_a_refused_request_without_a_number_counts_every_time() -> None:
    """There is nothing to distinguish two such failures by."""
    counter = FailureCounter(5)
    counter.failed(FailureReason.IO_EXCEPTION, None)
    counter.failed(FailureReason.IO_EXCEPTION, None)
    assert counter.count == 2


def test_what_failed_behind_a_success_is_forgiven() -> None:
    """A failure up to the newest success does not count. An old success forgives nothing."""
    counter = FailureCounter(5)
    counter.succeeded(3)
    assert not counter.failed(COUNTED, 3)
    assert counter.count == 0
    counter.failed(COUNTED, 4)
    counter.succeeded(3)
    assert counter.count == 1
    counter.succeeded(5)
    assert counter.count == 0


def test_any_number_may_be_tolerated() -> None:
    """Then nothing is counted at all."""
    counter = FailureCounter(None)
    assert not any(counter.failed(COUNTED, number) for number in range(1, 200))
    assert counter.count == 0
