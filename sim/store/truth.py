"""The world's own account of each partition, apart from what client and store believe."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ckptsim.models.store import Area, Slot, TopicPartition
from ckptsim.models.store.ingestion.events import Cause

if TYPE_CHECKING:
    from ckptsim.sim.store.content import Feed

NOTHING = -1
Intervals = list[tuple[int, int]]


@dataclass(slots=True, kw_only=True)
class SyncAccount:
    """One sync: when it began, how far its steps got, how it ended."""

    number: int
    incarnation: int
    cause: Cause
    begun_ns: int
    position: int
    records: int
    size_bytes: int
    rows: int = 0
    blob_bytes: int = 0
    steps_ns: list[int] = field(default_factory=list)
    ended_ns: int | None = None
    status: str = "pending"
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The data that a checkpoint claims: the identity, and the number of flushes."""

    identity: int = 0
    generation: int = 0


@dataclass(slots=True, kw_only=True)
class PartitionTruth:
    """Everything that is true of one partition.

    applied_to: the highest position ever applied. covered: the positions with a durable effect, per
    area, as intervals. flushed_to: the position up to which the rows were last made durable.
    promised: the position of the last complete sync, until something excuses its loss. lost_to: the
    position up to which the missing part was counted as lost. step_until_ns: when the durable step
    that began last is over. data_identity, generation: which data these are, and how often they
    were flushed. claims: what the checkpoint in each store says of that.
    """

    key: TopicPartition
    applied_to: int = NOTHING
    covered: dict[Area, Intervals] = field(default_factory=lambda: {area: [] for area in Area})
    flushed_to: int = NOTHING
    flushed_high: int = NOTHING
    promised: int = NOTHING
    lost_to: int = NOTHING
    checkpoint: int | None = None
    skipped_to: int = NOTHING  # a seek left out everything up to here
    applied: int = 0
    reprocessed: int = 0
    busy_ns: int = 0
    syncing_ns: int = 0
    step_until_ns: int = 0
    reports: int = 0
    frozen: bool = False
    was_reset: bool = False
    data_lost: bool = False
    data_identity: int = 0
    generation: int = 0
    claims: dict[Slot, Claim] = field(default_factory=dict)
    syncs: list[SyncAccount] = field(default_factory=list)

    def begin_behind(self, position: int) -> None:
        """Note that a user wants everything up to a position left out."""
        self.checkpoint = self.flushed_to = self.skipped_to = position
        self.cover(Area.DATA, 0, position)

    def cover(self, area: Area, first: int, last: int) -> None:
        """Note that the effect of these positions is durable."""
        if last >= first:
            self.covered[area] = merged([*self.covered[area], (first, last)])

    def durable_prefix(self) -> int:
        """Return the largest position such that everything up to it is durable."""
        spans = self.covered[Area.DATA]
        return spans[0][1] if spans and spans[0][0] == 0 else NOTHING

    def newly_lost(self, feed: Feed, position: int) -> int:
        """Count the records that a start at a position skips, though they were never durable."""
        spans = self.covered[Area.DATA]
        known = max(spans[-1][1] if spans else NOTHING, self.lost_to, self.skipped_to)
        self.lost_to = max(self.lost_to, position) if position > NOTHING else NOTHING
        return max(0, feed.index_of(position + 1) - feed.index_of(known + 1))

    def rows_are_gone(self) -> None:
        """Note that nothing of the data is durable. What checkpoints say of it is kept."""
        self.covered[Area.DATA] = []
        self.flushed_to = self.flushed_high = NOTHING
        self.generation = 0
        self.claims = {slot: replace(claim, generation=0) for slot, claim in self.claims.items()}

    def claims_these(self, slot: Slot) -> None:
        """Note that a checkpoint in a slot is of the data as they are now."""
        self.claims[slot] = Claim(identity=self.data_identity, generation=self.generation)

    def claim(self, slot: Slot) -> Claim:
        """Return what the checkpoint in a slot says of its data."""
        return self.claims.get(slot, Claim())

    def excuse(self) -> None:
        """Forget everything that was promised: a fault has taken or moved the checkpoint."""
        self.promised = NOTHING


def merged(spans: Intervals) -> Intervals:
    """Return intervals of positions sorted, those that touch joined."""
    result: Intervals = []
    for first, last in sorted(spans):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], last))
        else:
            result.append((first, last))
    return result
