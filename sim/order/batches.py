"""When records become durable: batches by size and age, uploads by delay, all in messages.

Nothing here looks at a clock.  The age of a batch and the delay of an upload are counted in
messages read, so the same input gives the same output on every machine.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ckptsim.models.ordering import CheckpointId, RecordsDurable, StreamDescriptor
from ckptsim.models.ordering.effects import PassRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRules:
    """How a destination batches and uploads.

    batch_records: a stream's batch is uploaded when it holds as many records.
    batch_age_messages: or when as many messages were read since its first record.
    upload_delay_messages: an upload is durable after as many further messages.
    """

    batch_records: int = 100
    batch_age_messages: int = 1000
    upload_delay_messages: int = 0


class Batch:
    """The records of one stream that wait for their upload, by checkpoint id."""

    __slots__ = ("counts", "records", "stream")

    def __init__(self, stream: StreamDescriptor) -> None:
        self.stream = stream
        self.records = 0
        self.counts: dict[CheckpointId, tuple[int, int]] = {}

    def add(self, passed: PassRecords) -> None:
        """Add records to the batch."""
        records, size_bytes = self.counts.get(passed.id, (0, 0))
        self.counts[passed.id] = (records + passed.count, size_bytes + passed.size_bytes)
        self.records += passed.count

    def reports(self) -> list[RecordsDurable]:
        """Return what to tell the core once the batch is durable, in the order of first records."""
        return [
            RecordsDurable(stream=self.stream, id=identity, count=records, size_bytes=size_bytes)
            for identity, (records, size_bytes) in self.counts.items()
        ]


class Pipeline:
    """The open batch of each stream, and the uploads under way."""

    def __init__(self, rules: BatchRules) -> None:
        self._rules = rules
        self._open: dict[StreamDescriptor, Batch] = {}
        self._ages: deque[tuple[int, Batch]] = deque()  # when each batch is too old, oldest first
        self._uploads: deque[tuple[int, Batch]] = deque()  # when each upload is durable, in order
        self.batches = 0

    def add(self, passed: PassRecords, now: int) -> None:
        """Take records that were read with message number `now`."""
        batch = self._open.get(passed.stream)
        if batch is None:
            batch = self._open[passed.stream] = Batch(passed.stream)
            self._ages.append((now + self._rules.batch_age_messages, batch))
        batch.add(passed)
        if batch.records >= self._rules.batch_records:
            self.upload(passed.stream, now)

    def upload(self, stream: StreamDescriptor, now: int) -> None:
        """Upload open work of a stream."""
        batch = self._open.pop(stream, None)
        if batch is not None:
            self._uploads.append((now + self._rules.upload_delay_messages, batch))
            self.batches += 1

    def due(self, now: int) -> list[RecordsDurable]:
        """Upload batches that are too old, and return the durable data by message `now`."""
        while self._ages and self._ages[0][0] <= now:
            _, batch = self._ages.popleft()
            if self._open.get(batch.stream) is batch:
                self.upload(batch.stream, now)
        reports: list[RecordsDurable] = []
        while self._uploads and self._uploads[0][0] <= now:
            reports += self._uploads.popleft()[1].reports()
        return reports

    def drain(self, now: int) -> list[RecordsDurable]:
        """Upload everything that is open, and return what becomes durable with it."""
        for stream in list(self._open):
            self.upload(stream, now)
        return self.due(now + self._rules.upload_delay_messages)
