"""Naive second versions of what is decided about barriers: their kinds, and behind which one stops.

Source: Apache Flink 1.20.3, CheckpointOptions.forConfig, Buffer.DataType.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ckptsim.models.barriers import barrier
from ckptsim.models.barriers.barrier import MAX_TIMEOUT_NS, Barrier, NetworkEvent, OptionKind
from ckptsim.models.recovery.in_flight import ConnectionDescriptor
from ckptsim.sim.rules.answers import Pick

_STOPS = (OptionKind.ALIGNED, OptionKind.SAVEPOINT, OptionKind.TIMEOUTABLE)
_OTHERS: tuple[NetworkEvent, ...] = (
    barrier.Announcement(Barrier(3, 0, OptionKind.TIMEOUTABLE, 5), 1),
    barrier.CancellationMarker(3),
    barrier.EndOfPartition(),
    barrier.EndOfChannelState(),
    ConnectionDescriptor(0, 1),
)


def _kind(
    *, exactly_once: bool, savepoint: bool, unaligned_enabled: bool, timeout_ns: int | None
) -> OptionKind:
    """List what each setting leaves possible; the strongest word is said first."""
    if exactly_once and not savepoint and unaligned_enabled:
        waits = timeout_ns is not None and 0 < timeout_ns < MAX_TIMEOUT_NS
        return OptionKind.TIMEOUTABLE if waits else OptionKind.UNALIGNED
    if exactly_once:
        return OptionKind.SAVEPOINT if savepoint else OptionKind.ALIGNED
    return OptionKind.AT_LEAST_ONCE


def _blocks(event: NetworkEvent) -> bool:
    """A sender stops behind what its receiver has to wait with: barriers that are aligned on."""
    kind = event.kind if isinstance(event, Barrier) else None
    return kind in (*_STOPS, OptionKind.FORCED_ALIGNED) or event == barrier.EndOfChannelState()


def _draw_kind(pick: Pick) -> Sequence[Any]:
    return (
        {
            "exactly_once": not pick.one_in(4),
            "savepoint": pick.one_in(3),
            "unaligned_enabled": not pick.one_in(3),
            "timeout_ns": pick.of((None, 0, 1, MAX_TIMEOUT_NS - 1, MAX_TIMEOUT_NS)),
        },
    )


def _draw_event(pick: Pick) -> Sequence[Any]:
    kind = pick.of(tuple(OptionKind))
    timeout_ns = 5 if kind is OptionKind.TIMEOUTABLE else None
    return (pick.of((Barrier(3, 0, kind, timeout_ns), *_OTHERS)),)


CORES: Mapping[str, Callable[..., Any]] = {
    "select_kind": barrier.select_kind,
    "is_blocking": barrier.is_blocking,
}
NAIVE: Mapping[str, Callable[..., Any]] = {"select_kind": _kind, "is_blocking": _blocks}
DRAWS: Mapping[str, Callable[[Pick], Sequence[Any]]] = {
    "select_kind": _draw_kind,
    "is_blocking": _draw_event,
}
