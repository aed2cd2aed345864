"""Which parameters cores refuse, stated naively, and parameters at and around their bounds.

Source: Apache Flink 1.20.3, CheckpointConfig, InputProcessorUtil, HeartbeatManagerOptions; what
docs/ordering.md says of a sync.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ckptsim.models.barriers import HandlerKind, handler_kind
from ckptsim.models.coordinator import CoordinatorParameters
from ckptsim.models.coordinator.debloater import DebloatParameters
from ckptsim.models.ordering import Medium, OrderingParameters, StreamDescriptor
from ckptsim.models.recovery.detection import HeartbeatParameters
from ckptsim.models.uncoordinated import Checkpoint, RecoveryLine
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.calls import RefusedCall
from tests.rules.naive.naive import one_line

_REFUSED = "refused, in a line that names the parameter"


def _accepted(make: Callable[..., Any]) -> Callable[..., bool]:
    """Return what says whether parameters are accepted; a refusal stays one."""

    def accepts(*arguments: Any, **named: Any) -> bool:
        make(*arguments, **named)
        return True

    return accepts


def _told(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what says whether parameters are accepted, where a ValueError refuses them."""

    def accepts(**named: Any) -> Any:
        try:
            make(**named)
        except ValueError as error:
            name = str(error).partition(":")[0]
            return _REFUSED if name in named and one_line(str(error)) else str(error)
        return True

    return accepts


def _coordinator(
    *, unaligned: bool, exactly_once: bool, max_concurrent: int, retained: int
) -> bool:
    least = min(max_concurrent, retained)
    if least < 1 or (unaligned and (max_concurrent > 1 or not exactly_once)):
        raise RefusedCall("bad_parameters")
    return True


def _heartbeats(*, interval_ns: int, timeout_ns: int, rpc_failure_threshold: int | None) -> bool:
    if interval_ns not in range(1, timeout_ns) or rpc_failure_threshold == 0:
        raise RefusedCall("bad_parameters")
    return True


def _handler(*, exactly_once: bool, unaligned_enabled: bool) -> HandlerKind:
    if exactly_once:
        return HandlerKind.ALTERNATING if unaligned_enabled else HandlerKind.ALIGNED
    if unaligned_enabled:
        raise RefusedCall("unaligned_at_least_once")
    return HandlerKind.TRACKER


def _sync(*, medium: Medium, streams: Sequence[Any], channels: int, released_ids_kept: int) -> Any:
    del medium
    twice = any(streams.count(stream) > 1 for stream in streams)
    return _REFUSED if twice or channels < 1 or released_ids_kept < 0 else True


def _line(channels: Sequence[Any], begin: Sequence[Checkpoint]) -> bool:
    del channels
    if [one.number for one in begin] != [0] * len(begin):
        raise RefusedCall("bad_begin")
    return True


def _drawn_sync(pick: Pick) -> Sequence[Any]:
    names = pick.of((("a",), ("a", "b"), ("a", "b", "a")))
    options = {
        "medium": pick.of(tuple(Medium)),
        "streams": tuple(map(StreamDescriptor, names)),
        "channels": pick.of((0, 1, 2)),
        "released_ids_kept": pick.of((-1, 0, 1)),
    }
    return (options,)


CORES: Mapping[str, Callable[..., Any]] = {
    "coordinator parameters": _accepted(CoordinatorParameters),
    "heartbeat parameters": _accepted(HeartbeatParameters),
    "handler_kind": handler_kind,
    "debloat parameters": _told(DebloatParameters),
    "ordering parameters": _told(OrderingParameters),
    "recovery line": _accepted(RecoveryLine),
}
NAIVE: Mapping[str, Callable[..., Any]] = {
    "coordinator parameters": _coordinator,
    "heartbeat parameters": _heartbeats,
    "handler_kind": _handler,
    "debloat parameters": lambda samples: True if samples > 0 else _REFUSED,
    "ordering parameters": _sync,
    "recovery line": _line,
}
DRAWS: Mapping[str, Callable[[Pick], Sequence[Any]]] = {
    "coordinator parameters": lambda pick: (
        {
            "unaligned": pick.one_in(2),
            "exactly_once": pick.one_in(2),
            "max_concurrent": pick.integer(0, 2),
            "retained": pick.integer(0, 2),
        },
    ),
    "heartbeat parameters": lambda pick: (
        {
            "interval_ns": pick.integer(0, 3),
            "timeout_ns": pick.integer(1, 4),
            "rpc_failure_threshold": pick.of((None, 0, 1)),
        },
    ),
    "handler_kind": lambda pick: (
        {"exactly_once": pick.one_in(2), "unaligned_enabled": pick.one_in(2)},
    ),
    "debloat parameters": lambda pick: ({"samples": pick.integer(-1, 2)},),
    "ordering parameters": _drawn_sync,
    "recovery line": lambda pick: (
        (),
        [Checkpoint(number=pick.of((0, 0, 1)), sent={}, received={})] * 2,
    ),
}
