"""The global committer: collects what parallel writers pre-commit, and commits it in one step.

Each writer sends a summary for each checkpoint, with the number of its committables, then these.
The summary is sent even if it counts none.  A checkpoint is whole when all of its writers have sent
their summaries and everything that these count.  Then it is persisted and acknowledged, in this
order, and writers drop what they kept.  When it is complete, it is committed, the oldest first.

Promised: a completed checkpoint has all of its committables in one commit.  No commit has records
that a restart writes again.  A whole checkpoint without any committable is persisted as well, since
restarted writers rewind to its row.  Without the row, a writer that dropped an acknowledged
checkpoint and one that did not would send different checkpoints.  None would get whole any more.
A checkpoint that fails is never whole.  Its committables count for the next one, since the messages
of one writer keep their order.

Not promised: that a commit takes place once.  A restart repeats a commit without a known end, and
the table skips the committables that it has.

Source: RisingWave, coordinator of an exactly-once sink (pull requests 19771 and 26498: persist,
then acknowledge, also an empty epoch).  Apache Flink 2.0, CommittableCollector and
GlobalCommitterOperator (summaries with counts, FLINK-36368: per upstream subtask, FLINK-37747: a
checkpoint has its own number of subtasks).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from ckptsim.models.committer import events
from ckptsim.models.core import ProtocolError


@dataclass(slots=True)
class Part:
    """The committables of one writer for one checkpoint, with no count before its summary."""

    count: int | None = None
    names: dict[str, None] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether everything has come."""
        return self.count is not None and len(self.names) >= self.count


@dataclass(slots=True)
class Collected:
    """The committables for one checkpoint by writer, before the first summary without a number."""

    writers: int | None = None
    parts: dict[int, Part] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether everything of all writers has come."""
        whole = [part for part in self.parts.values() if part.is_whole]
        return len(whole) == self.writers

    @property
    def names(self) -> list[str]:
        """The committables, by writer."""
        return [name for _, part in sorted(self.parts.items()) for name in part.names]


class GlobalCommitter:
    """The global committer of one sink in one attempt of its job, with so many writers."""

    def __init__(self, writers: int) -> None:
        self.writers = writers
        self.collected: dict[int, Collected] = {}
        self.rows: dict[int, tuple[str, ...]] = {}  # persisted, and not committed
        self.persisted = 0  # the newest checkpoint that is
        self.completed = 0
        self._aborted: set[int] = set()
        self._committing: int | None = None
        self._kept: list[int] = []  # rows of commits that have ended

    def step(self, event: events.CommitterEvent) -> list[events.CommitterEffect]:
        """Take one event and return its effects."""
        match event:
            case events.Recovered(checkpoint, rows):
                return [*self._recover(checkpoint or 0, rows), *self._commit()]
            case events.WriterReady(writer):
                return [events.RewindTo(writer, self.persisted)]
            case events.SummaryArrived(checkpoint, writer, writers, count):
                self._part(checkpoint, writer).count = count
                self.collected[checkpoint].writers = writers
            case events.CommittableArrived(checkpoint, writer, name):
                self._part(checkpoint, writer).names[name] = None
            case events.SnapshotTaken():
                return []  # writers keep the rest
            case events.CheckpointCompleted(checkpoint):
                self.completed = max(self.completed, checkpoint)
            case events.CheckpointAborted(checkpoint):
                self._aborted.add(checkpoint)
            case events.CommitDone(checkpoint):
                return [*self._done(checkpoint), *self._commit()]
            case _:
                assert_never(event)
        return [*self._collect(), *self._commit()]

    def _recover(
        self, checkpoint: int, rows: tuple[events.Row, ...]
    ) -> list[events.CommitterEffect]:
        """Take rows over, and forget rows of checkpoints after the restored one."""
        self.completed = checkpoint
        for row in rows:
            if row.checkpoint > checkpoint:
                continue
            self.persisted = max(self.persisted, row.checkpoint)
            if row.committed:
                self._kept.append(row.checkpoint)
            else:
                self.rows[row.checkpoint] = row.committables
        return [events.Forget(row.checkpoint) for row in rows if row.checkpoint > checkpoint]

    def _part(self, checkpoint: int, writer: int) -> Part:
        return self.collected.setdefault(checkpoint, Collected()).parts.setdefault(writer, Part())

    def _collect(self) -> list[events.CommitterEffect]:
        """Persist and acknowledge whole checkpoints, the oldest first, with failed ones before."""
        found: list[events.CommitterEffect] = []
        for checkpoint in sorted(self.collected):
            if checkpoint in self._aborted:
                continue
            if not self.collected[checkpoint].is_whole:
                break
            found += self._whole(checkpoint)
        return found

    def _whole(self, checkpoint: int) -> list[events.CommitterEffect]:
        covered = [number for number in sorted(self.collected) if number <= checkpoint]
        names = tuple(name for number in covered for name in self.collected.pop(number).names)
        self.rows[checkpoint] = names
        self.persisted = checkpoint
        return [events.Persist(checkpoint, names), events.Acknowledge(checkpoint)]

    def _commit(self) -> list[events.CommitterEffect]:
        """Commit the oldest row, if a checkpoint that covers it is complete."""
        oldest = min(self.rows, default=None)
        if self._committing is not None or oldest is None or oldest > self.completed:
            return []
        self._committing = oldest
        return [events.Commit(oldest, self.rows[oldest])]

    def _done(self, checkpoint: int) -> list[events.CommitterEffect]:
        """Keep the row of this commit alone: it is the point that writers rewind to."""
        if checkpoint != self._committing:
            raise ProtocolError("not_committing", state=str(self._committing))
        self._committing = None
        del self.rows[checkpoint]
        kept, self._kept = self._kept, [checkpoint]
        return [events.Forget(number) for number in kept]
