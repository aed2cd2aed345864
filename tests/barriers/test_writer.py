"""The shared writer of in-flight data: every beginning gets exactly one answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.channel_state import SharedStateWriter, group_of, handle_bytes
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError

SHARED = FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION
SUBSUMED = FailureReason.CHECKPOINT_DECLINED_SUBSUMED
ABORTED = FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER


def begun(*subtasks: int, checkpoint: int = 1) -> SharedStateWriter:
    """Return a writer of two subtasks on which these have begun."""
    writer = SharedStateWriter([0, 1])
    for subtask in subtasks:
        assert writer.step(writer_events.WriteStarted(subtask, checkpoint)) == []
    return writer


def closed(
    writer: SharedStateWriter, subtask: int, checkpoint: int = 1
) -> list[writer_events.WriterEffect]:
    """Close both parts of a subtask. Returns the effects of the second."""
    writer.step(writer_events.InputClosed(subtask, checkpoint))
    return writer.step(writer_events.OutputClosed(subtask, checkpoint))


def test_the_file_is_stored_when_all_subtasks_are_whole() -> None:
    """The quicker subtask waits for the slower one. Each gets its own size."""
    writer = begun(0, 1)
    assert writer.step(writer_events.DataAdded(0, 1, 10)) == [
        writer_events.OpenStream(1),
        writer_events.WriteBytes(1, 10),
    ]
    assert writer.step(writer_events.DataAdded(1, 1, 7)) == [writer_events.WriteBytes(1, 7)]
    assert closed(writer, 0) == []
    assert closed(writer, 1) == [writer_events.StoreStream(1, 17)]
    assert writer.step(writer_events.StreamStored(1)) == [
        writer_events.PartWritten(0, 1, 10),
        writer_events.PartWritten(1, 1, 7),
    ]


def test_without_data_there_is_no_file() -> None:
    """Empty parts are answered at once."""
    writer = begun(0, 1)
    closed(writer, 0)
    assert closed(writer, 1) == [
        writer_events.PartWritten(0, 1, 0),
        writer_events.PartWritten(1, 1, 0),
    ]


def test_a_subtask_that_has_not_begun_is_waited_for_until_it_is_released() -> None:
    """The group's file needs all its subtasks. One that has ended is no longer of the group."""
    writer = begun(0)
    assert closed(writer, 0) == []
    assert writer.step(writer_events.SubtaskReleased(1)) == [writer_events.PartWritten(0, 1, 0)]


def test_a_subtask_that_leaves_in_the_middle_holds_the_file_until_an_abort() -> None:
    """Its part stays unfinished, so the others wait. The abort of the checkpoint fails them all."""
    writer = begun(0, 1)
    assert closed(writer, 0) == []
    assert writer.step(writer_events.SubtaskReleased(1)) == []
    assert writer.writing == (0, 1)
    shared = FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION
    assert writer.step(writer_events.WriteAborted(0, 1, ABORTED)) == [
        writer_events.PartFailed(0, 1, ABORTED),
        writer_events.PartFailed(1, 1, shared),
    ]


def test_an_abort_by_one_fails_all() -> None:
    """The one that aborts fails for its own reason, the others because the file is shared."""
    writer = begun(0, 1)
    writer.step(writer_events.DataAdded(0, 1, 10))
    assert writer.step(writer_events.WriteAborted(1, 1, ABORTED)) == [
        writer_events.DropStream(1),
        writer_events.PartFailed(0, 1, SHARED),
        writer_events.PartFailed(1, 1, ABORTED),
    ]
    assert writer.step(writer_events.DataAdded(0, 1, 5)) == []
    assert closed(writer, 0) == []


def test_a_broken_file_fails_all() -> None:
    """A write error is asked to every subtask of the group."""
    writer = begun(0, 1)
    writer.step(writer_events.DataAdded(0, 1, 10))
    assert writer.step(writer_events.StreamFailed(1)) == [
        writer_events.DropStream(1),
        writer_events.PartFailed(0, 1, SHARED),
        writer_events.PartFailed(1, 1, SHARED),
    ]


def test_an_abort_that_comes_first_fails_the_later_beginning() -> None:
    """A beginning after the abort is answered at once, so that no one waits for ever."""
    writer = SharedStateWriter([0, 1])
    assert writer.step(writer_events.WriteAborted(0, 1, ABORTED)) == []
    assert writer.step(writer_events.WriteStarted(0, 1)) == [
        writer_events.PartFailed(0, 1, ABORTED)
    ]
    assert writer.step(writer_events.WriteStarted(1, 1)) == [writer_events.PartFailed(1, 1, SHARED)]
    assert writer.step(writer_events.WriteStarted(1, 0)) == [
        writer_events.PartFailed(1, 0, SUBSUMED)
    ]


def test_a_newer_checkpoint_fails_the_older_one_and_keeps_its_own_file() -> None:
    """Late requests and a late abort of the older one do not touch the newer one."""
    writer = begun(0, 1)
    writer.step(writer_events.DataAdded(0, 1, 10))
    assert writer.step(writer_events.WriteStarted(0, 2)) == [
        writer_events.DropStream(1),
        writer_events.PartFailed(0, 1, SUBSUMED),
        writer_events.PartFailed(1, 1, SUBSUMED),
    ]
    assert writer.step(writer_events.DataAdded(1, 1, 5)) == []
    assert writer.step(writer_events.WriteAborted(1, 1, ABORTED)) == []
    assert writer.writing == (0,)
    writer.step(writer_events.WriteStarted(1, 2))
    closed(writer, 0, 2)
    assert closed(writer, 1, 2) == [
        writer_events.PartWritten(0, 2, 0),
        writer_events.PartWritten(1, 2, 0),
    ]


def test_an_abort_of_a_future_checkpoint_fails_what_is_open() -> None:
    """Giving up a newer number means that the older file is not wanted either."""
    writer = begun(0)
    assert writer.step(writer_events.WriteAborted(0, 5, ABORTED)) == [
        writer_events.PartFailed(0, 1, SUBSUMED)
    ]


def test_requests_out_of_nowhere_are_refused() -> None:
    """Data of a checkpoint that no one began, and a second beginning, are errors."""
    writer = begun(0)
    with pytest.raises(ProtocolError, match="not_begun"):
        writer.step(writer_events.DataAdded(0, 2, 1))
    with pytest.raises(ProtocolError, match="begun_twice"):
        writer.step(writer_events.WriteStarted(0, 1))


def test_small_state_travels_in_the_acknowledgement_once() -> None:
    """However many channels share it, inlined state counts once. Larger state lies in a file."""
    assert handle_bytes([100, 200, 300], inline_threshold_bytes=20_480) == 600
    assert handle_bytes([20_000, 480], inline_threshold_bytes=20_480) == 20_480
    assert handle_bytes([20_000, 481], inline_threshold_bytes=20_480) == 0


def test_five_subtasks_share_a_file() -> None:
    """Subtasks of one task manager are grouped by five in their order."""
    assert [group_of(position) for position in (0, 4, 5, 9, 10)] == [0, 0, 1, 1, 2]


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["start", "data", "input", "output", "abort", "stored", "failed"]),
            st.integers(0, 2),
            st.integers(0, 3),
        ),
        max_size=30,
    )
)
def test_every_beginning_is_answered_once(script: list[tuple[str, int, int]]) -> None:
    """In any order no beginning is answered twice, and a newer one ends all older ones."""
    writer = SharedStateWriter(range(3))
    begun_parts: set[tuple[int, int]] = set()
    answers: list[tuple[int, int]] = []
    for verb, subtask, checkpoint in [*script, ("start", 0, 9)]:
        events: dict[str, writer_events.WriterEvent] = {
            "start": writer_events.WriteStarted(subtask, checkpoint),
            "data": writer_events.DataAdded(subtask, checkpoint, 1),
            "input": writer_events.InputClosed(subtask, checkpoint),
            "output": writer_events.OutputClosed(subtask, checkpoint),
            "abort": writer_events.WriteAborted(subtask, checkpoint, ABORTED),
            "stored": writer_events.StreamStored(checkpoint),
            "failed": writer_events.StreamFailed(checkpoint),
        }
        if verb == "start" and (subtask, checkpoint) in begun_parts:
            continue
        try:
            effects = writer.step(events[verb])
        except ProtocolError:
            continue
        if verb == "start":
            begun_parts.add((subtask, checkpoint))
        answers += [
            (effect.subtask, effect.checkpoint)
            for effect in effects
            if isinstance(effect, writer_events.PartWritten | writer_events.PartFailed)
        ]
    assert len(answers) == len(set(answers))
    assert set(answers) == begun_parts - {(0, 9)}
