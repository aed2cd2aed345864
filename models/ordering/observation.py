"""Everything observable of an ordering core as one value, for reports and for comparison."""

from __future__ import annotations

from dataclasses import dataclass

from models.ordering.counts import Count
from models.ordering.keys import CheckpointId, CheckpointIndex, Scope, StreamDescriptor, Verdict

# The last released index of a scope, and its unsent indexes in ascending order.
ShelfObservation = tuple[CheckpointIndex, tuple[CheckpointIndex, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamObservation:
    """One stream: its shelf, its interval, its lifecycle and its counts.

    ids: per id the records read for it and what is committed of it.
    allowances: what folded ids may still report, per level.
    """

    stream: StreamDescriptor
    shelf: ShelfObservation
    ordinal: CheckpointIndex
    completed: bool
    ended: bool
    verdict: Verdict
    records_read: int
    records_complete: int
    allowances: tuple[int, int]
    ids: tuple[tuple[CheckpointId, int, Count], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One attempt: its kind, its send, its end, its totals, and every stream.

    per_stream: whether scopes are streams; None while undecided.
    """

    per_stream: bool | None
    open_channels: tuple[bool, ...]
    opened: tuple[StreamDescriptor, ...]
    outgoing: tuple[Scope, CheckpointIndex] | None
    flush_remembered: bool
    ending: str
    totals: tuple[tuple[StreamDescriptor, Count], ...]
    whole: ShelfObservation
    streams: tuple[StreamObservation, ...]
