"""The durable data of each partition's rows, compared with its feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store import Area, Changes, DataRecord, Medium, TopicPartition
from ckptsim.models.store.replica import WorkingContent
from ckptsim.sim.mishaps import ContentLoss, compare
from ckptsim.sim.store.content.spans import SpanMedium

if TYPE_CHECKING:
    from ckptsim.sim.store.watched import WatchedMedium
    from ckptsim.sim.store.world import StoreWorld


_NONE_LOST = ContentLoss(missing=0, stale=0, ghost=0)


class Contents:
    """Questions about durable rows. Where the medium keeps spans, no row is made to answer them."""

    def __init__(self, world: StoreWorld, medium: WatchedMedium) -> None:
        self._world = world
        self._medium = medium
        self._spans = medium.inner if isinstance(medium.inner, SpanMedium) else None

    def has_rows(self, area: Area, key: TopicPartition) -> bool:
        """Return whether a partition has durable rows."""
        if self._spans is not None:
            return self._spans.has_rows(area, key)
        return bool(self._medium.rows(area, key))

    def loss(self, key: TopicPartition, position: int, *, mirrored: bool = False) -> ContentLoss:
        """Compare durable rows with what the log, as written, implies up to a position.

        mirrored: what the next open would put back from the mirror counts too.
        """
        feed, skipped = self._world.book[key], self._world.truths[key].skipped_to
        if self._spans is not None and not mirrored:
            first, end = feed.index_of(skipped + 1), feed.index_of(position + 1)
            if self._spans.is_fold(Area.DATA, key, first=first, end=end):
                return _NONE_LOST
        rows = self._medium.rows(Area.DATA, key)
        if mirrored:
            rows |= self._medium.rows(Area.MIRROR, key)
        return compare(feed.fold(position, skipped), rows)


class FirstWinsContent(WorkingContent):
    """Working content that is right in memory and flushed with the first value of each key."""

    def __init__(self, medium: Medium, key: TopicPartition) -> None:
        super().__init__(medium, key)
        self._first: dict[str, bytes | None] = {}

    def apply(self, record: DataRecord) -> None:
        """Remember the first value beside the last."""
        super().apply(record)
        self._first.setdefault(record.key, record.value)

    def changes(self) -> Changes:
        """Return what the database makes of the batch."""
        return self._first

    def flushed(self) -> None:
        """Forget the batch."""
        super().flushed()
        self._first = {}
