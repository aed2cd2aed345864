"""Events that a split enumerator takes, and effects that it asks of its host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Restored:
    """The job starts, or restarts from a checkpoint, with these splits to be assigned."""

    splits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SplitRequested:
    """A reader has nothing left to read."""

    reader: int


@dataclass(frozen=True, slots=True)
class CheckpointRequested:
    """A checkpoint begins, and no task is triggered before KeepState answers."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class TriggersSent:
    """The triggers of a checkpoint are on their way to the readers."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class ReaderSnapshotTaken:
    """A reader has taken its snapshot of a checkpoint."""

    reader: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class SplitDelivered:
    """A reader has acknowledged a split."""

    reader: int
    split: int


@dataclass(frozen=True, slots=True)
class SplitLost:
    """The call that was to bring a split to its reader has failed."""

    reader: int
    split: int


@dataclass(frozen=True, slots=True)
class CheckpointAborted:
    """A checkpoint has failed."""

    checkpoint: int


EnumeratorEvent: TypeAlias = (
    Restored
    | SplitRequested
    | CheckpointRequested
    | TriggersSent
    | ReaderSnapshotTaken
    | SplitDelivered
    | SplitLost
    | CheckpointAborted
)


@dataclass(frozen=True, slots=True)
class AssignSplit:
    """Send a split to a reader, which SplitDelivered or SplitLost answers."""

    reader: int
    split: int


@dataclass(frozen=True, slots=True)
class NoMoreSplits:
    """Let a reader end its data."""

    reader: int


@dataclass(frozen=True, slots=True)
class KeepState:
    """Put these splits, which no reader has, into a checkpoint, and trigger its tasks."""

    checkpoint: int
    splits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FailReader:
    """Fail a reader, so the job restarts from its latest checkpoint."""

    reader: int


EnumeratorEffect: TypeAlias = AssignSplit | NoMoreSplits | KeepState | FailReader
