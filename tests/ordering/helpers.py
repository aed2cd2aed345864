"""Short names for the events of the ordering protocol, and a host that keeps what it was told."""

from __future__ import annotations

from typing import Any

from ckptsim.models.ordering import (
    Effect,
    Event,
    FlushRequested,
    Level,
    Medium,
    OrderingCore,
    OrderingParameters,
    RecordsDurable,
    RecordsRead,
    SendFailed,
    SendState,
    StateKind,
    StateRead,
    StateSent,
    StreamDescriptor,
)

A = StreamDescriptor("a")
B = StreamDescriptor("b")
GHOST = StreamDescriptor("ghost")
FLUSH = FlushRequested()


def socket_core(*streams: StreamDescriptor, **more: Any) -> OrderingCore:
    """Return a core on sockets for these streams (default: a and b)."""
    return OrderingCore(OrderingParameters(medium=Medium.SOCKET, streams=streams or (A, B), **more))


def stdio_core(*streams: StreamDescriptor, **more: Any) -> OrderingCore:
    """Return a core on STDIO for these streams (default: a and b)."""
    return OrderingCore(OrderingParameters(medium=Medium.STDIO, streams=streams or (A, B), **more))


def read(
    stream: StreamDescriptor, identity: str | None, count: int = 1, channel: int = 0
) -> RecordsRead:
    return RecordsRead(
        stream=stream, id=identity, count=count, size_bytes=10 * count, channel=channel
    )


def durable(
    stream: StreamDescriptor,
    identity: str,
    count: int = 1,
    rejected: int = 0,
    level: Level = Level.PERSISTED,
) -> RecordsDurable:
    return RecordsDurable(
        stream=stream,
        id=identity,
        count=count,
        size_bytes=10 * count,
        rejected=rejected,
        level=level,
    )


def state(
    stream: StreamDescriptor | None,
    index: int | None = None,
    identity: str | None = None,
    count: int | None = None,
    payload: object = None,
) -> StateRead:
    """Return the state of a stream, or the global state where the stream is None."""
    return StateRead(
        kind=StateKind.GLOBAL if stream is None else StateKind.STREAM,
        stream=stream,
        index=index,
        id=identity,
        source_count=count,
        payload=payload if payload is not None else f"{stream}-{index}",
    )


def snapshot(
    index: int, identity: str, count: int, inner: dict[StreamDescriptor, str | None]
) -> StateRead:
    return StateRead(
        kind=StateKind.SNAPSHOT,
        index=index,
        id=identity,
        source_count=count,
        inner=tuple(inner.items()),
        payload=f"*-{index}",
    )


def sent(effect: SendState) -> StateSent:
    return StateSent(scope=effect.scope, index=effect.key.index)


def failed(effect: SendState) -> SendFailed:
    return SendFailed(scope=effect.scope, index=effect.key.index)


def feed(core: OrderingCore, *events: Event) -> list[Effect]:
    """Give the core events one after the other and return all effects."""
    return [effect for event in events for effect in core.step(event)]


def only_send(effects: list[Effect]) -> SendState:
    """Return the one effect, which must be a send."""
    (effect,) = effects
    assert isinstance(effect, SendState)
    return effect


def flush_all(core: OrderingCore) -> list[SendState]:
    """Flush, let every send return, and return the sends."""
    sends: list[SendState] = []
    effects = core.step(FLUSH)
    while effects:
        send = only_send(effects)
        sends.append(send)
        effects = core.step(sent(send))
    return sends
