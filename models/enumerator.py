"""The split enumerator: an operator coordinator with the gateways to its readers.

A reader without work requests a split.  Splits that no reader has are the enumerator's state.  A
checkpoint takes this state first, then it triggers the readers.  Events between the two would be on
both sides of the checkpoint, or on neither.

Promised: a checkpoint has each unread split once, with the enumerator or with one reader.  The
enumerator keeps no state while a split is on its way.  It sends no split to a reader between its
state and the snapshot of this reader.  A split that is lost fails its reader, and so the checkpoint
that waits for it.

Source: Apache Flink 1.20.3, OperatorCoordinatorHolder and SubtaskGatewayImpl.  FLINK-16986: events
are held from the coordinator's checkpoint on.  FLINK-28606: until the subtask has its snapshot.
FLINK-21996 and FLINK-23233: a checkpoint waits for the acknowledgements of events before it, also
for those that an earlier checkpoint still holds back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, assert_never


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


class SplitEnumerator:
    """The enumerator of one source in one attempt of its job, with so many readers."""

    def __init__(self, readers: int) -> None:
        self.readers = readers
        self.splits: list[int] = []  # that no reader has
        self.on_their_way: dict[int, int] = {}  # split -> reader
        self.waiting: dict[int, None] = {}  # readers without an answer
        self.due: list[int] = []  # checkpoints that wait for splits on their way
        self.owed: set[int] = set()  # readers that asked before those, their gateways closed
        self.closed: dict[int, set[int]] = {reader: set() for reader in range(readers)}

    def step(self, event: EnumeratorEvent) -> list[EnumeratorEffect]:
        """Take one event and return its effects."""
        match event:
            case Restored(splits):
                self.splits = list(splits)
            case SplitRequested(reader):
                self.waiting[reader] = None
            case CheckpointRequested(checkpoint):
                self.due.append(checkpoint)
                self.owed.update(self.waiting)
            case TriggersSent():
                return []  # they may arrive after a split that is sent later
            case ReaderSnapshotTaken(reader, checkpoint):
                self._open([reader], checkpoint)
            case SplitDelivered(_, split):
                self.on_their_way.pop(split, None)
            case SplitLost(reader):
                return [FailReader(reader)]
            case CheckpointAborted(checkpoint):
                self.due = [number for number in self.due if number != checkpoint]
                if not self.due:
                    self.owed.clear()
                self._open(self.closed, checkpoint)
            case _:
                assert_never(event)
        return [*self._keep(), *self._assign(), *self._keep()]

    def _open(self, readers: Iterable[int], checkpoint: int) -> None:
        for reader in readers:
            self.closed[reader].discard(checkpoint)

    def _keep(self) -> list[EnumeratorEffect]:
        """Keep the state for checkpoints, once no split is on its way or held back."""
        if self.on_their_way or not self.owed.isdisjoint(self.waiting):
            return []
        due, self.due = self.due, []
        self.owed.clear()
        for numbers in self.closed.values():
            numbers.update(due)
        return [KeepState(number, tuple(self.splits)) for number in due]

    def _assign(self) -> list[EnumeratorEffect]:
        """Answer readers with open gateways, while a checkpoint is due only earlier requests."""
        found: list[EnumeratorEffect] = []
        for reader in list(self.waiting):
            if self.closed[reader] or (self.due and reader not in self.owed):
                continue
            self.owed.discard(reader)
            del self.waiting[reader]
            if self.splits:
                split = self.splits.pop(0)
                self.on_their_way[split] = reader
                found.append(AssignSplit(reader, split))
            else:
                found.append(NoMoreSplits(reader))
        return found
