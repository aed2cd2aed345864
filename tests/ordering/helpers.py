"""Short names for the events of the ordering protocol, and a host that keeps what it was told."""

from __future__ import annotations

from typing import Any

from ckptsim.models import ordering

A = ordering.StreamDescriptor("a")
B = ordering.StreamDescriptor("b")
GHOST = ordering.StreamDescriptor("ghost")
FLUSH = ordering.FlushRequested()


def socket_core(*streams: ordering.StreamDescriptor, **more: Any) -> ordering.OrderingCore:
    """Return a core on sockets for these streams (default: a and b)."""
    return ordering.OrderingCore(
        ordering.OrderingParameters(
            medium=ordering.Medium.SOCKET, streams=streams or (A, B), **more
        )
    )


def stdio_core(*streams: ordering.StreamDescriptor, **more: Any) -> ordering.OrderingCore:
    """Return a core on STDIO for these streams (default: a and b)."""
    return ordering.OrderingCore(
        ordering.OrderingParameters(medium=ordering.Medium.STDIO, streams=streams or (A, B), **more)
    )


def read(
    stream: ordering.StreamDescriptor, identity: str | None, count: int = 1, channel: int = 0
) -> ordering.RecordsRead:
    return ordering.RecordsRead(
        stream=stream, id=identity, count=count, size_bytes=10 * count, channel=channel
    )


def durable(
    stream: ordering.StreamDescriptor,
    identity: str,
    count: int = 1,
    rejected: int = 0,
    level: ordering.Level = ordering.Level.PERSISTED,
) -> ordering.RecordsDurable:
    return ordering.RecordsDurable(
        stream=stream,
        id=identity,
        count=count,
        size_bytes=10 * count,
        rejected=rejected,
        level=level,
    )


def state(
    stream: ordering.StreamDescriptor | None,
    index: int | None = None,
    identity: str | None = None,
    count: int | None = None,
    payload: object = None,
) -> ordering.StateRead:
    """Return the state of a stream, or the global state where the stream is None."""
    return ordering.StateRead(
        kind=ordering.StateKind.GLOBAL if stream is None else ordering.StateKind.STREAM,
        stream=stream,
        index=index,
        id=identity,
        source_count=count,
        payload=payload if payload is not None else f"{stream}-{index}",
    )


def snapshot(
    index: int, identity: str, count: int, inner: dict[ordering.StreamDescriptor, str | None]
) -> ordering.StateRead:
    return ordering.StateRead(
        kind=ordering.StateKind.SNAPSHOT,
        index=index,
        id=identity,
        source_count=count,
        inner=tuple(inner.items()),
        payload=f"*-{index}",
    )


def sent(effect: ordering.SendState) -> ordering.StateSent:
    return ordering.StateSent(scope=effect.scope, index=effect.key.index)


def failed(effect: ordering.SendState) -> ordering.SendFailed:
    return ordering.SendFailed(scope=effect.scope, index=effect.key.index)


def feed(core: ordering.OrderingCore, *events: ordering.Event) -> list[ordering.Effect]:
    """Give the core events one after the other and return all effects."""
    return [effect for event in events for effect in core.step(event)]


def only_send(effects: list[ordering.Effect]) -> ordering.SendState:
    """Return the one effect, which must be a send."""
    (effect,) = effects
    assert isinstance(effect, ordering.SendState)
    return effect


def flush_all(core: ordering.OrderingCore) -> list[ordering.SendState]:
    """Flush, let every send return, and return the sends."""
    sends: list[ordering.SendState] = []
    effects = core.step(FLUSH)
    while effects:
        send = only_send(effects)
        sends.append(send)
        effects = core.step(sent(send))
    return sends
