"""The subtask side: a trigger in order, aborts, the output timer, acknowledging. Random lives."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.barriers import SubtaskCheckpoints
from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.handler import HandlerKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import events as subtask_events
from tests.barriers.task.account import Counts
from tests.barriers.task.rig import Rig
from tests.barriers.task.script import SCRIPTS, VERBS, Step, play

ALIGNED = Barrier(1, 100, OptionKind.ALIGNED)
UNALIGNED = Barrier(1, 100, OptionKind.UNALIGNED)
TIMEOUTABLE = Barrier(1, 100, OptionKind.TIMEOUTABLE, 50)
SUBSUMED = FailureReason.CHECKPOINT_DECLINED_SUBSUMED


def triggered(barrier: Barrier, open_outputs: int = 0) -> SubtaskCheckpoints:
    """Return a subtask after its barrier, before the snapshot of its operators."""
    subtask = SubtaskCheckpoints()
    subtask.step(subtask_events.CheckpointInitialized(barrier))
    subtask.step(subtask_events.CheckpointTriggered(120, barrier))
    subtask.step(subtask_events.BarrierSent(120, barrier.checkpoint, open_outputs))
    return subtask


def test_an_aligned_checkpoint_needs_the_operators_only() -> None:
    """Prepare, barrier, snapshot, asynchronous part, acknowledgement: in this order."""
    subtask = SubtaskCheckpoints()
    assert subtask.step(subtask_events.CheckpointInitialized(ALIGNED)) == []
    assert subtask.step(subtask_events.CheckpointTriggered(120, ALIGNED)) == [
        subtask_events.PrepareOperators(1),
        subtask_events.BroadcastBarrier(ALIGNED),
    ]
    assert subtask.step(subtask_events.BarrierSent(120, 1)) == [
        subtask_events.SnapshotOperators(ALIGNED)
    ]
    assert subtask.step(subtask_events.InputReceived(1)) == []
    assert subtask.step(subtask_events.SyncPartDone(1)) == [subtask_events.StartAsyncPart(1)]
    assert subtask.step(subtask_events.AsyncPartDone(1)) == [
        subtask_events.AcknowledgeCheckpoint(1, 0, unaligned=False)
    ]
    assert subtask.running == ()


def test_an_unaligned_checkpoint_waits_for_its_channel_state() -> None:
    """The writer starts first. The trigger closes the output, the last barrier the input."""
    subtask = SubtaskCheckpoints()
    assert subtask.step(subtask_events.CheckpointInitialized(UNALIGNED)) == [
        subtask_events.StartWriter(1),
        subtask_events.SavePartialRecords(1),
    ]
    subtask.step(subtask_events.CheckpointTriggered(120, UNALIGNED))
    assert subtask.step(subtask_events.BarrierSent(120, 1)) == [
        subtask_events.CloseOutputState(1),
        subtask_events.SnapshotOperators(UNALIGNED),
    ]
    subtask.step(subtask_events.SyncPartDone(1))
    assert subtask.step(subtask_events.AsyncPartDone(1)) == []
    assert subtask.step(subtask_events.InputReceived(1)) == [subtask_events.CloseInputState(1)]
    assert subtask.step(subtask_events.InputReceived(1)) == []
    assert subtask.step(subtask_events.ChannelStateWritten(1, 640)) == [
        subtask_events.AcknowledgeCheckpoint(1, 640, unaligned=True)
    ]


def test_the_unaligned_flag_means_that_there_was_in_flight_data() -> None:
    """An unaligned checkpoint that found every queue empty is not reported as unaligned."""
    subtask = triggered(UNALIGNED)
    subtask.step(subtask_events.ChannelStateWritten(1, 0))
    assert subtask.step(subtask_events.AsyncPartDone(1)) == [
        subtask_events.AcknowledgeCheckpoint(1, 0, unaligned=False)
    ]


def test_a_timeoutable_checkpoint_closes_its_output_when_nothing_is_open() -> None:
    """The timer runs for the rest of the time-out. The last settled subpartition closes."""
    subtask = SubtaskCheckpoints()
    assert subtask.step(subtask_events.CheckpointInitialized(TIMEOUTABLE)) == [
        subtask_events.StartWriter(1),
        subtask_events.CloseInputState(1),
    ]
    subtask.step(subtask_events.CheckpointTriggered(120, TIMEOUTABLE))
    assert subtask.step(subtask_events.BarrierSent(120, 1, open_outputs=3)) == [
        subtask_events.SetOutputTimer(1, 30),
        subtask_events.SnapshotOperators(TIMEOUTABLE),
    ]
    assert subtask.step(subtask_events.OutputSettled(1)) == []
    assert subtask.step(subtask_events.OutputTimerFired(1)) == [subtask_events.TimeOutOutputs(1)]
    assert subtask.step(subtask_events.OutputSettled(1, count=2)) == [
        subtask_events.CloseOutputState(1)
    ]
    subtask.step(subtask_events.ChannelStateWritten(1, 32))
    assert subtask.step(subtask_events.AsyncPartDone(1)) == [
        subtask_events.AcknowledgeCheckpoint(1, 32, unaligned=True)
    ]


def test_an_overdue_output_timer_fires_at_once() -> None:
    """A trigger that comes after its time-out has no delay left."""
    subtask = SubtaskCheckpoints()
    subtask.step(subtask_events.CheckpointTriggered(500, TIMEOUTABLE))
    assert subtask_events.SetOutputTimer(1, 0) in subtask.step(subtask_events.BarrierSent(500, 1))


def test_a_newer_checkpoint_replaces_the_output_timer() -> None:
    """There is one output timer. A stale one that fires nevertheless does nothing."""
    subtask = triggered(TIMEOUTABLE)
    newer = Barrier(2, 200, OptionKind.TIMEOUTABLE, 50)
    subtask.step(subtask_events.CheckpointTriggered(210, newer))
    assert subtask.step(subtask_events.BarrierSent(210, 2))[:2] == [
        subtask_events.CancelOutputTimer(1),
        subtask_events.SetOutputTimer(2, 40),
    ]
    assert subtask.step(subtask_events.OutputTimerFired(1)) == []
    assert subtask.step(subtask_events.OutputTimerFired(2)) == [subtask_events.TimeOutOutputs(2)]


@pytest.mark.parametrize(
    ("timeout_ns", "kind"), [(None, OptionKind.UNALIGNED), (50, OptionKind.TIMEOUTABLE)]
)
def test_a_forced_aligned_checkpoint_may_overtake_its_outputs(
    timeout_ns: int | None, kind: OptionKind
) -> None:
    """Its barrier goes out as what it was, and its input is initialised again, closed at once."""
    forced = Barrier(1, 100, OptionKind.FORCED_ALIGNED, timeout_ns)
    subtask = SubtaskCheckpoints()
    assert subtask.step(subtask_events.CheckpointInitialized(forced)) == []
    effects = subtask.step(subtask_events.CheckpointTriggered(120, forced))
    assert effects[0] == subtask_events.StartWriter(1)
    assert subtask_events.CloseInputState(1) in effects
    assert effects[-1] == subtask_events.BroadcastBarrier(Barrier(1, 100, kind, timeout_ns))


def test_an_older_checkpoint_is_dropped() -> None:
    """A trigger for a number that was triggered or aborted before does nothing but stop writing."""
    subtask = triggered(ALIGNED)
    assert subtask.step(subtask_events.CheckpointTriggered(130, ALIGNED)) == [
        subtask_events.AbortWriter(1, SUBSUMED)
    ]
    assert subtask.running == (1,)


def test_an_abort_declines_and_then_sends_the_marker() -> None:
    """Everything of the checkpoint stops. The coordinator learns of it before the tasks below."""
    subtask = triggered(TIMEOUTABLE, open_outputs=1)
    assert subtask.step(subtask_events.CheckpointAborted(1, SUBSUMED)) == [
        subtask_events.CancelAsyncPart(1),
        subtask_events.AbortOutputs(1),
        subtask_events.CancelOutputTimer(1),
        subtask_events.AbortWriter(1, SUBSUMED),
        subtask_events.DeclineCheckpoint(1, SUBSUMED),
        subtask_events.BroadcastCancellation(1),
    ]
    assert subtask.step(subtask_events.AsyncPartDone(1)) == []
    assert subtask.step(subtask_events.CheckpointTriggered(130, TIMEOUTABLE)) == [
        subtask_events.AbortWriter(1, SUBSUMED)
    ]


def test_an_abort_of_another_checkpoint_leaves_the_timer() -> None:
    """Aborting 2 does not cancel the output timer of 1."""
    subtask = triggered(TIMEOUTABLE)
    effects = subtask.step(subtask_events.CheckpointAborted(2, SUBSUMED))
    assert subtask_events.CancelOutputTimer(1) not in effects
    assert subtask.step(subtask_events.OutputTimerFired(1)) == [subtask_events.TimeOutOutputs(1)]


def test_a_notified_abort_before_the_barrier_is_answered_by_a_marker() -> None:
    """The late trigger takes no snapshot. A marker keeps the tasks below from waiting."""
    subtask = SubtaskCheckpoints()
    subtask.step(subtask_events.AbortNotified(1))
    assert subtask.step(subtask_events.CheckpointTriggered(120, ALIGNED)) == [
        subtask_events.BroadcastCancellation(1),
        subtask_events.AbortWriter(1, FailureReason.CHECKPOINT_DECLINED),
    ]
    assert subtask.running == ()


def test_a_notified_abort_of_a_running_checkpoint_stops_it() -> None:
    """The asynchronous part is cancelled. Nothing is declined and no marker is sent."""
    subtask = triggered(UNALIGNED)
    assert subtask.step(subtask_events.AbortNotified(1)) == [
        subtask_events.CancelAsyncPart(1),
        subtask_events.AbortWriter(1, FailureReason.CHECKPOINT_DECLINED),
    ]
    assert subtask.step(subtask_events.ChannelStateWritten(1, 5)) == []


def test_early_abort_notifications_are_remembered_up_to_a_limit() -> None:
    """The oldest of 129 early notifications is forgotten, and its checkpoint is taken."""
    subtask = SubtaskCheckpoints()
    for checkpoint in range(1, 130):
        subtask.step(subtask_events.AbortNotified(checkpoint))
    assert subtask_events.PrepareOperators(1) in subtask.step(
        subtask_events.CheckpointTriggered(0, ALIGNED)
    )
    second = Barrier(2, 0, OptionKind.ALIGNED)
    assert subtask_events.BroadcastCancellation(2) in subtask.step(
        subtask_events.CheckpointTriggered(0, second)
    )


def test_a_barrier_abort_forgets_older_early_notifications() -> None:
    """What lies below an aborted number cannot be triggered any more."""
    subtask = SubtaskCheckpoints()
    subtask.step(subtask_events.AbortNotified(1))
    subtask.step(subtask_events.CheckpointAborted(3, SUBSUMED))
    assert subtask.step(subtask_events.CheckpointTriggered(0, ALIGNED)) == [
        subtask_events.AbortWriter(1, SUBSUMED)
    ]


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (subtask_events.AsyncPartFailed(1), FailureReason.CHECKPOINT_ASYNC_EXCEPTION),
        (
            subtask_events.ChannelStateFailed(
                1, FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION
            ),
            FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION,
        ),
        (subtask_events.OutputSettled(1, failed=True), FailureReason.CHECKPOINT_ASYNC_EXCEPTION),
    ],
)
def test_a_failure_after_the_barrier_declines_without_a_marker(
    event: subtask_events.SubtaskEvent, reason: FailureReason
) -> None:
    """The barrier is on its way, so only the coordinator learns of it."""
    subtask = triggered(TIMEOUTABLE, open_outputs=1)
    subtask.step(subtask_events.SyncPartDone(1))
    assert subtask.step(event) == [
        subtask_events.CancelAsyncPart(1),
        subtask_events.DeclineCheckpoint(1, reason),
    ]
    assert subtask.step(subtask_events.AsyncPartDone(1)) == []


@pytest.mark.parametrize(
    "event",
    [subtask_events.ChannelStateFailed(1, SUBSUMED), subtask_events.OutputSettled(1, failed=True)],
)
def test_a_failure_while_the_barrier_is_sent_waits_for_the_snapshot(
    event: subtask_events.SubtaskEvent,
) -> None:
    """The asynchronous part finds the failure, so operators take their snapshot before."""
    subtask = SubtaskCheckpoints()
    subtask.step(subtask_events.CheckpointInitialized(TIMEOUTABLE))
    subtask.step(subtask_events.CheckpointTriggered(120, TIMEOUTABLE))
    assert subtask.step(event) == []
    found = subtask.step(subtask_events.BarrierSent(120, 1, 1))
    assert found == [
        subtask_events.SetOutputTimer(1, 30),
        subtask_events.SnapshotOperators(TIMEOUTABLE),
    ]
    cancelled, declined = subtask.step(subtask_events.SyncPartDone(1))
    assert cancelled == subtask_events.CancelAsyncPart(1)
    assert isinstance(declined, subtask_events.DeclineCheckpoint)
    assert subtask.step(subtask_events.SyncPartDone(1)) == []


def test_channel_state_that_failed_before_the_trigger_declines_after_the_snapshot() -> None:
    """A writer that was aborted early still gives the checkpoint an end."""
    subtask = SubtaskCheckpoints()
    subtask.step(subtask_events.CheckpointInitialized(UNALIGNED))
    subtask.step(subtask_events.ChannelStateFailed(1, SUBSUMED))
    subtask.step(subtask_events.CheckpointTriggered(120, UNALIGNED))
    subtask.step(subtask_events.BarrierSent(120, 1))
    assert subtask.step(subtask_events.SyncPartDone(1)) == [
        subtask_events.CancelAsyncPart(1),
        subtask_events.DeclineCheckpoint(1, SUBSUMED),
    ]


@pytest.mark.parametrize("kind", list(HandlerKind))
@settings(max_examples=400)
@given(script=SCRIPTS, shape=st.sampled_from([(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (4, 2)]))
def test_random_lives_keep_every_rule(
    kind: HandlerKind, script: list[Step], shape: tuple[int, int]
) -> None:
    """Exactly once per element, order, freeing of channels, at most one trigger and abort."""
    channels, gates = shape
    play(Rig(kind, channels, gates=gates), script)


def test_the_interesting_situations_are_reached() -> None:
    """A fixed set of lives reaches each situation that the rules are about."""
    total = Counts()
    draw = random.Random(5)
    for _ in range(1500):
        script = [(draw.choice(VERBS), draw.randrange(3), draw.randrange(13)) for _ in range(80)]
        counts = play(Rig(HandlerKind.ALTERNATING, 3), script).counts
        for name in Counts.__slots__:
            setattr(total, name, getattr(total, name) + getattr(counts, name))
    for name in Counts.__slots__:
        assert getattr(total, name) > 20, name
