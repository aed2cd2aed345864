"""The log of a version topic: data records and control entries, by position.

The log is the truth that a client follows.  Compaction keeps the newest data record per key and
drops tombstones. Positions stay, and new entries continue after the last position ever given.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ckptsim.models.store.state import FieldValue
from ckptsim.models.store.topics import TopicPartition


class Control(StrEnum):
    """The control entries of a version topic."""

    START_OF_PUSH = "SOP"
    END_OF_PUSH = "EOP"
    TOPIC_SWITCH = "TS"
    START_OF_SEGMENT = "SOS"
    END_OF_SEGMENT = "EOS"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRecord:
    """A put, or with `value` None a delete (a tombstone)."""

    key: str
    value: bytes | None
    size_bytes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecord:
    """A control entry with the fields of its message."""

    control: Control
    fields: Mapping[str, FieldValue] = field(default_factory=dict)


Record = DataRecord | ControlRecord


@dataclass(frozen=True, slots=True)
class Entry:
    """A record at its position."""

    position: int
    record: Record


class Log(Protocol):
    """What a client needs of the log of one partition."""

    @property
    def end(self) -> int:
        """Return the last position ever written. -1 for an empty log."""

    def after(self, position: int) -> Iterator[Entry]:
        """Yield what a reader finds that has processed everything up to a position."""


class Logs(Protocol):
    """The logs of all partitions."""

    def __getitem__(self, key: TopicPartition) -> Log:
        """Return the log of one partition."""


class PartitionLog:
    """The log of one partition, as it was written and as compaction left it."""

    def __init__(self) -> None:
        self.written: list[Entry] = []  # whatever compaction has dropped since among it
        self._entries: list[Entry] = []
        self._positions: list[int] = []

    @property
    def end(self) -> int:
        """Return the last position ever written. -1 for an empty log."""
        return len(self.written) - 1

    def append(self, records: Iterable[Record]) -> None:
        """Write records at the end."""
        for record in records:
            entry = Entry(len(self.written), record)
            self.written.append(entry)
            self._entries.append(entry)
            self._positions.append(entry.position)

    def after(self, position: int) -> Iterator[Entry]:
        """Yield what a reader finds that has processed everything up to a position."""
        for index in range(bisect_right(self._positions, position), len(self._entries)):
            yield self._entries[index]

    def compact(self) -> None:
        """Keep the newest data record per key, drop tombstones, keep control entries."""
        newest: dict[str, int] = {}
        for entry in self._entries:
            if isinstance(entry.record, DataRecord):
                newest[entry.record.key] = entry.position
        self._entries = [entry for entry in self._entries if _survives(entry, newest)]
        self._positions = [entry.position for entry in self._entries]


class LogBook:
    """The logs of all partitions. They belong to the broker and outlive every client."""

    def __init__(self) -> None:
        self._logs: dict[TopicPartition, PartitionLog] = {}

    def __getitem__(self, key: TopicPartition) -> PartitionLog:
        return self._logs.setdefault(key, PartitionLog())


def _survives(entry: Entry, newest: Mapping[str, int]) -> bool:
    record = entry.record
    if isinstance(record, ControlRecord):
        return True
    return record.value is not None and newest[record.key] == entry.position
