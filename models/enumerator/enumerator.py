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
FLINK-21996 and FLINK-23233: a checkpoint waits for the acknowledgements of events before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from ckptsim.models.enumerator import events


class SplitEnumerator:
    """The enumerator of one source in one attempt of its job, with so many readers."""

    def __init__(self, readers: int) -> None:
        self.readers = readers
        self.splits: list[int] = []  # that no reader has
        self.on_their_way: dict[int, int] = {}  # split -> reader
        self.waiting: dict[int, None] = {}  # readers without an answer
        self.due: list[int] = []  # checkpoints that wait for splits on their way
        self.closed: dict[int, set[int]] = {reader: set() for reader in range(readers)}

    def step(self, event: events.EnumeratorEvent) -> list[events.EnumeratorEffect]:
        """Take one event and return its effects."""
        match event:
            case events.Restored(splits):
                self.splits = list(splits)
            case events.SplitRequested(reader):
                self.waiting[reader] = None
            case events.CheckpointRequested(checkpoint):
                self.due.append(checkpoint)
            case events.TriggersSent():
                return []  # they may arrive after a split that is sent later
            case events.ReaderSnapshotTaken(reader, checkpoint):
                self._open([reader], checkpoint)
            case events.SplitDelivered(_, split):
                self.on_their_way.pop(split, None)
            case events.SplitLost(reader):
                return [events.FailReader(reader)]
            case events.CheckpointAborted(checkpoint):
                self.due = [number for number in self.due if number != checkpoint]
                self._open(self.closed, checkpoint)
            case _:
                assert_never(event)
        return [*self._keep(), *self._assign()]

    def _open(self, readers: Iterable[int], checkpoint: int) -> None:
        for reader in readers:
            self.closed[reader].discard(checkpoint)

    def _keep(self) -> list[events.EnumeratorEffect]:
        """Keep the state for checkpoints, once no split is on its way."""
        if self.on_their_way:
            return []
        due, self.due = self.due, []
        for numbers in self.closed.values():
            numbers.update(due)
        return [events.KeepState(number, tuple(self.splits)) for number in due]

    def _assign(self) -> list[events.EnumeratorEffect]:
        """Answer readers whose gateways are open, unless a checkpoint is due."""
        found: list[events.EnumeratorEffect] = []
        for reader in [] if self.due else list(self.waiting):
            if self.closed[reader]:
                continue
            del self.waiting[reader]
            if self.splits:
                split = self.splits.pop(0)
                self.on_their_way[split] = reader
                found.append(events.AssignSplit(reader, split))
            else:
                found.append(events.NoMoreSplits(reader))
        return found
