"""What hosts owe their cores: a host that answers twice, too early, too late or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ckptsim.models.barriers import Barrier
from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.barrier import OptionKind
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.coordinator.events import TimerKind
from ckptsim.models.coordinator.requests import Request
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.ordering import events as ordering_events
from ckptsim.models.ordering import source
from ckptsim.models.recovery import detection, failover
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.settings import StepContent
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.task.checkpoints import CheckpointsHost
from ckptsim.sim.kernel import Streams
from ckptsim.sim.rules.beside import DOES_ITS_DUTY, JointDuties
from ckptsim.sim.rules.duties import DUTIES
from ckptsim.sim.search.explore import Explorer
from ckptsim.sim.store.process.syncing import PeriodicSyncer

_BARRIER = Barrier(3, 0, OptionKind.ALIGNED, None)
_TICK, _EXPIRY = TimerKind.TICK, TimerKind.EXPIRY
_SET = coordinator_events.SetTimer(_TICK, 1, 10)
_FIRED = coordinator_events.TimerFired(0, _TICK, 1)
_PLAN = coordinator_events.PlanCheckpoint(Request(number=1, submitted_ns=0))
_PLANNED = coordinator_events.PlanRefused(0)
_STOP = Request(number=1, submitted_ns=0, savepoint=True, synchronous=True)
_REFUSED = coordinator_events.RefuseRequest(_STOP, FailureReason.IO_EXCEPTION)
_STOP_FAILED = [
    coordinator_events.TriggerTasks(_BARRIER, (0,), _STOP),
    coordinator_events.CheckpointFailed(3, FailureReason.CHECKPOINT_EXPIRED),
]
_STORE = coordinator_events.StoreCheckpoint(3, savepoint=False)
_STORED = coordinator_events.Stored(0, 3)
_SENT = ordering_events.StateSent(scope=None, index=1)
_END = handler_events.TimerFired(0, _BARRIER)
_ALIGN = handler_events.SetTimer(1, 10, _BARRIER)
_DURABLE = ingestion_events.StepDurable()
_WRITTEN = ingestion_events.DataWritten(position=1, size_bytes=1)
# Everything that was asked for at instant 0, what comes at which instants, and the problems of the
# last.
CASES: tuple[tuple[str, list[Any], list[tuple[int, Any]], str], ...] = (
    ("coordinator", [_SET], [(9, _FIRED)], "0.001 us too early"),
    ("coordinator", [_SET], [(10, _FIRED), (10, _FIRED)], "is not set"),
    ("coordinator", [_SET], [(11, _STORED)], "the store of 3 has an unexpected answer"),
    ("coordinator", [_SET, _STORE], [(11, _STORED)], "has not fired in time"),
    ("coordinator", [_SET, coordinator_events.CancelTimer(_TICK, 1)], [(10, _FIRED)], "is not set"),
    ("coordinator", [_PLAN], [(1, _STORED)], "not answered at once"),
    ("coordinator", [_PLAN], [(0, _PLANNED), (0, _PLANNED)], "a plan has an unexpected answer"),
    ("coordinator", [_REFUSED], [(1, _STORED)], "a stop that has failed is not answered at once"),
    ("coordinator", _STOP_FAILED, [(1, _STORED)], "a stop that has failed is not answered at once"),
    ("handler", [_ALIGN], [(9, _END)], "too early"),
    ("handler", [_ALIGN, handler_events.CancelTimer(1)], [(10, _END)], "is not set"),
    ("handler", [], [(0, handler_events.ChannelEnded(0, 1))] * 2, "second time"),
    (
        "handler",
        [],
        [
            (0, handler_events.ChannelEnded(0, 1)),
            (0, handler_events.BarrierArrived(0, 1, _BARRIER)),
        ],
        "has ended, but",
    ),
    (
        "subtask",
        [],
        [(0, subtask_events.SyncPartDone(3))],
        "the snapshot of 3 has an unexpected answer",
    ),
    (
        "subtask",
        [subtask_events.StartAsyncPart(3), subtask_events.CancelAsyncPart(3)],
        [(4, subtask_events.AsyncPartDone(3))],
        "the state of 3 has an unexpected answer",
    ),
    ("channel_state", [], [(0, writer_events.StreamStored(3))], "the file of 3"),
    ("lifecycle", [], [(0, lifecycle_events.EndOfPartitionReceived(0))] * 2, "second time"),
    ("ordering", [], [(0, _SENT)], "the send of the sync 1"),
    ("ordering", [], [(0, ordering_events.FinishRequested())] * 2, "second time"),
    (
        "ordering",
        [ordering_events.SetFinishTimer(wait_ns=5), ordering_events.CancelFinishTimer()],
        [(5, ordering_events.FinishTimerFired())],
        "is not set",
    ),
    ("ingestion", [ingestion_events.SetSyncTimer(5)], [(6, _WRITTEN)], "has not fired in time"),
    (
        "ingestion",
        [ingestion_events.MakeDurable(StepContent.DATA, None)],
        [(6, _DURABLE), (6, _DURABLE)],
        "a durable step has an unexpected answer",
    ),
    ("course of failures", [], [(0, failover.AllRunning(0))], "the deployment"),
    (
        "source",
        [source.FailFeed(feed=None, reader=2)],
        [(1, source.ReaderFinished(feed=None, reader=3, state=1, count=1, partition_id=None))],
        "a feed has failed",
    ),
    ("failure detector", [], [(0, detection.IntervalOver(0))], "is not set"),
)


@pytest.mark.parametrize(("slot", "asked", "comes", "says"), CASES)
def test_a_host_that_fails_its_duty_is_told_of_it(
    slot: str, asked: list[Any], comes: list[tuple[int, Any]], says: str
) -> None:
    """All that comes before the last event is right, and the sentence names the problem."""
    duties = DUTIES[slot]()
    duties.effects(0, asked)
    found = [duties.event(now_ns, event) for now_ns, event in comes]
    assert found[:-1] == [None] * (len(comes) - 1)
    assert says in str(found[-1])


_ABORT = handler_events.AbortCheckpoint(3, FailureReason.CHECKPOINT_EXPIRED)
_ABORTED = subtask_events.CheckpointAborted(3, FailureReason.CHECKPOINT_EXPIRED)
_RECEIVED = handler_events.AllBarriersReceived(3)
_WHOLE = subtask_events.InputReceived(3)
# What one core of a task decides at instant 0, what comes to all of them, the problems of it.
JOINT_CASES: tuple[tuple[list[Any], list[tuple[int, Any]], str], ...] = (
    ([_ABORT], [(1, _WHOLE)], "the abort of 3"),
    (
        [_ABORT, _RECEIVED],
        [(0, _ABORTED), (0, _ABORTED)],
        "the abort of 3 CHECKPOINT_EXPIRED has an unexpected answer",
    ),
    ([_ABORT, _RECEIVED], [(0, _ABORTED), (0, _WHOLE), (5, _WHOLE)], "the whole input of 3"),
    ([handler_events.InitializeInput(_BARRIER)], [(2, _WHOLE)], "the beginning of"),
    ([subtask_events.SnapshotOperators(_BARRIER)], [(2, _WHOLE)], "the snapshot of 3"),
    ([], [(0, subtask_events.CheckpointTriggered(0, _BARRIER))], "the trigger of 3"),
    ([], [(0, lifecycle_events.EndOfPartitionReceived(1))], "the end of channel 1"),
)


@pytest.mark.parametrize(("asked", "comes", "says"), JOINT_CASES)
def test_a_host_that_does_not_pass_on_what_a_core_decides_is_told_of_it(
    asked: list[Any], comes: list[tuple[int, Any]], says: str
) -> None:
    """What one core of a task decides the others hear once, and at once if nothing intervenes."""
    duties = JointDuties(channels=2)
    duties.effects(0, asked)
    found = [duties.event(now_ns, event) for now_ns, event in comes]
    assert found[:-1] == [None] * (len(comes) - 1)
    assert says in str(found[-1])


def test_a_refused_input_takes_back_what_was_decided_with_it() -> None:
    """Everything that is after a refused StartInput no one owes any more."""
    duties = JointDuties(channels=2)
    duties.effects(0, [handler_events.StartInput(0, _BARRIER), _RECEIVED])
    refused = handler_events.InputRefused(0, FailureReason.CHECKPOINT_EXPIRED)
    assert duties.event(0, refused) is None
    assert duties.event(1, handler_events.ChannelEnded(1, 0)) is None


def test_an_abort_that_is_notified_is_passed_on() -> None:
    """The lifecycle learns of it first, the subtask at once, unless the task fails by it."""
    for effects, owed in (([], True), ([lifecycle_effects.FailTask("savepoint")], False)):
        duties = JointDuties(channels=2)
        assert duties.event(0, lifecycle_events.CheckpointAborted(3)) is None
        duties.effects(0, effects)
        assert (duties.event(1, handler_events.ChannelEnded(1, 0)) is not None) is owed


def test_what_a_host_may_do_is_no_failure() -> None:
    """A mail that was posted comes although its timer is cancelled, and a late one comes late."""
    duties = DUTIES["handler"]()
    duties.effects(0, [_ALIGN])
    duties.effects(10, [handler_events.CancelTimer(1)])
    assert duties.event(12, _END) is None
    exact = DUTIES["coordinator"]()
    exact.effects(0, [_SET, coordinator_events.SetTimer(_EXPIRY, 3, 40)])
    assert exact.event(10, _FIRED) is None
    assert exact.event(40, coordinator_events.TimerFired(0, _EXPIRY, 3)) is None


def _broken_in(link: str, runs: int) -> int | None:
    """Return the first of some drawn runs in which a host fails its duty."""
    explorer = Explorer(link=link)
    for number in range(runs):
        found = explorer.run(number, (), Streams(5).stream("drawn", number).integer)
        if any(row.property == DOES_ITS_DUTY for row in found.trial.violations):
            return number
    return None


def test_a_store_whose_syncs_stay_due_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer that is not cancelled comes to a core that has set none, though that forgives it."""
    monkeypatch.setattr(PeriodicSyncer, "cancel", lambda _self: None)
    assert _broken_in("checkpoint_store", 60) is not None


def test_a_store_that_takes_a_sync_timer_behind_all_records_is_convicted() -> None:
    """A sync that is due before a stop does not wait for entries that never come."""
    duties = DUTIES["ingestion"]()
    duties.effects(0, [ingestion_events.SetSyncTimer(delay_ns=5)])
    wrong = duties.event(6, ingestion_events.SyncRequested())
    assert wrong == "the timer of syncs has not fired in time"


def _hears_of_nothing(host: CheckpointsHost, checkpoint: int) -> None:
    del host, checkpoint


def test_a_task_that_keeps_an_abort_from_its_subtask_is_convicted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lifecycle learns of the notification, the subtask does not."""
    monkeypatch.setattr(CheckpointsHost, "abort", _hears_of_nothing)
    assert _broken_in("final_checkpoint", 40) is not None


def _forgets_its_timers(host: CoordinatorHost, make: Callable[[Any], Any]) -> None:
    host._timers.clear()
    host.core = make(host.core)


@pytest.mark.long
def test_timers_that_outlive_a_job_manager_are_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timers of a coordinator are gone with it, and fire for no other."""
    monkeypatch.setattr(CoordinatorHost, "replace_core", _forgets_its_timers)
    assert _broken_in("final_checkpoint", 400) is not None
