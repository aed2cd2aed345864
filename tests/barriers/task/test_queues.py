"""The sender's queue of a channel: order, overtaking, blocking, and the buffers that are state."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.barriers import (
    Subpartition,
)
from ckptsim.models.barriers.barrier import (
    Barrier,
    CancellationMarker,
    EndOfChannelState,
    EndOfPartition,
    NetworkEvent,
    OptionKind,
)
from ckptsim.models.barriers.channels import (
    NetworkEffect,
    OutputStateFailed,
    OutputStateKnown,
    OutputStateOpened,
    PersistOutput,
)
from ckptsim.models.core import ProtocolError


def unaligned(checkpoint: int) -> Barrier:
    """Return an unaligned barrier."""
    return Barrier(checkpoint, 0, OptionKind.UNALIGNED)


def aligned(checkpoint: int) -> Barrier:
    """Return an aligned barrier."""
    return Barrier(checkpoint, 0, OptionKind.ALIGNED)


def timed(checkpoint: int) -> Barrier:
    """Return a timeoutable barrier."""
    return Barrier(checkpoint, 0, OptionKind.TIMEOUTABLE, 10)


def sender(*elements: object) -> tuple[Subpartition, list[NetworkEffect]]:
    """Return a sender's queue that holds these elements, and its emptied outbox."""
    outbox: list[NetworkEffect] = []
    queue = Subpartition(3, outbox)
    fill(queue, *elements)
    outbox.clear()
    return queue, outbox


def fill(queue: Subpartition, *elements: object) -> None:
    """Put elements into a sender's queue."""
    for element in elements:
        if isinstance(element, NetworkEvent):
            queue.add_event(element)
        else:
            queue.add_data(element)


def test_an_unaligned_barrier_overtakes_all_data_and_all_of_it_is_state() -> None:
    """Also the data after an older queued barrier. Two such barriers keep their order."""
    queue, outbox = sender("a", aligned(1), "b")
    queue.add_barrier(unaligned(2))
    assert outbox == [PersistOutput(3, 2, ("a", "b"))]
    queue.add_barrier(unaligned(3))
    assert queue.priority_elements() == (unaligned(2), unaligned(3))
    assert [queue.poll() for _ in range(4)] == [unaligned(2), unaligned(3), "a", aligned(1)]


def test_a_blocked_queue_sends_nothing_and_tells_of_no_backlog() -> None:
    """Not even its priority section, until it is resumed. Resuming an open queue is an error."""
    queue, _ = sender(aligned(1), "a", "b")
    assert queue.poll() == aligned(1)
    queue.add_barrier(unaligned(2))
    assert queue.poll() is None
    assert queue.poll_data(9) == []
    assert queue.backlog == 0
    queue.resume()
    assert queue.poll() == unaligned(2)
    with pytest.raises(ProtocolError, match="not blocked"):
        queue.resume()


def test_the_end_of_recovered_state_blocks_too() -> None:
    """The receiver resumes the channel when all its channels have come that far."""
    queue, _ = sender(EndOfChannelState(), "a")
    assert queue.poll() == EndOfChannelState()
    assert queue.poll() is None


def test_the_backlog_leaves_out_a_buffer_that_may_still_grow() -> None:
    """The last buffer counts when an event follows it, a flush is asked for, or nothing follows."""
    queue, _ = sender("a", "b")
    assert queue.backlog == 1
    queue.flush_requested = True
    assert queue.backlog == 2
    queue.flush_requested = False
    queue.add_event(CancellationMarker(1))
    assert queue.backlog == 2
    queue.add_data("c")
    assert queue.backlog == 2
    queue.finish()
    assert queue.backlog == 3


def test_a_flush_is_over_when_the_queue_has_run_empty() -> None:
    """What comes after it is not flushed by it."""
    queue, _ = sender("a", "b")
    queue.flush_requested = True
    queue.poll()
    assert queue.flush_requested
    queue.poll_data(5)
    assert not queue.flush_requested


def test_a_flush_is_over_too_when_a_barrier_leaves_last_that_timed_out() -> None:
    """Such a barrier leaves from the front. The written data afterwards can be flushed again."""
    queue, _ = sender("a", timed(1))
    queue.flush_requested = True
    assert queue.poll() == "a"
    assert queue.time_out(1)
    assert queue.flush_requested
    queue.poll()
    assert not queue.flush_requested


def test_the_output_state_of_a_timeoutable_barrier() -> None:
    """Open until the barrier is sent, which leaves nothing to be written."""
    queue, outbox = sender("a")
    queue.add_barrier(timed(1))
    assert outbox == [OutputStateOpened(3, 1)]
    assert queue.open_state == 1
    queue.poll()
    queue.poll()
    assert outbox[1:] == [OutputStateKnown(3, 1, ())]
    assert queue.open_state is None
    assert queue.blocked


def test_a_time_out_in_the_output_takes_what_is_in_front() -> None:
    """The barrier turns unaligned and overtakes. Data after it is no state. Once is enough."""
    queue, outbox = sender("a", timed(1), "b")
    assert queue.time_out(2) is False
    assert queue.time_out(1) is True
    assert queue.time_out(1) is False
    assert outbox == [OutputStateKnown(3, 1, ("a",))]
    assert [queue.poll() for _ in range(3)] == [unaligned(1), "a", "b"]
    assert not queue.blocked


def test_an_abort_fails_the_open_state_and_leaves_the_barrier() -> None:
    """Only the exact checkpoint is meant."""
    queue, outbox = sender(timed(1))
    queue.abort(2)
    assert outbox == []
    queue.abort(1)
    assert outbox == [OutputStateFailed(3, 1)]
    assert queue.poll() == timed(1)
    assert outbox == [OutputStateFailed(3, 1)]


def test_a_second_timeoutable_barrier_fails_the_first_ones_state() -> None:
    """An overlap is not legal. Aligned and unaligned barriers leave the open state alone."""
    queue, outbox = sender(timed(1))
    queue.add_barrier(aligned(2))
    queue.add_barrier(unaligned(3))
    assert queue.open_state == 1
    queue.add_barrier(timed(4))
    assert outbox == [OutputStateFailed(3, 1), OutputStateOpened(3, 4)]


def test_nothing_follows_the_end_of_partition() -> None:
    """Later data, events and barriers are dropped and persist nothing."""
    queue, outbox = sender("a")
    assert queue.finish()
    assert not queue.finish()
    assert not queue.add_data("b")
    assert not queue.extend(["b"])
    assert not queue.add_event(CancellationMarker(1))
    assert not queue.add_barrier(unaligned(1))
    assert not queue.add_barrier(timed(1))
    assert outbox == []
    assert queue.normal_elements() == ("a", EndOfPartition())


CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("data"), st.integers(1, 4)),
        st.tuples(st.sampled_from(["aligned", "timed", "unaligned", "cancel"]), st.just(0)),
        st.tuples(st.sampled_from(["poll", "poll_data"]), st.integers(1, 5)),
        st.tuples(st.sampled_from(["resume", "time_out", "abort"]), st.integers(0, 3)),
    ),
    max_size=40,
)


@settings(max_examples=300)
@given(CALLS)
def test_a_sender_keeps_data_in_order_and_urgent_things_too(script: list[tuple[str, int]]) -> None:
    """Stretches act like single elements. Sequence numbers count the sent data. S14 and S15."""
    one, one_out = sender()
    many, many_out = sender()
    sent: list[object] = []
    number = checkpoint = 0
    for verb, count in script:
        if verb == "data":
            stretch = list(range(number, number + count))
            number += count
            fill(one, *stretch)
            many.extend(stretch)
        elif verb in ("aligned", "timed", "unaligned", "cancel"):
            checkpoint += 1
            makers = {"aligned": aligned, "timed": timed, "unaligned": unaligned}
            event = makers[verb](checkpoint) if verb in makers else CancellationMarker(checkpoint)
            one.add_event(event)
            many.add_event(event)
        elif verb in ("poll", "poll_data"):
            taken = many.poll_data(count) if verb == "poll_data" else [many.poll()]
            taken = [element for element in taken if element is not None]
            assert [one.poll() for _ in taken] == taken
            sent += taken
        elif verb == "resume" and one.blocked:
            one.resume()
            many.resume()
        elif verb == "time_out":
            assert one.time_out(checkpoint - count) == many.time_out(checkpoint - count)
        elif verb == "abort":
            one.abort(checkpoint - count)
            many.abort(checkpoint - count)
        assert one.normal_elements() == many.normal_elements()
        assert (one.backlog, one.next_sequence, one.data_count) == (
            many.backlog,
            many.next_sequence,
            many.data_count,
        )
    assert one_out == many_out
    opened = sum(isinstance(effect, OutputStateOpened) for effect in one_out)
    settled = sum(isinstance(e, OutputStateKnown | OutputStateFailed) for e in one_out)
    assert opened == settled + (one.open_state is not None)
    assert one.next_sequence == len(sent)
    data = [element for element in sent if isinstance(element, int)]
    assert data == sorted(data)
    urgent = [e for e in one.priority_elements() if isinstance(e, Barrier)]
    assert all(barrier.is_unaligned for barrier in urgent)
