"""The subtask side: the order of a trigger, aborts, the output timer, the acknowledgement."""

from __future__ import annotations

import pytest

from ckptsim.models.barriers import SubtaskCheckpoints
from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import events as ev

ALIGNED = Barrier(1, 100, OptionKind.ALIGNED)
UNALIGNED = Barrier(1, 100, OptionKind.UNALIGNED)
TIMEOUTABLE = Barrier(1, 100, OptionKind.TIMEOUTABLE, 50)
SUBSUMED = FailureReason.CHECKPOINT_DECLINED_SUBSUMED


def triggered(barrier: Barrier, open_outputs: int = 0) -> SubtaskCheckpoints:
    """Return a subtask whose barrier is out and whose operators are about to snapshot."""
    subtask = SubtaskCheckpoints()
    subtask.step(ev.CheckpointInitialized(barrier))
    subtask.step(ev.CheckpointTriggered(120, barrier))
    subtask.step(ev.BarrierSent(120, barrier.checkpoint, open_outputs))
    return subtask


def test_an_aligned_checkpoint_needs_the_operators_only() -> None:
    """Prepare, barrier, snapshot, asynchronous part, acknowledgement: in this order."""
    subtask = SubtaskCheckpoints()
    assert subtask.step(ev.CheckpointInitialized(ALIGNED)) == []
    assert subtask.step(ev.CheckpointTriggered(120, ALIGNED)) == [
        ev.PrepareOperators(1),
        ev.BroadcastBarrier(ALIGNED),
    ]
    assert subtask.step(ev.BarrierSent(120, 1)) == [ev.SnapshotOperators(ALIGNED)]
    assert subtask.step(ev.InputReceived(1)) == []
    assert subtask.step(ev.SyncPartDone(1)) == [ev.StartAsyncPart(1)]
    assert subtask.step(ev.AsyncPartDone(1)) == [ev.AcknowledgeCheckpoint(1, 0, unaligned=False)]
    assert subtask.running == ()


def test_an_unaligned_checkpoint_waits_for_its_channel_state() -> None:
    """The writer starts first; the trigger closes the output, the last barrier the input."""
    subtask = SubtaskCheckpoints()
    assert subtask.step(ev.CheckpointInitialized(UNALIGNED)) == [
        ev.StartWriter(1),
        ev.SavePartialRecords(1),
    ]
    subtask.step(ev.CheckpointTriggered(120, UNALIGNED))
    assert subtask.step(ev.BarrierSent(120, 1)) == [
        ev.CloseOutputState(1),
        ev.SnapshotOperators(UNALIGNED),
    ]
    subtask.step(ev.SyncPartDone(1))
    assert subtask.step(ev.AsyncPartDone(1)) == []
    assert subtask.step(ev.InputReceived(1)) == [ev.CloseInputState(1)]
    assert subtask.step(ev.InputReceived(1)) == []
    assert subtask.step(ev.ChannelStateWritten(1, 640)) == [
        ev.AcknowledgeCheckpoint(1, 640, unaligned=True)
    ]


def test_the_unaligned_flag_means_that_there_was_in_flight_data() -> None:
    """An unaligned checkpoint that found every queue empty is not reported as unaligned."""
    subtask = triggered(UNALIGNED)
    subtask.step(ev.ChannelStateWritten(1, 0))
    assert subtask.step(ev.AsyncPartDone(1)) == [ev.AcknowledgeCheckpoint(1, 0, unaligned=False)]


def test_a_timeoutable_checkpoint_closes_its_output_when_nothing_is_open() -> None:
    """The timer runs for what is left of the time-out; the last settled subpartition closes."""
    subtask = SubtaskCheckpoints()
    assert subtask.step(ev.CheckpointInitialized(TIMEOUTABLE)) == [
        ev.StartWriter(1),
        ev.CloseInputState(1),
    ]
    subtask.step(ev.CheckpointTriggered(120, TIMEOUTABLE))
    assert subtask.step(ev.BarrierSent(120, 1, open_outputs=3)) == [
        ev.SetOutputTimer(1, 30),
        ev.SnapshotOperators(TIMEOUTABLE),
    ]
    assert subtask.step(ev.OutputSettled(1)) == []
    assert subtask.step(ev.OutputTimerFired(1)) == [ev.TimeOutOutputs(1)]
    assert subtask.step(ev.OutputSettled(1, count=2)) == [ev.CloseOutputState(1)]
    subtask.step(ev.ChannelStateWritten(1, 32))
    assert subtask.step(ev.AsyncPartDone(1)) == [ev.AcknowledgeCheckpoint(1, 32, unaligned=True)]


def test_an_overdue_output_timer_fires_at_once() -> None:
    """A trigger that comes after its time-out has no delay left."""
    subtask = SubtaskCheckpoints()
    subtask.step(ev.CheckpointTriggered(500, TIMEOUTABLE))
    assert ev.SetOutputTimer(1, 0) in subtask.step(ev.BarrierSent(500, 1))


def test_a_newer_checkpoint_replaces_the_output_timer() -> None:
    """There is one output timer; a stale one that fires nevertheless does nothing."""
    subtask = triggered(TIMEOUTABLE)
    newer = Barrier(2, 200, OptionKind.TIMEOUTABLE, 50)
    subtask.step(ev.CheckpointTriggered(210, newer))
    assert subtask.step(ev.BarrierSent(210, 2))[:2] == [
        ev.CancelOutputTimer(1),
        ev.SetOutputTimer(2, 40),
    ]
    assert subtask.step(ev.OutputTimerFired(1)) == []
    assert subtask.step(ev.OutputTimerFired(2)) == [ev.TimeOutOutputs(2)]


@pytest.mark.parametrize(
    ("timeout_ns", "kind"), [(None, OptionKind.UNALIGNED), (50, OptionKind.TIMEOUTABLE)]
)
def test_a_forced_aligned_checkpoint_may_overtake_its_outputs(
    timeout_ns: int | None, kind: OptionKind
) -> None:
    """Its barrier goes out as what it was, and its input is initialised again, closed at once."""
    forced = Barrier(1, 100, OptionKind.FORCED_ALIGNED, timeout_ns)
    subtask = SubtaskCheckpoints()
    assert subtask.step(ev.CheckpointInitialized(forced)) == []
    effects = subtask.step(ev.CheckpointTriggered(120, forced))
    assert effects[0] == ev.StartWriter(1)
    assert ev.CloseInputState(1) in effects
    assert effects[-1] == ev.BroadcastBarrier(Barrier(1, 100, kind, timeout_ns))


def test_an_older_checkpoint_is_dropped() -> None:
    """A trigger for a number that was triggered or aborted before does nothing but stop writing."""
    subtask = triggered(ALIGNED)
    assert subtask.step(ev.CheckpointTriggered(130, ALIGNED)) == [ev.AbortWriter(1, SUBSUMED)]
    assert subtask.running == (1,)


def test_an_abort_declines_and_then_sends_the_marker() -> None:
    """Everything of the checkpoint stops; the coordinator hears of it before the tasks below."""
    subtask = triggered(TIMEOUTABLE, open_outputs=1)
    assert subtask.step(ev.CheckpointAborted(1, SUBSUMED)) == [
        ev.CancelAsyncPart(1),
        ev.AbortOutputs(1),
        ev.CancelOutputTimer(1),
        ev.AbortWriter(1, SUBSUMED),
        ev.DeclineCheckpoint(1, SUBSUMED),
        ev.BroadcastCancellation(1),
    ]
    assert subtask.step(ev.AsyncPartDone(1)) == []
    assert subtask.step(ev.CheckpointTriggered(130, TIMEOUTABLE)) == [ev.AbortWriter(1, SUBSUMED)]


def test_an_abort_of_another_checkpoint_leaves_the_timer() -> None:
    """Aborting 2 does not cancel the output timer of 1."""
    subtask = triggered(TIMEOUTABLE)
    effects = subtask.step(ev.CheckpointAborted(2, SUBSUMED))
    assert ev.CancelOutputTimer(1) not in effects
    assert subtask.step(ev.OutputTimerFired(1)) == [ev.TimeOutOutputs(1)]


def test_a_notified_abort_before_the_barrier_is_answered_by_a_marker() -> None:
    """The late trigger takes no snapshot; a marker keeps the tasks below from waiting."""
    subtask = SubtaskCheckpoints()
    subtask.step(ev.AbortNotified(1))
    assert subtask.step(ev.CheckpointTriggered(120, ALIGNED)) == [
        ev.BroadcastCancellation(1),
        ev.AbortWriter(1, FailureReason.CHECKPOINT_DECLINED),
    ]
    assert subtask.running == ()


def test_a_notified_abort_of_a_running_checkpoint_stops_it() -> None:
    """The asynchronous part is cancelled; nothing is declined and no marker is sent."""
    subtask = triggered(UNALIGNED)
    assert subtask.step(ev.AbortNotified(1)) == [
        ev.CancelAsyncPart(1),
        ev.AbortWriter(1, FailureReason.CHECKPOINT_DECLINED),
    ]
    assert subtask.step(ev.ChannelStateWritten(1, 5)) == []


def test_early_abort_notifications_are_remembered_up_to_a_limit() -> None:
    """The oldest of 129 early notifications is forgotten, and its checkpoint is taken."""
    subtask = SubtaskCheckpoints()
    for checkpoint in range(1, 130):
        subtask.step(ev.AbortNotified(checkpoint))
    assert ev.PrepareOperators(1) in subtask.step(ev.CheckpointTriggered(0, ALIGNED))
    second = Barrier(2, 0, OptionKind.ALIGNED)
    assert ev.BroadcastCancellation(2) in subtask.step(ev.CheckpointTriggered(0, second))


def test_a_barrier_abort_forgets_older_early_notifications() -> None:
    """What lies below an aborted number cannot be triggered any more."""
    subtask = SubtaskCheckpoints()
    subtask.step(ev.AbortNotified(1))
    subtask.step(ev.CheckpointAborted(3, SUBSUMED))
    assert subtask.step(ev.CheckpointTriggered(0, ALIGNED)) == [ev.AbortWriter(1, SUBSUMED)]


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (ev.AsyncPartFailed(1), FailureReason.CHECKPOINT_ASYNC_EXCEPTION),
        (
            ev.ChannelStateFailed(1, FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION),
            FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION,
        ),
        (ev.OutputSettled(1, failed=True), FailureReason.CHECKPOINT_ASYNC_EXCEPTION),
    ],
)
def test_a_failure_after_the_barrier_declines_without_a_marker(
    event: ev.SubtaskEvent, reason: FailureReason
) -> None:
    """The barrier is on its way, so only the coordinator hears of it."""
    subtask = triggered(TIMEOUTABLE, open_outputs=1)
    subtask.step(ev.SyncPartDone(1))
    assert subtask.step(event) == [ev.CancelAsyncPart(1), ev.DeclineCheckpoint(1, reason)]
    assert subtask.step(ev.AsyncPartDone(1)) == []


@pytest.mark.parametrize(
    "event", [ev.ChannelStateFailed(1, SUBSUMED), ev.OutputSettled(1, failed=True)]
)
def test_a_failure_while_the_barrier_is_sent_waits_for_the_snapshot(event: ev.SubtaskEvent) -> None:
    """The asynchronous part finds the failure, so operators take their snapshot before."""
    subtask = SubtaskCheckpoints()
    subtask.step(ev.CheckpointInitialized(TIMEOUTABLE))
    subtask.step(ev.CheckpointTriggered(120, TIMEOUTABLE))
    assert subtask.step(event) == []
    found = subtask.step(ev.BarrierSent(120, 1, 1))
    assert found == [ev.SetOutputTimer(1, 30), ev.SnapshotOperators(TIMEOUTABLE)]
    cancelled, declined = subtask.step(ev.SyncPartDone(1))
    assert cancelled == ev.CancelAsyncPart(1)
    assert isinstance(declined, ev.DeclineCheckpoint)
    assert subtask.step(ev.SyncPartDone(1)) == []


def test_channel_state_that_failed_before_the_trigger_declines_after_the_snapshot() -> None:
    """A writer that was aborted early still gives the checkpoint an end."""
    subtask = SubtaskCheckpoints()
    subtask.step(ev.CheckpointInitialized(UNALIGNED))
    subtask.step(ev.ChannelStateFailed(1, SUBSUMED))
    subtask.step(ev.CheckpointTriggered(120, UNALIGNED))
    subtask.step(ev.BarrierSent(120, 1))
    assert subtask.step(ev.SyncPartDone(1)) == [
        ev.CancelAsyncPart(1),
        ev.DeclineCheckpoint(1, SUBSUMED),
    ]
