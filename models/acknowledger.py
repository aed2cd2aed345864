"""The acknowledger of a source: it says which part of a log is never read again.

The owner, such as a database with a replication slot, keeps its log from the acknowledged position
on, and may cut all before it.  A restart reads from the position of a checkpoint.  So a position is
acknowledged after a checkpoint that has it is complete.

Promised: the log has all that a restart from the newest complete checkpoint reads.  Not promised:
that it is cut at once.  A notification that gets lost is made up for by the next.

Source: Apache Flink CDC 3.5, PostgresSourceReader.notifyCheckpointComplete (it commits the offset
of that checkpoint).  Apache Kafka 3.6, SourceTask.commit (offsets may be older than the latest of
poll, KAFKA-5716).  PostgreSQL 17, streaming replication protocol (a flushed position may be cut).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class Position:
    """How many records of a split are read."""

    split: int
    records: int


@dataclass(frozen=True, slots=True)
class Restored:
    """The source begins at these positions."""

    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class RecordsRead:
    """Records are read and emitted up to these positions, before a snapshot or a notification."""

    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """A snapshot has these positions."""

    checkpoint: int
    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class CheckpointCompleted:
    """The source is notified of a complete checkpoint."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CheckpointAborted:
    """The source is notified of a checkpoint that has failed."""

    checkpoint: int


AcknowledgerEvent: TypeAlias = (
    Restored | RecordsRead | SnapshotTaken | CheckpointCompleted | CheckpointAborted
)


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Let the owner cut the log of a split before a position."""

    position: Position


class Acknowledger:
    """The acknowledger of one subtask of a source in one attempt of its job."""

    def __init__(self) -> None:
        self.snapshots: dict[int, tuple[Position, ...]] = {}
        self.acknowledged: dict[int, int] = {}

    def step(self, event: AcknowledgerEvent) -> list[Acknowledge]:
        """Take one event and return its effects."""
        match event:
            case Restored() | RecordsRead():
                return []
            case SnapshotTaken(checkpoint, positions):
                self.snapshots[checkpoint] = positions
                return []
            case CheckpointCompleted(checkpoint):
                return self._complete(checkpoint)
            case CheckpointAborted(checkpoint):
                self.snapshots.pop(checkpoint, None)
                return []
            case _:
                assert_never(event)

    def _complete(self, checkpoint: int) -> list[Acknowledge]:
        positions = self.snapshots.get(checkpoint, ())
        self.snapshots = {n: kept for n, kept in self.snapshots.items() if n > checkpoint}
        return self._acknowledge(positions)

    def _acknowledge(self, positions: tuple[Position, ...]) -> list[Acknowledge]:
        """Acknowledge positions that are new, since notifications need not come in order."""
        new = [one for one in positions if one.records > self.acknowledged.get(one.split, 0)]
        self.acknowledged |= {one.split: one.records for one in new}
        return [Acknowledge(one) for one in new]
