"""Every refusal of every event: its kind, and that nothing has changed."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import get_args

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import (
    ChannelClosed,
    CompleteRead,
    Event,
    FinishRequested,
    FinishTimerFired,
    FlushRequested,
    OrderingCore,
    ProcessingFailed,
    ProcessingSucceeded,
    Refusal,
    SendFailed,
    StateKind,
    StateRead,
    StateSent,
    StreamAnnounced,
)
from tests.ordering.helpers import (
    FLUSH,
    GHOST,
    A,
    B,
    durable,
    feed,
    only_send,
    read,
    sent,
    snapshot,
    socket_core,
    state,
    stdio_core,
)


def released_once() -> OrderingCore:
    """Return a core on sockets after the first state of stream a."""
    core = socket_core()
    feed(core, read(A, "p"), durable(A, "p"), state(A, 1, "p", 1))
    core.step(sent(only_send(core.step(FLUSH))))
    return core


def sending() -> OrderingCore:
    """Return a core on sockets with the send of state 1 of stream a outstanding."""
    core = socket_core()
    feed(core, state(A, 1, "p", 0), FLUSH)
    return core


def fed(core: OrderingCore, *events: Event) -> OrderingCore:
    feed(core, *events)
    return core


@dataclass(frozen=True)
class Case:
    """A core in some state, an event that it refuses there, and the rule's name."""

    core: OrderingCore
    event: Event
    kind: Refusal


CASES = [
    Case(socket_core(), read(GHOST, "p"), Refusal.UNKNOWN_STREAM),
    Case(socket_core(), read(A, "p", -1), Refusal.INVALID_COUNT),
    Case(socket_core(), read(A, None), Refusal.MISSING_PARTITION_ID),
    Case(socket_core(), read(A, "p", channel=1), Refusal.UNKNOWN_CHANNEL),
    Case(fed(socket_core(), ChannelClosed(channel=0)), read(A, "p"), Refusal.STREAM_CLOSED),
    Case(fed(stdio_core(), CompleteRead(stream=A)), read(A, None), Refusal.STREAM_CLOSED),
    Case(
        fed(socket_core(channels=2), ChannelClosed(channel=1)),
        read(A, "p", channel=1),
        Refusal.STREAM_CLOSED,
    ),
    Case(socket_core(), durable(GHOST, "p"), Refusal.UNKNOWN_STREAM),
    Case(socket_core(), durable(A, "p", -1), Refusal.INVALID_COUNT),
    Case(socket_core(), durable(A, "p"), Refusal.OVER_COUNT),
    Case(fed(socket_core(), read(A, "p", 2)), durable(A, "p", 2, 1), Refusal.OVER_COUNT),
    Case(fed(socket_core(), read(B, "p", 2)), durable(A, "p", 1), Refusal.OVER_COUNT),
    Case(released_once(), durable(A, "p"), Refusal.OVER_COUNT),
    Case(socket_core(), state(GHOST, 1, "p", 0), Refusal.UNKNOWN_STREAM),
    Case(
        socket_core(),
        StateRead(kind=StateKind.STREAM, payload="x", index=1, id="p", source_count=0),
        Refusal.UNKNOWN_STREAM,
    ),
    Case(socket_core(), snapshot(1, "o", 0, {GHOST: "p"}), Refusal.UNKNOWN_STREAM),
    Case(
        socket_core(),
        StateRead(
            kind=StateKind.GLOBAL, payload="x", index=1, id="p", source_count=0, listed=(GHOST,)
        ),
        Refusal.UNKNOWN_STREAM,
    ),
    Case(socket_core(), state(A, None, "p", 0), Refusal.MISSING_CHECKPOINT_KEY),
    Case(socket_core(), state(A, 1, None, 0), Refusal.MISSING_CHECKPOINT_KEY),
    Case(socket_core(), state(A, None, None, None), Refusal.MISSING_CHECKPOINT_KEY),
    Case(socket_core(), snapshot(1, "o", 0, {A: None}), Refusal.MISSING_CHECKPOINT_KEY),
    Case(stdio_core(), snapshot(1, "o", 0, {A: "p"}), Refusal.MISSING_CHECKPOINT_KEY),
    Case(socket_core(), state(A, 1, "p", None), Refusal.MISSING_SOURCE_STATS),
    Case(fed(stdio_core(), state(A)), state(None), Refusal.ORDINAL_MISMATCH),
    Case(fed(stdio_core(), state(A), state(B)), state(None), Refusal.MIXED_STATE_TYPES),
    Case(fed(stdio_core(), state(None)), state(A), Refusal.MIXED_STATE_TYPES),
    Case(
        fed(socket_core(), state(A, 1, "p", 0)), state(None, 1, "p", 0), Refusal.MIXED_STATE_TYPES
    ),
    Case(
        fed(socket_core(), state(None, 1, "p", 0)), state(A, 0, "p", 0), Refusal.MIXED_STATE_TYPES
    ),
    Case(
        fed(socket_core(), snapshot(1, "o", 0, {})), state(A, 1, "p", 0), Refusal.MIXED_STATE_TYPES
    ),
    Case(socket_core(), state(A, 0, "p", 0), Refusal.INVALID_INDEX),
    Case(fed(socket_core(), state(A, 1, "p", 0)), state(A, 1, "q", 0), Refusal.DUPLICATE_INDEX),
    Case(fed(socket_core(), state(A, 1, "p", 0)), state(A, 1, "p", 0), Refusal.DUPLICATE_INDEX),
    Case(released_once(), state(A, 1, "q", 0), Refusal.STALE_INDEX),
    Case(fed(socket_core(), state(A, 1, "p", 0)), state(A, 2, "p", 0), Refusal.DUPLICATE_ID),
    Case(released_once(), state(A, 2, "p", 0), Refusal.DUPLICATE_ID),
    Case(sending(), state(A, 1, "q", 0), Refusal.DUPLICATE_INDEX),
    Case(socket_core(), StateSent(scope=A, index=1), Refusal.UNEXPECTED_SEND_RESULT),
    Case(sending(), StateSent(scope=A, index=2), Refusal.UNEXPECTED_SEND_RESULT),
    Case(sending(), StateSent(scope=B, index=1), Refusal.UNEXPECTED_SEND_RESULT),
    Case(sending(), StateSent(scope=None, index=1), Refusal.UNEXPECTED_SEND_RESULT),
    Case(released_once(), StateSent(scope=A, index=1), Refusal.UNEXPECTED_SEND_RESULT),
    Case(socket_core(), SendFailed(scope=A, index=1), Refusal.UNEXPECTED_SEND_RESULT),
    Case(socket_core(), CompleteRead(stream=GHOST), Refusal.UNKNOWN_STREAM),
    Case(socket_core(), CompleteRead(stream=A, channel=7), Refusal.UNKNOWN_CHANNEL),
    Case(fed(stdio_core(), CompleteRead(stream=A)), CompleteRead(stream=A), Refusal.ALREADY_CLOSED),
    Case(socket_core(), ChannelClosed(channel=-1), Refusal.UNKNOWN_CHANNEL),
    Case(
        fed(socket_core(channels=2), ChannelClosed(channel=1)),
        ChannelClosed(channel=1),
        Refusal.ALREADY_CLOSED,
    ),
    Case(socket_core(), ProcessingSucceeded(stream=GHOST), Refusal.UNKNOWN_STREAM),
    Case(socket_core(), ProcessingSucceeded(stream=A), Refusal.NOT_CLOSED),
    Case(
        fed(socket_core(), CompleteRead(stream=A)),
        ProcessingSucceeded(stream=A),
        Refusal.NOT_CLOSED,
    ),
    Case(socket_core(), ProcessingFailed(stream=GHOST), Refusal.UNKNOWN_STREAM),
    Case(
        fed(socket_core(), FinishRequested(wait_ns=1)),
        FinishRequested(),
        Refusal.ALREADY_FINISHING,
    ),
    Case(fed(sending(), FinishRequested()), FinishRequested(), Refusal.ALREADY_FINISHING),
]

NEVER_REFUSED = (FlushRequested, FinishTimerFired, StreamAnnounced)
# Verdicts come as effects, the others belong to the source side or to another design.
NOT_RAISED = {
    Refusal.OUT_OF_ORDER,
    Refusal.INCOMPLETE_STREAMS,
    Refusal.UNFLUSHED_STATES,
    Refusal.SEND_FAILED,
    Refusal.READER_FAILED,
    Refusal.UNKNOWN_READER,
    Refusal.READER_ENDED,
    Refusal.ROUND_UNDER_WAY,
}


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{n}-{type(c.event).__name__}-{c.kind}" for n, c in enumerate(CASES)]
)
def test_a_refused_event_names_its_rule_and_changes_nothing(case: Case) -> None:
    """The error has the rule's kind and the event. All of the core is as before."""
    core = copy.deepcopy(case.core)
    before, inside = core.observe(), pickle.dumps(core)
    with pytest.raises(ProtocolError) as refused:
        core.step(case.event)
    assert refused.value.kind == case.kind
    assert refused.value.event is case.event
    assert core.observe() == before
    assert pickle.dumps(core) == inside


def test_the_table_is_complete() -> None:
    """Every kind of event and every kind of refusal is in the table."""
    refused = {type(case.event) for case in CASES}
    assert refused | set(NEVER_REFUSED) == set(get_args(Event))
    assert not refused & set(NEVER_REFUSED)
    assert {case.kind for case in CASES} | NOT_RAISED == set(Refusal)


def test_a_refusal_tells_where_the_scope_stands() -> None:
    """A refusal's story names the cursor and the unsent indexes of the scope."""
    core = fed(released_once(), state(A, 4, "s", 0), state(A, 3, "r", 0))
    with pytest.raises(ProtocolError) as refused:
        core.step(state(A, 1, "q", 0))
    assert refused.value.story == ("last released: 1", "unsent: 3, 4")
    assert "stale_index" in str(refused.value)


def test_events_that_are_never_refused_are_harmless() -> None:
    """A flush, a late timer and a known stream's announcement change nothing where idle."""
    core = released_once()
    before = core.observe()
    assert feed(core, FLUSH, FinishTimerFired(), StreamAnnounced(stream=A)) == []
    assert core.observe() == before


def test_a_stream_twice_in_the_catalog_is_refused() -> None:
    """Parameters with impossible values cannot be built."""
    with pytest.raises(ValueError, match="listed twice"):
        socket_core(A, A)
    with pytest.raises(ValueError, match="channels"):
        socket_core(channels=0)
    with pytest.raises(ValueError, match="released_ids_kept"):
        socket_core(released_ids_kept=-1)
