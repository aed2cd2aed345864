"""The coordinator: requests become checkpoints, which complete, expire, fail or are aborted."""

from __future__ import annotations

import pytest

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CheckpointCoordinator, CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.coordinator.requests import Request
from ckptsim.models.core import ProtocolError

MS = 1_000_000
TASKS = (1, 2)


def running(
    parameters: CoordinatorParameters | None = None, checkpoints: int = 1
) -> CheckpointCoordinator:
    """Return a coordinator on which so many checkpoints asked for by hand are running."""
    coordinator = CheckpointCoordinator(
        parameters or CoordinatorParameters(max_concurrent=3, tolerable_failures=None)
    )
    for _ in range(checkpoints):
        coordinator.step(coordinator_events.CheckpointRequested(0))
        coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    return coordinator


def complete(coordinator: CheckpointCoordinator, checkpoint: int, now_ns: int = 0) -> list[object]:
    """Acknowledge and store a checkpoint. Returns the effects of storing."""
    for task in coordinator.awaited(checkpoint):
        coordinator.step(coordinator_events.Acknowledged(now_ns, checkpoint, task))
    return list(coordinator.step(coordinator_events.Stored(now_ns, checkpoint)))


def test_a_tick_asks_for_a_plan_and_the_plan_triggers_tasks() -> None:
    """A tick sets the next one, asks for a plan, and the plan starts a numbered checkpoint."""
    coordinator = CheckpointCoordinator(CoordinatorParameters(interval_ns=10 * MS))
    assert coordinator.step(coordinator_events.SchedulerStarted(0, 4 * MS)) == [
        coordinator_events.SetTimer(coordinator_events.TimerKind.TICK, 1, 4 * MS)
    ]
    request = Request(number=1, submitted_ns=4 * MS, periodic=True)
    assert coordinator.step(
        coordinator_events.TimerFired(4 * MS, coordinator_events.TimerKind.TICK, 1)
    ) == [
        coordinator_events.SetTimer(coordinator_events.TimerKind.TICK, 1, 10 * MS),
        coordinator_events.PlanCheckpoint(request),
    ]
    assert coordinator.step(coordinator_events.Planned(5 * MS, (1,), TASKS)) == [
        coordinator_events.SetTimer(coordinator_events.TimerKind.EXPIRY, 1, 600_000 * MS),
        coordinator_events.TriggerTasks(Barrier(1, 5 * MS, OptionKind.ALIGNED), (1,), request),
    ]
    assert coordinator.pending == (1,)
    assert coordinator.awaited(1) == TASKS


def test_the_last_acknowledgement_stores_and_only_then_tasks_are_told() -> None:
    """A checkpoint is stored after its last acknowledgement. Notifications are sent after."""
    coordinator = running()
    assert coordinator.step(coordinator_events.Acknowledged(3 * MS, 1, 1)) == []
    assert coordinator.step(coordinator_events.Acknowledged(7 * MS, 1, 2)) == [
        coordinator_events.CancelTimer(coordinator_events.TimerKind.EXPIRY, 1),
        coordinator_events.StoreCheckpoint(1, savepoint=False),
    ]
    assert coordinator.step(coordinator_events.Stored(9 * MS, 1)) == [
        coordinator_events.CheckpointCompleted(1, 7 * MS),
        coordinator_events.NotifyComplete(1, None),
    ]
    assert coordinator.completed == (1,)


def test_completion_gives_up_older_checkpoints_but_no_savepoint() -> None:
    """Older running checkpoints are subsumed. A pending savepoint runs on and completes later."""
    coordinator = running()
    coordinator.step(coordinator_events.CheckpointRequested(0, savepoint=True))
    coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    coordinator.step(coordinator_events.CheckpointRequested(0))
    coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    assert complete(coordinator, 3) == [
        coordinator_events.CheckpointCompleted(3, 0),
        coordinator_events.CancelTimer(coordinator_events.TimerKind.EXPIRY, 1),
        coordinator_events.CheckpointFailed(1, FailureReason.CHECKPOINT_SUBSUMED),
        coordinator_events.NotifyAborted(1, 3),
        coordinator_events.DiscardCheckpoint(1),
        coordinator_events.NotifyComplete(3, None),
    ]
    assert coordinator.pending == (2,)
    assert complete(coordinator, 2) == [coordinator_events.CheckpointCompleted(2, 0)]
    assert coordinator.completed == (3,)


def test_the_oldest_kept_checkpoint_goes_when_too_many_are_kept() -> None:
    """With one retained checkpoint the next completion discards it and says so to the tasks."""
    coordinator = running(checkpoints=2)
    complete(coordinator, 1)
    assert complete(coordinator, 2) == [
        coordinator_events.CheckpointCompleted(2, 0),
        coordinator_events.DiscardCheckpoint(1),
        coordinator_events.NotifyComplete(2, 1),
    ]
    assert coordinator.latest_completed == 2


def test_the_savepoint_of_a_stop_notifies_but_is_not_kept() -> None:
    """Its tasks wait for the notification, so it is sent, and older checkpoints are subsumed."""
    coordinator = running()
    coordinator.step(coordinator_events.CheckpointRequested(0, savepoint=True, synchronous=True))
    coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    effects = complete(coordinator, 2)
    assert coordinator_events.NotifyComplete(2, None) in effects
    assert coordinator_events.CheckpointFailed(1, FailureReason.CHECKPOINT_SUBSUMED) in effects
    assert coordinator.completed == ()


@pytest.mark.parametrize("others", [1, 16, 17, 200])
def test_the_answer_of_a_slow_store_is_no_fault(others: int) -> None:
    """A store answers once for a checkpoint aborted meanwhile, after however many others."""
    coordinator = running(CoordinatorParameters(max_concurrent=2), checkpoints=2)
    for task in TASKS:
        coordinator.step(coordinator_events.Acknowledged(0, 1, task))
    complete(coordinator, 2)
    for checkpoint in range(3, others + 2):
        coordinator.step(coordinator_events.CheckpointRequested(0))
        coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
        complete(coordinator, checkpoint)
    kept = coordinator.completed
    assert coordinator.step(coordinator_events.Stored(0, 1)) == []
    assert coordinator.completed == kept
    with pytest.raises(ProtocolError, match="not_being_stored"):
        coordinator.step(coordinator_events.Stored(0, 1))


def test_a_late_acknowledgement_is_discarded() -> None:
    """What a task sends for an ended checkpoint is removed, and known to be late."""
    coordinator = running()
    coordinator.step(coordinator_events.Declined(0, 1, 1, FailureReason.CHECKPOINT_DECLINED))
    assert coordinator.step(coordinator_events.Acknowledged(1, 1, 2)) == [
        coordinator_events.DiscardState(1, 2, late=True)
    ]
    assert coordinator.step(coordinator_events.Acknowledged(1, 77, 2)) == [
        coordinator_events.DiscardState(77, 2, late=False)
    ]


def test_only_the_latest_sixteen_ended_checkpoints_are_remembered() -> None:
    """The seventeenth ended checkpoint pushes the first one out of memory."""
    coordinator = running(checkpoints=0)
    for number in range(1, 18):
        coordinator.step(coordinator_events.CheckpointRequested(0))
        coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
        coordinator.step(
            coordinator_events.Declined(0, number, 1, FailureReason.CHECKPOINT_DECLINED)
        )
    assert coordinator.step(coordinator_events.Acknowledged(1, 1, 1)) == [
        coordinator_events.DiscardState(1, 1, late=False)
    ]
    assert coordinator.step(coordinator_events.Acknowledged(1, 2, 1)) == [
        coordinator_events.DiscardState(2, 1, late=True)
    ]


def test_repeated_and_foreign_acknowledgements_change_nothing() -> None:
    """A repeat is ignored. A task that is not of the plan has its state removed."""
    coordinator = running()
    coordinator.step(coordinator_events.Acknowledged(0, 1, 1))
    assert coordinator.step(coordinator_events.Acknowledged(0, 1, 1)) == []
    assert coordinator.step(coordinator_events.Acknowledged(0, 1, 9)) == [
        coordinator_events.DiscardState(1, 9, late=False)
    ]
    assert coordinator.awaited(1) == (2,)


def test_expiry_gives_up_and_lets_the_next_request_run() -> None:
    """An expired checkpoint fails, its tasks are reported, and the waiting request is planned."""
    coordinator = running(CoordinatorParameters(tolerable_failures=1))
    coordinator.step(coordinator_events.CheckpointRequested(5))
    effects = coordinator.step(
        coordinator_events.TimerFired(9, coordinator_events.TimerKind.EXPIRY, 1)
    )
    assert effects == [
        coordinator_events.CancelTimer(coordinator_events.TimerKind.EXPIRY, 1),
        coordinator_events.CheckpointFailed(1, FailureReason.CHECKPOINT_EXPIRED),
        coordinator_events.NotifyAborted(1, None),
        coordinator_events.DiscardCheckpoint(1),
        coordinator_events.PlanCheckpoint(Request(number=2, submitted_ns=5)),
    ]
    assert coordinator.failures == 1


def test_the_first_intolerable_failure_fails_the_job() -> None:
    """With none tolerated one counted failure is enough. An uncounted one is not."""
    coordinator = running(CoordinatorParameters(max_concurrent=2), checkpoints=2)
    reason = FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY
    effects = coordinator.step(coordinator_events.Declined(0, 1, 1, reason))
    assert not any(isinstance(effect, coordinator_events.FailJob) for effect in effects)
    effects = coordinator.step(
        coordinator_events.Declined(0, 2, 1, FailureReason.CHECKPOINT_DECLINED)
    )
    assert coordinator_events.FailJob(2, FailureReason.CHECKPOINT_DECLINED) in effects


def test_a_savepoint_fails_alone_at_the_coordinator_but_counts_at_a_task() -> None:
    """Expired savepoints are forgiven. Declined ones count. A declined stop fails the job."""
    parameters = CoordinatorParameters(max_concurrent=9, tolerable_failures=5)
    coordinator = running(parameters, checkpoints=0)
    for synchronous in (False, False, True):
        coordinator.step(
            coordinator_events.CheckpointRequested(0, savepoint=True, synchronous=synchronous)
        )
        coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    coordinator.step(coordinator_events.TimerFired(0, coordinator_events.TimerKind.EXPIRY, 1))
    assert coordinator.failures == 0
    coordinator.step(coordinator_events.Declined(0, 2, 1, FailureReason.CHECKPOINT_DECLINED))
    assert coordinator.failures == 1
    effects = coordinator.step(
        coordinator_events.Declined(0, 3, 1, FailureReason.CHECKPOINT_DECLINED)
    )
    assert coordinator_events.FailJob(3, FailureReason.CHECKPOINT_DECLINED) in effects


def test_a_forced_savepoint_runs_beside_a_running_checkpoint() -> None:
    """With aligned checkpoints a savepoint is forced. With unaligned ones it waits its turn."""
    aligned = running(CoordinatorParameters())
    effects = aligned.step(coordinator_events.CheckpointRequested(0, savepoint=True))
    assert isinstance(effects[0], coordinator_events.PlanCheckpoint)
    unaligned = running(CoordinatorParameters(unaligned=True))
    assert unaligned.step(coordinator_events.CheckpointRequested(0, savepoint=True)) == []
    assert [request.savepoint for request in unaligned.queued] == [True]


def test_a_refused_plan_uses_no_number() -> None:
    """A request without a plan ends, and the next one gets the number."""
    coordinator = running(checkpoints=0)
    coordinator.step(coordinator_events.CheckpointRequested(0))
    effects = coordinator.step(coordinator_events.PlanRefused(0))
    assert effects == [
        coordinator_events.RefuseRequest(
            Request(number=1, submitted_ns=0), FailureReason.NOT_ALL_REQUIRED_TASKS_RUNNING
        )
    ]
    coordinator.step(coordinator_events.CheckpointRequested(0))
    coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    assert coordinator.pending == (1,)


def test_stopping_gives_up_everything_and_a_restart_goes_on_with_the_numbers() -> None:
    """A stop refuses what waits and aborts what runs. Numbers are never used twice."""
    coordinator = running(CoordinatorParameters(interval_ns=MS, tolerable_failures=None))
    coordinator.step(coordinator_events.SchedulerStarted(0, MS))
    coordinator.step(coordinator_events.CheckpointRequested(0))
    effects = coordinator.step(
        coordinator_events.SchedulerStopped(1, FailureReason.CHECKPOINT_COORDINATOR_SUSPEND)
    )
    assert effects[:3] == [
        coordinator_events.CancelTimer(coordinator_events.TimerKind.TICK, 1),
        coordinator_events.RefuseRequest(
            Request(number=2, submitted_ns=0), FailureReason.CHECKPOINT_COORDINATOR_SUSPEND
        ),
        coordinator_events.CancelTimer(coordinator_events.TimerKind.EXPIRY, 1),
    ]
    assert coordinator.pending == ()
    coordinator.step(coordinator_events.SchedulerStarted(2, MS))
    coordinator.step(coordinator_events.CheckpointRequested(3))
    coordinator.step(coordinator_events.Planned(3, TASKS, TASKS))
    assert coordinator.pending == (2,)


def test_a_failed_store_fails_the_checkpoint() -> None:
    """A checkpoint that cannot be stored fails for that reason, which counts."""
    coordinator = running(CoordinatorParameters(tolerable_failures=1))
    for task in TASKS:
        coordinator.step(coordinator_events.Acknowledged(0, 1, task))
    effects = coordinator.step(coordinator_events.Stored(0, 1, failed=True))
    assert effects[0] == coordinator_events.CheckpointFailed(
        1, FailureReason.FINALIZE_CHECKPOINT_FAILURE
    )
    assert coordinator.failures == 1


def test_an_older_checkpoint_in_the_store_is_given_up_and_its_answer_ignored() -> None:
    """When the newer one is stored first, the older one is subsumed and never completes."""
    coordinator = running(checkpoints=2)
    for checkpoint in (1, 2):
        for task in TASKS:
            coordinator.step(coordinator_events.Acknowledged(0, checkpoint, task))
    coordinator.step(coordinator_events.Stored(0, 2))
    assert coordinator.step(coordinator_events.Stored(0, 1)) == []
    assert coordinator.completed == (2,)


def test_too_much_cleaning_holds_the_next_checkpoint_up() -> None:
    """More old checkpoints being removed than may run at once let nothing start."""
    coordinator = running(CoordinatorParameters(awaits_cleaning=True, tolerable_failures=None))
    for checkpoint in (1, 2):
        coordinator.step(
            coordinator_events.Declined(0, checkpoint, 1, FailureReason.CHECKPOINT_DECLINED)
        )
        coordinator.step(coordinator_events.CheckpointRequested(0))
        if checkpoint == 1:
            coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    assert not coordinator.planning
    effects = coordinator.step(coordinator_events.Cleaned(1, 1))
    assert isinstance(effects[0], coordinator_events.PlanCheckpoint)


def test_what_nobody_asked_for_is_an_error() -> None:
    """A plan without a question and a store's answer about nothing are refused."""
    coordinator = running()
    with pytest.raises(ProtocolError, match="no_plan_wanted"):
        coordinator.step(coordinator_events.Planned(0, TASKS, TASKS))
    with pytest.raises(ProtocolError, match="not_being_stored"):
        coordinator.step(coordinator_events.Stored(0, 1))
    with pytest.raises(ProtocolError, match="not_being_stored"):
        coordinator.step(coordinator_events.Stored(0, 9))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"unaligned": True, "exactly_once": False}, "exactly-once"),
        ({"unaligned": True, "max_concurrent": 2}, "one checkpoint at a time"),
        ({"max_concurrent": 0}, "at least one"),
        ({"retained": 0}, "at least one"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, int], says: str) -> None:
    """Unaligned checkpoints need exactly-once and one at a time. Limits are positive."""
    with pytest.raises(ProtocolError, match=says):
        CoordinatorParameters(**settings)  # type: ignore[arg-type]
