"""Release: order, readiness, sends and their outcome."""

from __future__ import annotations

from models.ordering import (
    FlushRequested,
    Medium,
    OrderingParameters,
    RecordsDurable,
    RecordsRead,
    SendState,
    StateKind,
    StateRead,
    StateSent,
    StreamDescriptor,
    make_core,
)

USERS = StreamDescriptor("users")


def test_a_state_goes_after_its_records_are_durable() -> None:
    """A state is sent by the first flush after its records are durable, and only once."""
    core = make_core(OrderingParameters(medium=Medium.SOCKET, streams=(USERS,)))
    core.step(RecordsRead(stream=USERS, id="p", size_bytes=7, count=2))
    core.step(
        StateRead(kind=StateKind.STREAM, stream=USERS, index=1, id="p", source_count=2, payload="m")
    )
    assert core.step(FlushRequested()) == []
    core.step(RecordsDurable(stream=USERS, id="p", count=2, size_bytes=7))
    (effect,) = core.step(FlushRequested())
    assert isinstance(effect, SendState)
    assert effect.payload == "m"
    assert core.pending_count() == 1
    assert core.step(StateSent(scope=USERS, index=1)) == []
    assert core.pending_count() == 0
    assert core.step(FlushRequested()) == []
