"""Runs of records: many that are applied one after the other, in one event."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ckptsim.models.store import Area, Changes, RowsWrite, Step, TopicPartition
from ckptsim.models.store.ingestion.events import IngestionState
from ckptsim.scenarios.store import Upsert
from ckptsim.sim.store.content.spans import FeedChanges, SpanContent
from ckptsim.sim.store.costs import each_durable

if TYPE_CHECKING:
    from ckptsim.models.store.replica import Replica, WorkingContent
    from ckptsim.sim.store.content.feed import Feed
    from ckptsim.sim.store.truth import PartitionTruth
    from ckptsim.sim.store.world import StoreWorld


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Consecutive data records that are being applied.

    first_ns: when the first of them is (or was) there. interval_ns: between two of them, 0 where
    all are there. Record k, from 1, ends at `end_of(k)`.
    """

    position: int
    index: int
    records: int
    begun_ns: int
    first_ns: int
    interval_ns: int
    apply_ns: int

    def end_of(self, k: int) -> int:
        """Return when the k-th record has been applied."""
        busy = self.begun_ns + k * self.apply_ns
        slowest = max(self.interval_ns, self.apply_ns)
        arrived = self.first_ns + (k - 1) * slowest + self.apply_ns
        return max(busy, arrived)

    def behind(self, records: int) -> Run | None:
        """Return the rest of the run after its first records, if anything is."""
        if records == self.records:
            return None
        return replace(
            self,
            position=self.position + records,
            index=self.index + records,
            records=self.records - records,
            begun_ns=self.end_of(records) if records else self.begun_ns,
            first_ns=self.first_ns + records * self.interval_ns,
        )

    def done_by(self, now_ns: int) -> int:
        """Count the records that have been applied by an instant, itself included."""
        low, high = 0, self.records
        while low < high:
            middle = (low + high + 1) // 2
            if self.end_of(middle) <= now_ns:
                low = middle
            else:
                high = middle - 1
        return low


class RecordWriter:
    """Plans the runs of one partition and writes them into its working content."""

    def __init__(
        self, world: StoreWorld, key: TopicPartition, feed: Feed, truth: PartitionTruth
    ) -> None:
        self._world = world
        self._key = key
        self._feed = feed
        self._truth = truth

    def plan(self, position: int, replica: Replica, in_sync: int) -> Run:
        """Return the run that begins now at a position. It is empty where its first record fails.

        It ends where something has to happen: a sync by bytes, a control entry, a failing record.
        in_sync: bytes of the sync that is written meanwhile, if one is.
        """
        core, feed, shape = replica.ingestion, self._feed, self._feed.shape
        index = feed.index_of(position)
        size_bytes = core.bytes_since_sync - in_sync
        limit = core.rules.records_until_due(size_bytes, shape.record_bytes)
        opens = core.state is IngestionState.OPEN
        if opens and core.rules.sync_interval_ns and not core.timer_set:
            limit = 1  # the record that sets the timer has to be an event of its own
        failing = self._world.faults.failing_record(self._key, index)
        if failing is not None:
            limit = min(failing - index, limit if limit is not None else failing - index)
        records = feed.run_length(position, shape.push + shape.stream if limit is None else limit)
        streamed = position > feed.end_of_push
        return Run(
            position=position,
            index=index,
            records=records,
            begun_ns=self._world.env.now,
            first_ns=feed.available_ns(position),
            interval_ns=shape.interval_ns if streamed else 0,
            apply_ns=self._world.apply_ns,
        )

    def write(self, run: Run, records: int, content: WorkingContent) -> bool:
        """Write the first records of a run, and count them. Return whether they are durable now."""
        truth, last = self._truth, run.position + records - 1
        changes = self._apply(content, run.index, run.index + records)
        truth.applied += records
        truth.busy_ns += records * run.apply_ns
        again = min(last, truth.applied_to) - run.position + 1
        if again > 0:
            truth.reprocessed += again
            self._world.reprocessed(again)
        truth.applied_to = max(truth.applied_to, last)
        if not each_durable(self._world.model):
            return False
        self._world.act(self._key)
        rows = RowsWrite(area=Area.DATA, key=self._key, changes=changes)
        self._world.client.medium.commit(Step(rows=(rows,)))
        return True

    def apply_again(self, content: WorkingContent, first: int, last: int) -> None:
        """Apply what lies between two positions, both included, to content without it."""
        content.flushed()
        self._apply(content, self._feed.index_of(first), self._feed.index_of(last + 1))

    def _apply(self, content: WorkingContent, first: int, end: int) -> Changes:
        """Apply data records to the working content. Return what they change."""
        if isinstance(content, SpanContent):
            content.apply_span(first, end)
            changes = FeedChanges(self._feed)
            changes.append(first, end)
            return changes
        if self._world.model.sync.upsert is Upsert.FIRST_WINS:
            written = [self._feed.record(index) for index in range(first, end)]
        else:
            written = list(self._feed.last_records(first, end - first))
        for record in written:
            content.apply(record)
        return {record.key: record.value for record in written}
