"""Opening, COMPLETE, closing over several channels, verdicts, and the end of the sync."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import (
    CancelFinishTimer,
    ChannelClosed,
    CloseInput,
    CompleteRead,
    CompleteSync,
    EndChannel,
    EndStream,
    FailSync,
    FinishRequested,
    FinishTimerFired,
    Level,
    Medium,
    OpenStream,
    OrderingCore,
    OrderingParameters,
    PassRecords,
    ProcessingFailed,
    ProcessingSucceeded,
    Refusal,
    ReportIncomplete,
    SetFinishTimer,
    StreamDescriptor,
    Verdict,
)
from tests.mutants.ordering import MUTANTS
from tests.ordering.helpers import (
    FLUSH,
    A,
    B,
    durable,
    failed,
    feed,
    only_send,
    read,
    sent,
    socket_core,
    state,
    stdio_core,
)

FINISH = FinishRequested()


def test_the_first_record_opens_its_stream() -> None:
    """A stream is opened once, by its first record, before that is passed on."""
    core = socket_core()
    passed = PassRecords(stream=A, id="p", count=1, size_bytes=10)
    assert core.step(read(A, "p")) == [OpenStream(stream=A), passed]
    assert core.step(read(A, "p")) == [passed]
    assert core.step(read(A, "p", 0)) == []


def test_complete_ends_a_stream_on_stdio_at_once() -> None:
    """On the one ordered channel COMPLETE is the end of the stream."""
    core = stdio_core()
    core.step(read(A, None, 3))
    assert core.step(CompleteRead(stream=A)) == [EndStream(stream=A, records_read=3)]


def test_complete_waits_for_the_other_sockets() -> None:
    """On sockets COMPLETE is remembered, duplicates too, and records may follow elsewhere."""
    core = socket_core(A, channels=2)
    assert feed(core, CompleteRead(stream=A), CompleteRead(stream=A, channel=1)) == []
    assert core.step(ChannelClosed(channel=0)) == [EndChannel(channel=0)]
    core.step(read(A, "p", 2, channel=1))
    assert core.step(ChannelClosed(channel=1)) == [
        EndChannel(channel=1),
        EndStream(stream=A, records_read=2),
        CloseInput(),
    ]


def test_the_last_channel_reports_streams_without_complete() -> None:
    """The last close ends everything that was COMPLETE and reports everything that was not.

    Both get their counts.
    """
    core = socket_core()
    core.step(CompleteRead(stream=B))
    assert core.step(ChannelClosed(channel=0)) == [
        EndChannel(channel=0),
        EndStream(stream=A, records_read=0),
        EndStream(stream=B, records_read=0),
        CloseInput(),
        ReportIncomplete(streams=(A,)),
    ]
    core.step(ProcessingSucceeded(stream=B))
    assert core.verdict(B) is Verdict.SUCCEEDED


def test_complete_is_refused_on_a_channel_that_has_ended() -> None:
    """COMPLETE after the end of its channel is refused as a record is, on both media."""
    for core in (socket_core(A, channels=2), stdio_core(A)):
        core.step(ChannelClosed(channel=0))
        before = core.observe()
        with pytest.raises(ProtocolError) as refused:
            core.step(CompleteRead(stream=A))
        assert refused.value.kind is Refusal.STREAM_CLOSED
        assert core.observe() == before


def broken_ends(make: Callable[[OrderingParameters], Any]) -> list[str]:
    """Walk all short lives of two streams on two channels. Return what ends twice or too late."""
    marks = [ChannelClosed(channel=0), ChannelClosed(channel=1)]
    marks += [CompleteRead(stream=s, channel=c) for s in (A, B) for c in (0, 1)]
    found: list[str] = []
    for medium, order in itertools.product(Medium, itertools.permutations(marks, 5)):
        core = make(OrderingParameters(medium=medium, streams=(A, B), channels=2))
        ended: list[StreamDescriptor] = []
        closed: set[int] = set()
        for event in order:
            try:
                effects = core.step(event)
            except ProtocolError:
                continue
            if event.channel in closed:
                found.append(f"accepted behind the end of channel {event.channel}: {order}")
            closed |= {event.channel} if isinstance(event, ChannelClosed) else set()
            ended += [effect.stream for effect in effects if isinstance(effect, EndStream)]
        if len(ended) > len(set(ended)):
            found.append(f"a stream ended twice: {order}")
    return found


def test_no_stream_ends_twice() -> None:
    """In every order of COMPLETE and closes a stream ends at most once, and late input nothing."""
    assert broken_ends(OrderingCore) == []
    assert any("twice" in line for line in broken_ends(MUTANTS["complete_after_close"].factory))


def test_the_first_verdict_sticks() -> None:
    """Failure may come at any time. Whatever comes first stays."""
    core = stdio_core()
    feed(core, ProcessingFailed(stream=A), CompleteRead(stream=A), ProcessingSucceeded(stream=A))
    feed(core, CompleteRead(stream=B), ProcessingSucceeded(stream=B), ProcessingFailed(stream=B))
    assert (core.verdict(A), core.verdict(B)) == (Verdict.FAILED, Verdict.SUCCEEDED)


def test_a_stream_is_done_when_level_complete_accounts_for_all() -> None:
    """Done means ended, and every record, rejected ones included, reported at level COMPLETE."""
    core = stdio_core()
    feed(core, read(A, None, 3), CompleteRead(stream=A), CompleteRead(stream=B))
    core.step(durable(A, "1", 3))
    assert (core.stream_done(A), core.stream_done(B)) == (False, True)
    core.step(durable(A, "1", 2, rejected=1, level=Level.COMPLETE))
    assert core.stream_done(A)


def test_finish_flushes_and_completes() -> None:
    """The end of a sync makes one last pass by itself."""
    core = socket_core(A)
    feed(core, CompleteRead(stream=A), state(A, 1, "p", 0))
    send = only_send(core.step(FINISH))
    assert core.step(sent(send)) == [CompleteSync()]


def test_finish_names_incomplete_streams_first() -> None:
    """A missing COMPLETE is the verdict even where states remain. Both are reported."""
    core = socket_core()
    feed(core, CompleteRead(stream=A), state(A, 2, "p", 0))
    (verdict,) = core.step(FINISH)
    assert isinstance(verdict, FailSync)
    assert verdict.kind is Refusal.INCOMPLETE_STREAMS
    assert verdict.incomplete == (B,)
    assert [blocked.scope for blocked in verdict.blocked] == [A]
    assert str(verdict).startswith("incomplete_streams; not COMPLETE: b; stream a: state 2 waits")


def test_finish_names_what_is_unsent() -> None:
    """Remaining states fail the sync with scope, index and counts."""
    core = socket_core(A)
    feed(core, CompleteRead(stream=A), read(A, "p", 4), durable(A, "p", 1))
    core.step(state(A, 1, "p", 4))
    (verdict,) = core.step(FINISH)
    assert isinstance(verdict, FailSync)
    assert verdict.kind is Refusal.UNFLUSHED_STATES
    (blocked,) = verdict.blocked
    assert (blocked.scope, blocked.next_index) == (A, 1)
    assert blocked.shortfall is not None
    assert (blocked.shortfall.expected, blocked.shortfall.found) == (4, 1)


def test_a_failing_send_fails_the_finish() -> None:
    """The last pass gives up at a failing send. A second attempt may succeed."""
    core = socket_core(A)
    feed(core, CompleteRead(stream=A), state(A, 1, "p", 0))
    (verdict,) = core.step(failed(only_send(core.step(FINISH))))
    assert isinstance(verdict, FailSync)
    assert verdict.kind is Refusal.SEND_FAILED
    assert core.step(sent(only_send(core.step(FINISH)))) == [CompleteSync()]


def test_finish_during_a_send_makes_a_pass_of_its_own() -> None:
    """A send that fails under an earlier flush does not count against the last pass."""
    core = socket_core(A)
    feed(core, CompleteRead(stream=A), state(A, 1, "p", 0))
    send = only_send(core.step(FLUSH))
    assert core.step(FINISH) == []
    again = only_send(core.step(failed(send)))
    assert core.step(sent(again)) == [CompleteSync()]


def test_waiting_for_the_end_releases_unasked() -> None:
    """With time to wait, what becomes ready goes without a flush, and all well ends the wait."""
    core = socket_core(A)
    feed(core, read(A, "p"), state(A, 1, "p", 1))
    assert core.step(FinishRequested(wait_ns=5)) == [SetFinishTimer(wait_ns=5)]
    assert core.step(CompleteRead(stream=A)) == []
    send = only_send(core.step(durable(A, "p")))
    assert core.step(sent(send)) == [CancelFinishTimer(), CompleteSync()]
    assert core.step(FinishTimerFired()) == []


def test_waiting_for_a_state_ends_with_it() -> None:
    """A state that arrives during the wait goes at once."""
    core = socket_core(A)
    feed(core, CompleteRead(stream=A), state(A, 2, "q", 0), FinishRequested(wait_ns=5))
    second = core.step(sent(only_send(core.step(state(A, 1, "p", 0)))))
    assert core.step(sent(only_send(second))) == [CancelFinishTimer(), CompleteSync()]


def test_the_wait_is_bounded() -> None:
    """When the time is over the verdict names the missing part. It never hangs."""
    core = socket_core(A)
    feed(core, CompleteRead(stream=A), read(A, "p"), state(A, 1, "p", 1))
    core.step(FinishRequested(wait_ns=5))
    (verdict,) = core.step(FinishTimerFired())
    assert isinstance(verdict, FailSync)
    assert verdict.kind is Refusal.UNFLUSHED_STATES


def test_a_send_may_fail_while_waiting() -> None:
    """A failing send during the wait is tried again at the next change or when time is over."""
    core = socket_core(A)
    feed(core, CompleteRead(stream=A), state(A, 1, "p", 0))
    _, send = core.step(FinishRequested(wait_ns=5))
    assert core.step(failed(send)) == []  # type: ignore[arg-type]
    again = only_send(core.step(FinishTimerFired()))
    assert core.step(sent(again)) == [CompleteSync()]
