"""The log as arithmetic is the log that an explicit list of entries is."""

from __future__ import annotations

import pytest

from ckptsim.models.store import ControlRecord, DataRecord, PartitionLog
from ckptsim.sim.mishaps import fold
from ckptsim.sim.store.content import Feed, FeedShape

SHAPES = [
    FeedShape(
        push=push,
        stream=stream,
        interval_ns=10,
        keys=keys,
        deletes_every=deletes,
        switch_every=switch,
        record_bytes=3,
    )
    for push, stream, keys, deletes, switch in (
        (0, 7, 2, 0, 0),
        (5, 0, 3, 0, 0),
        (6, 9, 4, 3, 2),
        (3, 12, 5, 4, 5),
        (20, 20, 7, 5, 1),
    )
]


def _written(feed: Feed) -> PartitionLog:
    log = PartitionLog()
    index = 0
    for position in range(feed.last + 1):
        control = feed.control_at(position)
        record: DataRecord | ControlRecord
        if control is None:
            record, index = feed.record(index), index + 1
        else:
            record = control
        log.append([record])
    return log


@pytest.mark.parametrize("shape", SHAPES)
def test_positions_and_indexes_agree(shape: FeedShape) -> None:
    """Every data record has one position, and what lies before it is counted right."""
    feed = Feed(shape, 100, lambda: 100)
    index = 0
    for position in range(feed.last + 1):
        assert feed.index_of(position) == index
        if feed.control_at(position) is None:
            assert feed.position_of(index) == position
            index += 1
    assert index == shape.push + shape.stream


@pytest.mark.parametrize("shape", SHAPES)
def test_entries_appear_when_they_are_available(shape: FeedShape) -> None:
    """At each instant the end of the log is the last due entry."""
    clock = [100]
    feed = Feed(shape, 100, lambda: clock[0])
    for now in range(100, 100 + 10 * shape.stream + 11):
        clock[0] = now
        there = [p for p in range(feed.last + 1) if feed.available_ns(p) <= now]
        assert feed.end == there[-1]


@pytest.mark.parametrize("shape", SHAPES)
def test_folds_and_compaction_are_those_of_the_list(shape: FeedShape) -> None:
    """Fold, reading and compaction agree with a log that keeps every entry."""
    feed = Feed(shape, 0, lambda: 1 << 40)
    log = _written(feed)
    for position in range(-1, feed.last + 1):
        assert feed.fold(position) == fold(log, position)
    assert list(feed.after(2)) == list(log.after(2))
    feed.compact()
    log.compact()
    for position in range(-1, feed.last + 1):
        assert list(feed.after(position)) == list(log.after(position))
        start = feed.next_after(position)
        run = feed.run_length(start, 1000) if start <= feed.last else 0
        entries = [e.position for e in log.after(position) if isinstance(e.record, DataRecord)]
        last = min(position + 7, feed.last)
        assert feed.left_between(position, last) == sum(each <= last for each in entries)
        if start <= feed.last and feed.control_at(start) is None:
            assert entries[:run] == list(range(start, start + run))
            assert entries[run : run + 1] != [start + run]
