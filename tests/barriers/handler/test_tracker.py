"""The at-least-once tracker: several checkpoints at once, nothing blocked."""

from __future__ import annotations

import pytest

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.handler import AllBarriers, BarrierTracker
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.handler.tracker import MAX_TRACKED
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError

CANCELLED = FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER
ENDED = FailureReason.CHECKPOINT_DECLINED_INPUT_END_OF_STREAM


def barrier(checkpoint: int) -> Barrier:
    """Return a barrier that was triggered at time 0."""
    return Barrier(checkpoint, 0, OptionKind.AT_LEAST_ONCE)


def deliver(
    tracker: BarrierTracker, *deliveries: tuple[int, int], now_ns: int = 0
) -> list[handler_events.HandlerEffect]:
    """Deliver barriers, given as channel and checkpoint. Returns all effects."""
    effects: list[handler_events.HandlerEffect] = []
    for channel, checkpoint in deliveries:
        effects += tracker.step(handler_events.BarrierArrived(now_ns, channel, barrier(checkpoint)))
    return effects


def test_the_last_barrier_triggers_and_drops_older_checkpoints_silently() -> None:
    """Completing 2 forgets 1 without an abort."""
    tracker = BarrierTracker(2)
    deliver(tracker, (0, 1), (0, 2))
    assert tracker.pending_checkpoints == (1, 2)
    assert deliver(tracker, (1, 2), now_ns=30) == [
        handler_events.TriggerCheckpoint(barrier(2), 0),
        handler_events.AlignmentMeasured(2, 30, 0),
    ]
    assert not tracker.pending
    assert deliver(tracker, (1, 1)) == []


def test_the_clock_serves_the_newest_checkpoint_only() -> None:
    """An older one that completes has no figures and leaves the running clock alone."""
    tracker = BarrierTracker(2)
    deliver(tracker, (0, 1), now_ns=10)
    deliver(tracker, (0, 2), now_ns=20)
    assert deliver(tracker, (1, 1), now_ns=30) == [
        handler_events.TriggerCheckpoint(barrier(1), 0),
        handler_events.AlignmentMeasured(1, 0, 0),
    ]
    tracker.step(handler_events.BytesProcessed(7))
    assert deliver(tracker, (1, 2), now_ns=50) == [
        handler_events.TriggerCheckpoint(barrier(2), 20),
        handler_events.AlignmentMeasured(2, 30, 7),
    ]


def test_a_single_open_channel_triggers_at_once_and_leaves_no_entry() -> None:
    """The fast path measures nothing and remembers nothing."""
    tracker = BarrierTracker(1)
    assert deliver(tracker, (0, 4), now_ns=9) == [
        handler_events.TriggerCheckpoint(barrier(4), 9),
        handler_events.AlignmentMeasured(4, 0, 0),
    ]
    assert tracker.latest == -1
    assert tracker.step(handler_events.CancellationArrived(9, 0, 5)) == [
        handler_events.AbortCheckpoint(5, CANCELLED)
    ]


def test_a_cancellation_aborts_older_checkpoints_and_itself_once() -> None:
    """Everything that is older goes with it. Repeats are silent. The last one removes the entry."""
    tracker = BarrierTracker(2)
    deliver(tracker, (0, 1), (0, 2))
    assert tracker.step(handler_events.CancellationArrived(0, 0, 3)) == [
        handler_events.AbortCheckpoint(1, CANCELLED),
        handler_events.AbortCheckpoint(2, CANCELLED),
        handler_events.AbortCheckpoint(3, CANCELLED),
    ]
    assert tracker.pending_checkpoints == (3,)
    assert tracker.step(handler_events.CancellationArrived(0, 1, 3)) == []
    assert tracker.pending_checkpoints == ()
    assert tracker.step(handler_events.CancellationArrived(0, 1, 2)) == []


def test_the_barriers_of_a_cancelled_checkpoint_do_not_trigger_it() -> None:
    """They only remove its entry."""
    tracker = BarrierTracker(2)
    tracker.step(handler_events.CancellationArrived(0, 0, 1))
    assert deliver(tracker, (1, 1)) == []
    assert not tracker.pending


def test_the_end_of_a_channel_counts_as_its_barriers() -> None:
    """The newest complete checkpoint is triggered, older ones are dropped with it."""
    tracker = BarrierTracker(3)
    deliver(tracker, (0, 1), (1, 1), (0, 2), (1, 2), (0, 3))
    effects = tracker.step(handler_events.ChannelEnded(5, 2))
    assert effects[0] == handler_events.TriggerCheckpoint(barrier(2), 0)
    assert tracker.pending_checkpoints == (3,)
    assert tracker.open_channels == 2


def test_without_checkpoints_after_finish_an_end_aborts_everything() -> None:
    """Oldest first, and the clock is reset."""
    tracker = BarrierTracker(2, after_finish=False)
    deliver(tracker, (0, 1), (0, 2))
    assert tracker.step(handler_events.ChannelEnded(0, 1)) == [
        handler_events.AbortCheckpoint(1, ENDED),
        handler_events.AbortCheckpoint(2, ENDED),
    ]
    assert not tracker.clock.running


def test_the_oldest_of_too_many_is_dropped_silently() -> None:
    """Fifty checkpoints are kept in mind."""
    tracker = BarrierTracker(2)
    assert deliver(tracker, *((0, number) for number in range(1, MAX_TRACKED + 2))) == []
    assert tracker.pending_checkpoints == tuple(range(2, MAX_TRACKED + 2))


def test_nothing_is_waited_for_and_announcements_are_ignored() -> None:
    """The tracker persists no in-flight data, so all barriers always count as received."""
    tracker = BarrierTracker(2)
    assert tracker.all_barriers(7) is AllBarriers.DONE
    assert tracker.step(handler_events.BarrierAnnounced(0, 0, barrier(1), 3)) == []
    assert tracker.step(handler_events.HandlerClosed()) == []
    assert not tracker.pending


def test_a_skipped_checkpoint_on_the_last_open_channel_fails_the_task_later() -> None:
    """The fast path stops the clock that the open entry still needs. Its end then finds none.

    This is what the original does: the duration comes out negative and its check throws.
    """
    tracker = BarrierTracker(2)
    deliver(tracker, (0, 1))
    tracker.step(handler_events.ChannelEnded(0, 0))
    deliver(tracker, (1, 2))
    assert tracker.pending_checkpoints == (1,)
    effects = tracker.step(handler_events.ChannelEnded(0, 1))
    assert effects == [handler_events.FailTask("the alignment ends but its clock does not run")]


@pytest.mark.parametrize(
    "event",
    [
        handler_events.TimerFired(0, barrier(1)),
        handler_events.InputRefused(0, CANCELLED),
        handler_events.BarrierArrived(0, 2, barrier(1)),
        handler_events.ChannelEnded(0, -1),
        handler_events.CancellationArrived(0, 2, 1),
    ],
)
def test_foreign_events_are_refused(event: handler_events.HandlerEvent) -> None:
    """Timers, refusals and channels that do not exist are errors."""
    with pytest.raises(ProtocolError):
        BarrierTracker(2).step(event)
