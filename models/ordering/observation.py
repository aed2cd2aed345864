"""Everything observable of an ordering core as one value, for reports and for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ckptsim.models.ordering import terms
from ckptsim.models.ordering.lifecycle import Lifecycle
from ckptsim.models.ordering.release import Ledger, Releaser, Shelf, Shelves
from ckptsim.models.ordering.terms import Inference

# The last released index of a scope, and its unsent indexes in ascending order.
ShelfObservation = tuple[terms.CheckpointIndex, tuple[terms.CheckpointIndex, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamObservation:
    """One stream: its shelf, its interval, its lifecycle and its counts.

    ids: per id the records read for it, and what levels PERSISTED and COMPLETE have reported.
    allowances: what folded ids may still report, per level.
    """

    stream: terms.StreamDescriptor
    shelf: ShelfObservation
    ordinal: terms.CheckpointIndex
    completed: bool
    ended: bool
    verdict: terms.Verdict
    records_read: int
    records_complete: int
    allowances: tuple[int, int]
    ids: tuple[tuple[terms.CheckpointId, int, terms.Count, terms.Count], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One attempt as a value. per_stream: whether scopes are streams, None while undecided."""

    per_stream: bool | None
    open_channels: tuple[bool, ...]
    opened: tuple[terms.StreamDescriptor, ...]
    outgoing: tuple[terms.Scope, terms.CheckpointIndex] | None
    flush_remembered: bool
    ending: str
    totals: tuple[tuple[terms.StreamDescriptor, terms.Count], ...]
    whole: ShelfObservation
    streams: tuple[StreamObservation, ...]


def observe(
    *,
    ledgers: Mapping[terms.StreamDescriptor, Ledger],
    lifecycle: Lifecycle,
    inference: Inference,
    shelves: Shelves,
    releaser: Releaser,
) -> Observation:
    """Return what can be observed of a core that is made of these parts."""
    outgoing = releaser.outgoing
    return Observation(
        per_stream=shelves.per_stream,
        open_channels=lifecycle.open_channels,
        opened=lifecycle.opened,
        outgoing=None if outgoing is None else (outgoing.scope, outgoing.key.index),
        flush_remembered=releaser.again,
        ending=releaser.ending.name,
        totals=releaser.totals,
        whole=_shelf(shelves.of(None)),
        streams=tuple(
            StreamObservation(
                stream=stream,
                shelf=_shelf(shelves.of(stream)),
                ordinal=inference.ordinal(stream),
                completed=lifecycle.completed(stream),
                ended=lifecycle.ended(stream),
                verdict=lifecycle.verdict(stream),
                records_read=ledger.records_read,
                records_complete=ledger.records_complete,
                allowances=ledger.allowances,
                ids=tuple(_counts(ledger, identity) for identity in ledger.ids),
            )
            for stream, ledger in ledgers.items()
        ),
    )


def _shelf(shelf: Shelf) -> ShelfObservation:
    return shelf.last_released, shelf.indexes


def _counts(
    ledger: Ledger, identity: terms.CheckpointId
) -> tuple[terms.CheckpointId, int, terms.Count, terms.Count]:
    persisted, complete = (ledger.at(level, identity) for level in terms.Level)
    return identity, ledger.read_for(identity), persisted, complete
