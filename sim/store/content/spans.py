"""Content as the spans of a feed that were applied, in place of the rows that follow from them.

A record's key and value follow from its number, so that applying ten thousand of them is one span.
Rows are made when someone asks for them.  What the spans cannot say (a write of rows from
elsewhere, such as the ones of a mirror) is kept as rows, as the model medium does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ckptsim.models import store
from ckptsim.models.core import ProtocolError
from ckptsim.models.store import Area, Changes, DataRecord, Medium, TopicPartition
from ckptsim.models.store.medium import RowsWrite
from ckptsim.models.store.replica import WorkingContent
from ckptsim.sim.mishaps import ContentLoss, compare
from ckptsim.sim.store.content.feed import Feed

if TYPE_CHECKING:
    from ckptsim.sim.store.faults import WatchedMedium
    from ckptsim.sim.store.world import StoreWorld


class FeedChanges(Mapping[str, bytes | None]):
    """What data records of a feed change, applied span after span. None deletes a key."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.spans: list[tuple[int, int]] = []  # numbers of the first record and beyond the last
        self._made: dict[str, bytes | None] | None = None

    def append(self, first: int, end: int) -> None:
        """Apply the records from a number up to another, which is not among them."""
        while self.spans and first <= self.spans[-1][1] <= end:
            # The old span's last records are applied again, or the new one continues after it.
            first = min(first, self.spans.pop()[0])
        self.spans.append((first, end))
        self._made = None

    def rows(self) -> store.Rows:
        """Return the content that these changes make of an empty one."""
        return {name: value for name, value in self._changes().items() if value is not None}

    @property
    def leaves_rows(self) -> bool:
        """Return whether any row is left of them."""
        return bool(self.spans) and (not self.feed.shape.deletes_every or bool(self.rows()))

    def __getitem__(self, name: str) -> bytes | None:
        return self._changes()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._changes())

    def __len__(self) -> int:
        if len(self.spans) == 1:
            first, end = self.spans[0]
            return min(end - first, self.feed.shape.keys)
        return len(self._changes())

    def _changes(self) -> dict[str, bytes | None]:
        if self._made is None:
            self._made = {}
            for first, end in self.spans:
                for record in self.feed.last_records(first, end - first):
                    self._made[record.key] = record.value
        return self._made


class SpanContent(WorkingContent):
    """Working content to which a feed's records are applied span by span."""

    def __init__(self, medium: store.Medium, key: store.TopicPartition, feed: Feed) -> None:
        super().__init__(medium, key)
        self._feed = feed
        self._unflushed = FeedChanges(feed)

    def apply(self, record: store.DataRecord) -> None:
        """Refuse a record without its number."""
        raise ProtocolError("no_number", state="content of spans", event=record)

    def apply_span(self, first: int, end: int) -> None:
        """Apply the data records from a number up to another, which is not among them."""
        self._unflushed.append(first, end)

    def rows(self) -> store.Rows:
        """Return the whole content."""
        rows = self._medium.rows(store.Area.DATA, self._key)
        for name, value in self._unflushed.items():
            if value is None:
                rows.pop(name, None)
            else:
                rows[name] = value
        return rows

    def changes(self) -> store.Changes:
        """Return the changes that are not flushed, one per key."""
        return self._unflushed

    def flushed(self) -> None:
        """Forget the changes, which are durable now."""
        self._unflushed = FeedChanges(self._feed)


class SpanMedium(store.ModelMedium):
    """A model medium that keeps spans where nothing but spans was written."""

    def __init__(self, *, atomic: bool) -> None:
        super().__init__(atomic=atomic)
        self._spans: dict[tuple[store.Area, store.TopicPartition], FeedChanges] = {}

    def rows(self, area: store.Area, key: store.TopicPartition) -> store.Rows:
        """Return the durable rows of one partition."""
        spans = self._spans.get((area, key))
        return super().rows(area, key) if spans is None else spans.rows()

    def row(self, area: store.Area, key: store.TopicPartition, name: str) -> bytes | None:
        """Return the durable value of one row, or None."""
        spans = self._spans.get((area, key))
        return super().row(area, key, name) if spans is None else spans.get(name)

    def has_rows(self, area: store.Area, key: store.TopicPartition) -> bool:
        """Return whether a partition has durable rows."""
        spans = self._spans.get((area, key))
        return bool(super().rows(area, key)) if spans is None else spans.leaves_rows

    def is_fold(self, area: store.Area, key: store.TopicPartition, *, first: int, end: int) -> bool:
        """Return whether the rows are known to be the ones of the records of one span."""
        spans = self._spans.get((area, key))
        return spans is not None and spans.spans == [(first, end)]

    def lose(self, *, areas: tuple[store.Area, ...], slots: bool) -> None:
        """Lose durable state of all partitions."""
        super().lose(areas=areas, slots=slots)
        self._spans = {place: each for place, each in self._spans.items() if place[0] not in areas}

    def _write_rows(self, write: RowsWrite) -> None:
        place, changes = (write.area, write.key), write.changes
        spans = self._spans.get(place)
        if write.wipe:
            self._spans.pop(place, None)
        elif isinstance(changes, FeedChanges) and not (spans is None and self._rows.get(place)):
            kept = self._spans.setdefault(place, FeedChanges(changes.feed))
            for first, end in changes.spans:
                kept.append(first, end)
            return
        elif spans is not None:
            self._rows[place] = spans.rows()
            del self._spans[place]
        super()._write_rows(write)


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
