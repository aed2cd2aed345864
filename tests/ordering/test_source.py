"""The source model: rounds, order of absorption, cancelled readers, messages of all kinds."""

from __future__ import annotations

import itertools
import pickle

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import Medium, Refusal, StateKind
from ckptsim.models.ordering.source import (
    CancelReaders,
    CheckpointRequested,
    EmitState,
    EndRound,
    FailFeed,
    Feed,
    GenerationEnded,
    PartitionGenerated,
    ReaderFailed,
    ReaderFinished,
    RoundStarted,
    SourceCore,
    SourceEffect,
    SourceEvent,
    SourceParameters,
)
from tests.ordering.helpers import GHOST, A, B


def source(medium: Medium = Medium.SOCKET, *, is_global: bool = False) -> SourceCore:
    return SourceCore(SourceParameters(medium=medium, streams=(A, B), is_global=is_global))


def done(feed: Feed, reader: int, count: int = 1, partition_id: str | None = None) -> SourceEvent:
    name = f"{feed}{reader}"
    return ReaderFinished(
        feed=feed, reader=reader, state=name, count=count, partition_id=partition_id or name
    )


def run(core: SourceCore, *events: SourceEvent) -> list[SourceEffect]:
    return [effect for event in events for effect in core.step(event)]


def emitted(effects: list[SourceEffect]) -> list[EmitState]:
    return [effect for effect in effects if isinstance(effect, EmitState)]


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
def test_results_are_absorbed_in_reader_order(order: tuple[int, ...]) -> None:
    """Whatever the order of the ends, messages come by reader, with ids free of gaps."""
    core = source()
    ends = [done(A, reader, count=reader) for reader in order]
    effects = run(core, RoundStarted(feed=A, readers=3), *ends)
    messages = emitted(effects)
    assert [(m.payload, m.index, m.count) for m in messages] == [
        ("a1", 1, 1),
        ("a2", 2, 2),
        ("a3", 3, 3),
    ]
    assert effects[-1] == EndRound(feed=A)


def test_indexes_go_on_over_rounds_and_apart_by_feed() -> None:
    """Each feed counts for itself, through all its rounds."""
    core = source()
    rounds = [RoundStarted(feed=A, readers=1), done(A, 1)]
    effects = run(core, *rounds, RoundStarted(feed=B, readers=1), done(B, 1), *rounds)
    assert [(m.stream, m.index) for m in emitted(effects)] == [(A, 1), (B, 1), (A, 2)]


def test_a_failure_surfaces_after_the_progress_before_it() -> None:
    """Readers before the failed one are absorbed. Those after it are cancelled, done or not."""
    core = source()
    run(core, RoundStarted(feed=A, readers=4), done(A, 3))
    assert core.step(ReaderFailed(feed=A, reader=2)) == [CancelReaders(feed=A, readers=(4,))]
    effects = core.step(done(A, 1))
    assert [m.payload for m in emitted(effects)] == ["a1"]
    assert effects[-1] == FailFeed(feed=A, reader=2)
    assert run(core, done(A, 4)) == []
    assert run(core, RoundStarted(feed=A, readers=1), done(A, 1))[0] == EmitState(
        kind=StateKind.STREAM, stream=A, payload="a1", count=1, index=2, partition_id="a1"
    )


def test_an_earlier_failure_takes_the_place_of_a_later_one() -> None:
    """When reader 1 fails after reader 2 did, reader 1's failure is the one that surfaces."""
    core = source()
    run(core, RoundStarted(feed=A, readers=2), ReaderFailed(feed=A, reader=2))
    assert core.step(ReaderFailed(feed=A, reader=1)) == [FailFeed(feed=A, reader=1)]


def test_global_messages_repeat_what_is_not_fresh() -> None:
    """Each message lists every stream: the fresh one with its key, the other as it is."""
    core = source(is_global=True)
    effects = run(core, RoundStarted(feed=B, readers=1), done(B, 1, 4, "BBBB"))
    effects += run(core, RoundStarted(feed=A, readers=1), done(A, 1, 3, "AAAA"))
    first, second = emitted(effects)
    assert first.states == ((A, None), (B, "b1"))
    assert second.states == ((A, "a1"), (B, "b1"))
    assert (first.inner, second.inner) == (((B, 1, "BBBB"),), ((A, 1, "AAAA"),))
    assert [(m.kind, m.index, m.count) for m in (first, second)] == [
        (StateKind.SNAPSHOT, 1, 4),
        (StateKind.SNAPSHOT, 2, 3),
    ]
    assert first.partition_id != second.partition_id


def test_the_shared_feed_brings_its_own_id_and_count() -> None:
    """A message of the shared feed alone is global, carries its reader's id, and its records."""
    core = source(is_global=True)
    (message,) = emitted(run(core, RoundStarted(feed=None, readers=1), done(None, 1, 7, "WXYZ")))
    assert message.kind is StateKind.GLOBAL
    assert (message.partition_id, message.count, message.payload) == ("WXYZ", 7, "None1")
    assert message.states == ((A, None), (B, None))


def test_stdio_messages_carry_no_keys() -> None:
    """On STDIO neither states nor entries have ids. The counts are the same."""
    whole = source(Medium.STDIO, is_global=True)
    (message,) = emitted(run(whole, RoundStarted(feed=A, readers=1), done(A, 1, 2)))
    assert (message.kind, message.index, message.partition_id) == (StateKind.GLOBAL, None, None)
    assert (message.inner, message.count) == ((), 2)
    single = source(Medium.STDIO)
    (message,) = emitted(run(single, RoundStarted(feed=A, readers=1), done(A, 1, 2)))
    assert (message.kind, message.index, message.partition_id) == (StateKind.STREAM, None, None)


@pytest.mark.parametrize("is_global", [False, True])
def test_nothing_fresh_gives_no_message(is_global: bool) -> None:
    """A checkpoint right after another shows nothing again."""
    core = source(is_global=is_global)
    run(core, RoundStarted(feed=A, readers=1), done(A, 1))
    assert core.step(CheckpointRequested()) == []


@pytest.mark.parametrize("is_global", [False, True])
@pytest.mark.parametrize("medium", Medium)
def test_every_result_is_told_at_once_by_one_message(medium: Medium, is_global: bool) -> None:
    """In every order of ends, failures and requests a step shows what it absorbed, one by one."""
    events = [done(A, 1), done(A, 2), done(B, 1), ReaderFailed(feed=B, reader=2)]
    for order in itertools.permutations([*events, CheckpointRequested()]):
        core = source(medium, is_global=is_global)
        run(core, *(RoundStarted(feed=feed, readers=2) for feed in (A, B)))
        told: list[object] = []
        for event in order:
            messages = emitted(core.step(event))
            assert not (messages and isinstance(event, CheckpointRequested))
            assert all(message.count == 1 and len(message.inner) <= 1 for message in messages)
            told += messages
            assert {core.current(A), core.current(B)} <= {None, "a1", "a2", "b1"}
        assert len(told) == 3


def test_initial_states_stand_until_a_result_is_absorbed() -> None:
    """A resumed source repeats the states it began with."""
    core = SourceCore(
        SourceParameters(
            medium=Medium.SOCKET,
            streams=(A, B),
            is_global=True,
            initial=((B, "b0"),),
            initial_shared="g0",
        )
    )
    (message,) = emitted(run(core, RoundStarted(feed=A, readers=1), done(A, 1)))
    assert message.payload == "g0"
    assert message.states == ((A, "a1"), (B, "b0"))
    assert [core.current(feed) for feed in (None, A, B)] == ["g0", "a1", "b0"]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (RoundStarted(feed=GHOST, readers=1), Refusal.UNKNOWN_STREAM),
        (RoundStarted(feed=None, readers=1), Refusal.UNKNOWN_STREAM),
        (RoundStarted(feed=A, readers=1), Refusal.ROUND_UNDER_WAY),
        (RoundStarted(feed=B, readers=-1), Refusal.INVALID_COUNT),
        (done(A, 3), Refusal.UNKNOWN_READER),
        (done(A, 0), Refusal.UNKNOWN_READER),
        (done(B, 1), Refusal.UNKNOWN_READER),
        (done(A, 2), Refusal.READER_ENDED),
        (ReaderFailed(feed=A, reader=2), Refusal.READER_ENDED),
        (done(A, 1, -1), Refusal.INVALID_COUNT),
        (ReaderFinished(feed=A, reader=1, state="x", count=1), Refusal.MISSING_PARTITION_ID),
    ],
)
def test_a_refused_source_event_changes_nothing(event: SourceEvent, kind: Refusal) -> None:
    """A mistake of the host is named and leaves the source as it was."""
    core = source()
    run(core, RoundStarted(feed=A, readers=2), done(A, 2))
    before = pickle.dumps(core)
    with pytest.raises(ProtocolError) as refused:
        core.step(event)
    assert refused.value.kind == kind
    assert pickle.dumps(core) == before


GENERATING = RoundStarted(feed=A, readers=0, generating=True)
GENERATED = PartitionGenerated(feed=A)
LAST = GenerationEnded(feed=A)


def test_a_round_is_over_when_its_generation_has_ended() -> None:
    """That all partitions so far were read does not end it, and results wait for those before."""
    core = source()
    first = run(core, GENERATING, GENERATED, done(A, 1))
    assert [(m.payload, m.index) for m in emitted(first)] == [("a1", 1)]
    assert run(core, GENERATED, GENERATED, done(A, 3)) == []
    assert EndRound(feed=A) not in first
    assert core.step(LAST) == []
    rest = core.step(done(A, 2))
    assert [m.payload for m in emitted(rest)] == ["a2", "a3"]
    assert rest[-1] == EndRound(feed=A)


def test_a_generation_may_end_after_all_results() -> None:
    """Then its end is the end of the round."""
    core = source()
    run(core, GENERATING, GENERATED, done(A, 1))
    assert core.step(LAST) == [EndRound(feed=A)]
    assert run(core, GENERATING, LAST) == [EndRound(feed=A)]


def test_a_partition_that_comes_after_a_failure_is_cancelled() -> None:
    """Its reader is cancelled at once, and the failure surfaces when the round reaches it."""
    core = source()
    run(core, GENERATING, GENERATED, GENERATED, ReaderFailed(feed=A, reader=2))
    assert core.step(GENERATED) == [CancelReaders(feed=A, readers=(3,))]
    effects = core.step(done(A, 1))
    assert effects[1:] == [FailFeed(feed=A, reader=2)]


@pytest.mark.parametrize("event", [GENERATED, LAST])
def test_a_round_that_is_not_generated_takes_no_partitions(event: SourceEvent) -> None:
    """Without a round, in one that began with all its readers, or after its generation's end."""
    before: list[list[SourceEvent]] = [
        [],
        [RoundStarted(feed=A, readers=2)],
        [GENERATING, GENERATED, LAST],
    ]
    for events in before:
        core = source()
        run(core, *events)
        with pytest.raises(ProtocolError) as caught:
            core.step(event)
        assert caught.value.kind is Refusal.UNKNOWN_READER
