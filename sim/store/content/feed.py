"""The log of one partition as arithmetic: no entry is kept, each is computed from its position.

Position 0 is the start of push. Then come the records of the push at once, the end of push, and
records at a fixed rate with topic switches.  Data record `i` writes key `k<i mod keys>`. Every so
many records it is a delete.  Producers write in turn, each a segment of so many records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ckptsim.models.store import Control, ControlRecord, DataRecord, Rows, TopicPartition
from ckptsim.models.store.log import Entry
from ckptsim.models.store.state import FieldValue, ProducerState

# Made records of a feed that are kept at hand. An assumption: most feeds that are explored are
# shorter.
_REMEMBERED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedShape:
    """What one partition's log holds. interval_ns: between two records after the push."""

    push: int
    stream: int
    interval_ns: int
    keys: int
    deletes_every: int
    switch_every: int
    record_bytes: int
    producers: int = 0
    segment_records: int = 1
    fields: Mapping[str, FieldValue] = field(default_factory=dict)


class Feed:
    """One partition's log. Its clock is handed in, its beginning is an instant of the run."""

    def __init__(self, shape: FeedShape, begins_ns: int, clock: Callable[[], int]) -> None:
        self.shape = shape
        self.begins_ns = begins_ns
        self._clock = clock
        self.end_of_push = shape.push + 1
        switches = shape.stream // shape.switch_every if shape.switch_every else 0
        self._last = self.end_of_push + shape.stream + switches
        self._compacted_to = -1
        self._newest: dict[int, DataRecord] = {}  # which are compared again at each flush

    @property
    def compacted_to(self) -> int:
        """Return the position up to which compaction has gone. -1 before any."""
        return self._compacted_to

    @property
    def last(self) -> int:
        """Return the position of the last entry that there will ever be."""
        return self._last

    @property
    def end(self) -> int:
        """Return the position of the last entry that is there now."""
        passed = (self._clock() - self.begins_ns) // self.shape.interval_ns
        produced = min(max(0, passed), self.shape.stream)
        switches = produced // self.shape.switch_every if self.shape.switch_every else 0
        return min(self.end_of_push + produced + switches, self._last)

    def available_ns(self, position: int) -> int:
        """Return when an entry is there. A topic switch comes with the record before it."""
        if position <= self.end_of_push:
            return self.begins_ns
        return self.begins_ns + self.records_before(position + 1) * self.shape.interval_ns

    def records_before(self, position: int) -> int:
        """Count the records after the push that lie before a position."""
        behind = max(0, position - self.end_of_push - 1)
        every = self.shape.switch_every
        return behind - behind // (every + 1) if every else behind

    def index_of(self, position: int) -> int:
        """Return the number of data records before a position."""
        if position <= self.end_of_push:
            return max(0, min(position - 1, self.shape.push))
        return self.shape.push + self.records_before(position)

    def position_of(self, index: int) -> int:
        """Return the position of a data record."""
        if index < self.shape.push:
            return index + 1
        behind = index - self.shape.push
        every = self.shape.switch_every
        return self.end_of_push + 1 + behind + (behind // every if every else 0)

    def control_at(self, position: int) -> ControlRecord | None:
        """Return the control entry at a position, or None where a data record is."""
        if position == 0:
            return ControlRecord(control=Control.START_OF_PUSH, fields=self.shape.fields)
        if position == self.end_of_push:
            return ControlRecord(control=Control.END_OF_PUSH)
        every = self.shape.switch_every
        if (
            every
            and position > self.end_of_push
            and (position - self.end_of_push) % (every + 1) == 0
        ):
            return ControlRecord(control=Control.TOPIC_SWITCH)
        return None

    def next_after(self, position: int) -> int:
        """Return the position of the next entry that compaction left, perhaps beyond the end."""
        position += 1
        if position > self._compacted_to:
            return position
        while position <= self._compacted_to and not self._survives(position):
            position = self._skip(position)
        return position

    def run_length(self, position: int, limit: int) -> int:
        """Count the data records that follow each other from a position on, up to a limit.

        All are of one producer: a run ends with its segment.
        """
        length = 0
        if self.shape.producers:
            every = self.shape.segment_records
            limit = min(limit, every - self.index_of(position) % every)
        if position <= self._compacted_to:
            while length < limit and position <= self._last and self._is_data(position):
                if position <= self._compacted_to and not self._survives(position):
                    break
                length, position = length + 1, position + 1
            return length
        return min(limit, self._until_control(position))

    def left_between(self, after: int, last: int) -> int:
        """Count the data records after a position, up to another one, that compaction left."""
        found, position = 0, self.next_after(after)
        while position <= min(last, self._compacted_to):
            found += self._is_data(position)
            position = self.next_after(position)
        return found + max(0, self.index_of(last + 1) - self.index_of(position))

    def producer_at(self, position: int) -> ProducerState | None:
        """Return the producer of a data record, with its segment and its place there."""
        if not self.shape.producers:
            return None
        turn, sequence = divmod(self.index_of(position), self.shape.segment_records)
        segment, number = divmod(turn, self.shape.producers)
        return ProducerState(guid=f"p{number}", segment=segment, sequence=sequence)

    def record(self, index: int) -> DataRecord:
        """Return a data record by its number."""
        record = self._newest.get(index)
        if record is None:
            if len(self._newest) == _REMEMBERED:
                self._newest.clear()
            record = self._newest[index] = self._made(index)
        return record

    def _made(self, index: int) -> DataRecord:
        every = self.shape.deletes_every
        gone = every > 0 and index % every == every - 1
        return DataRecord(
            key=f"k{index % self.shape.keys}",
            value=None if gone else str(index).encode(),
            size_bytes=self.shape.record_bytes,
        )

    def last_records(self, first: int, count: int) -> Iterator[DataRecord]:
        """Yield of consecutive data records those that no later one of them overwrites."""
        for index in range(max(first, first + count - self.shape.keys), first + count):
            yield self.record(index)

    def fold(self, position: int, after: int = -1) -> Rows:
        """Return the content that the log, as written, implies up to a position.

        after: leave out what lies up to there, which a seek has skipped.
        """
        rows: Rows = {}
        first = self.index_of(after + 1)
        for record in self.last_records(first, self.index_of(position + 1) - first):
            if record.value is not None:
                rows[record.key] = record.value
        return rows

    def after(self, position: int) -> Iterator[Entry]:
        """Yield the entries after a position that are there now."""
        position = self.next_after(position)
        while position <= self.end:
            control = self.control_at(position)
            record = self.record(self.index_of(position)) if control is None else control
            yield Entry(position, record)
            position = self.next_after(position)

    def compact(self) -> None:
        """Keep of the present state only the newest record per key, and no delete."""
        self._compacted_to = self.end

    def truncate(self, entries: int) -> None:
        """Lose the last entries that are there. Nothing more is written."""
        self._last = max(0, self.end - entries)

    def _is_data(self, position: int) -> bool:
        return self.control_at(position) is None

    def _survives(self, position: int) -> bool:
        if not self._is_data(position):
            return True
        index = self.index_of(position)
        newest = index >= self.index_of(self._compacted_to + 1) - self.shape.keys
        return newest and self.record(index).value is not None

    def _skip(self, position: int) -> int:
        """Return a later position before which nothing survives."""
        newest = self.index_of(self._compacted_to + 1) - self.shape.keys
        index = self.index_of(position)
        if index + 1 >= newest:
            return position + 1
        far = self.position_of(newest)
        return min(far, position + self._until_control(position))

    def _until_control(self, position: int) -> int:
        """Count the data records from a position up to the next control entry or the end."""
        if position <= self.end_of_push:
            return self.end_of_push - position
        left = self._last + 1 - position
        every = self.shape.switch_every
        if not every:
            return max(0, left)
        return min(left, (every + 1) - (position - self.end_of_push) % (every + 1))


class FeedBook:
    """The feeds of a run, by partition. They belong to the broker."""

    def __init__(self) -> None:
        self.feeds: dict[TopicPartition, Feed] = {}

    def __getitem__(self, key: TopicPartition) -> Feed:
        return self.feeds[key]
