"""The receiver's end of a channel: places of barriers, and exactly the buffers that are state."""

from __future__ import annotations

import pytest

from ckptsim.models.barriers import LocalInputChannel, PersisterStatus, RemoteInputChannel
from ckptsim.models.barriers.barrier import (
    Announcement,
    CancellationMarker,
)
from ckptsim.models.barriers.channels import NetworkEffect, PersistInput, ResumeSender
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError
from tests.barriers.task.test_queues import timed, unaligned


def receiver(*elements: object) -> tuple[RemoteInputChannel, list[NetworkEffect]]:
    """Return a receiver's queue to which these elements came, and its emptied outbox."""
    outbox: list[NetworkEffect] = []
    channel = RemoteInputChannel(5, outbox)
    for element in elements:
        channel.arrive(element)
    outbox.clear()
    return channel, outbox


def test_a_timeoutable_barrier_is_announced_in_front() -> None:
    """The announcement names the barrier's place. The barrier itself waits in the queue."""
    channel, _ = receiver("a", timed(1))
    assert [channel.poll() for _ in range(4)] == [Announcement(timed(1), 1), "a", timed(1), None]


def test_starting_before_the_barrier_persists_what_is_queued_and_what_comes() -> None:
    """Until the barrier arrives. Nothing after it."""
    channel, outbox = receiver("a", "b")
    assert channel.start(1) is None
    channel.arrive("c")
    channel.arrive_data(["d", "e"])
    channel.arrive(unaligned(1))
    channel.arrive("f")
    assert outbox == [
        PersistInput(5, 1, ("a", "b")),
        PersistInput(5, 1, ("c",)),
        PersistInput(5, 1, ("d", "e")),
    ]


def test_starting_after_the_barrier_persists_up_to_its_place() -> None:
    """What arrived after the barrier is not state, the processed data before neither."""
    channel, outbox = receiver("a", "b", unaligned(1), "c")
    assert channel.poll() == unaligned(1)
    channel.poll()
    assert channel.start(1) is None
    channel.arrive("d")
    assert outbox == [PersistInput(5, 1, ("b",))]


def test_the_place_of_an_older_barrier_does_not_cut_a_newer_checkpoint() -> None:
    """An obsolete barrier is forgotten when a newer checkpoint starts, and its data persists."""
    channel, outbox = receiver("a", unaligned(1), "b")
    assert channel.start(2) is None
    assert channel.last_barrier == -1
    channel.arrive("c")
    assert outbox == [PersistInput(5, 2, ("a", "b")), PersistInput(5, 2, ("c",))]


def test_a_late_barrier_of_a_cancelled_checkpoint_does_not_stop_a_newer_one() -> None:
    """Persisting for 2 continues when the barrier of 1 arrives late."""
    channel, outbox = receiver()
    channel.start(1)
    channel.stop(1)
    channel.start(2)
    channel.arrive(unaligned(1))
    channel.arrive("a")
    assert outbox == [PersistInput(5, 2, ("a",))]


def test_a_newer_barrier_refuses_an_older_start() -> None:
    """Nothing changes then."""
    channel, outbox = receiver("a", unaligned(2))
    assert channel.start(1) is FailureReason.CHECKPOINT_SUBSUMED
    assert outbox == []
    assert channel.last_barrier == 2


def test_a_remembered_barrier_refuses_older_starts_also_after_a_newer_stop() -> None:
    """The place of 5 is still known when 6 has been stopped, so 4 cannot start."""
    channel, outbox = receiver("a", unaligned(5))
    channel.stop(6)
    assert channel.persister.status is PersisterStatus.COMPLETED
    assert channel.start(4) is FailureReason.CHECKPOINT_SUBSUMED
    assert outbox == []


def test_stopping_an_older_checkpoint_leaves_a_newer_one_alone() -> None:
    """The network may have noted a newer barrier meanwhile."""
    channel, _ = receiver(unaligned(2))
    channel.stop(1)
    assert channel.persister.status is PersisterStatus.BARRIER_RECEIVED
    assert channel.last_barrier == 2
    channel.stop(2)
    assert channel.persister.status is PersisterStatus.COMPLETED
    assert channel.last_barrier == -1


def test_a_converted_barrier_moves_to_the_front_unchanged() -> None:
    """It keeps its kind and is after everything that was urgent before."""
    channel, _ = receiver("a", timed(1))
    channel.poll()
    channel.prioritize(1)
    assert channel.priority_elements() == ((timed(1), 1),)
    assert [channel.poll() for _ in range(2)] == [timed(1), "a"]


def test_what_is_not_queued_cannot_be_converted() -> None:
    """A place where nothing is is an error that changes nothing."""
    channel, _ = receiver("a", timed(1))
    before = channel.normal_elements()
    with pytest.raises(ProtocolError, match="no_such_element"):
        channel.prioritize(7)
    assert channel.normal_elements() == before


def test_only_the_barrier_noted_last_can_be_converted() -> None:
    """An older barrier, or one with its announcement there, is an error and leaves the queue.

    Source: recorded from Apache Flink 1.20.3, RemoteInputChannel.convertToPriorityEvent.
    """
    channel, _ = receiver(timed(1), timed(2))
    with pytest.raises(ProtocolError, match="it has overtaken"):
        channel.prioritize(1)
    assert channel.priority_elements() == ((Announcement(timed(1), 0), 0),)
    channel.poll()
    with pytest.raises(ProtocolError, match="the barrier noted last is 1"):
        channel.prioritize(0)
    assert channel.normal_elements() == ((timed(2), 1),)
    channel.prioritize(1)
    assert channel.poll() == timed(2)


def test_resuming_is_passed_to_the_sender() -> None:
    """A receiver only forwards it."""
    channel, outbox = receiver()
    channel.resume()
    assert outbox == [ResumeSender(5)]


def test_a_local_channel_persists_what_is_pulled_before_the_barrier() -> None:
    """There is no queue to look at. A newer barrier refuses an older start."""
    outbox: list[NetworkEffect] = []
    channel = LocalInputChannel(4, outbox)
    channel.pulled("a")
    assert channel.start(1) is None
    channel.pulled("b")
    channel.pulled(CancellationMarker(0))
    channel.pulled(unaligned(1))
    channel.pulled("c")
    assert outbox == [PersistInput(4, 1, ("b",))]
    channel.stop(1)
    channel.pulled(unaligned(3))
    assert channel.start(2) is FailureReason.CHECKPOINT_SUBSUMED
