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
from typing import TypeAlias, assert_never

from ckptsim.models.core import ProtocolError


@dataclass(frozen=True, slots=True)
class Row:
    """What the committer persists of one checkpoint.

    committed: its commit has ended.
    """

    checkpoint: int
    committables: tuple[str, ...]
    committed: bool = False


@dataclass(frozen=True, slots=True)
class Recovered:
    """The job starts, or restarts from a checkpoint.

    rows: all that were persisted, oldest first.  A row of a newer checkpoint holds files of records
    that are written again.
    """

    checkpoint: int | None
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class WriterReady:
    """A writer asks from where on it sends again, which RewindTo answers."""

    writer: int


@dataclass(frozen=True, slots=True)
class SummaryArrived:
    """A writer has pre-committed for a checkpoint.

    writers: how many do so for it, by the parallelism of then.  count: how many committables this
    one sends, which may be none.  Messages of one writer keep their order.
    """

    checkpoint: int
    writer: int
    writers: int
    count: int


@dataclass(frozen=True, slots=True)
class CommittableArrived:
    """A committable of a writer, such as a file, for a checkpoint."""

    checkpoint: int
    writer: int
    name: str


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """The barriers of all writers have passed, which can overtake committables."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CheckpointCompleted:
    """A checkpoint of the job is complete."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CheckpointAborted:
    """A checkpoint has failed: some writers may have pre-committed for it, and others never do.

    The next checkpoint covers what they have sent.
    """

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CommitDone:
    """The table has the commit of a checkpoint, and its row is marked as committed."""

    checkpoint: int


CommitterEvent: TypeAlias = (
    Recovered
    | WriterReady
    | SummaryArrived
    | CommittableArrived
    | SnapshotTaken
    | CheckpointCompleted
    | CheckpointAborted
    | CommitDone
)


@dataclass(frozen=True, slots=True)
class Persist:
    """Write the row of a checkpoint in place of an older one, for a restart to recover."""

    checkpoint: int
    committables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forget:
    """Delete the row of a checkpoint."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Let writers drop what they keep of this and older checkpoints: they never send it again."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class RewindTo:
    """Let a writer send again what it keeps of checkpoints after this one."""

    writer: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class Commit:
    """Commit to the table at once, all or nothing, which CommitDone answers.

    A committable that is in the table already is skipped.
    """

    checkpoint: int
    committables: tuple[str, ...]


CommitterEffect: TypeAlias = Persist | Forget | Acknowledge | RewindTo | Commit


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

    def step(self, event: CommitterEvent) -> list[CommitterEffect]:
        """Take one event and return its effects."""
        match event:
            case Recovered(checkpoint, rows):
                return [*self._recover(checkpoint or 0, rows), *self._commit()]
            case WriterReady(writer):
                return [RewindTo(writer, self.persisted)]
            case SummaryArrived(checkpoint, writer, writers, count):
                self._part(checkpoint, writer).count = count
                self.collected[checkpoint].writers = writers
            case CommittableArrived(checkpoint, writer, name):
                self._part(checkpoint, writer).names[name] = None
            case SnapshotTaken():
                return []  # writers keep the rest
            case CheckpointCompleted(checkpoint):
                self.completed = max(self.completed, checkpoint)
            case CheckpointAborted(checkpoint):
                self._aborted.add(checkpoint)
            case CommitDone(checkpoint):
                return [*self._done(checkpoint), *self._commit()]
            case _:
                assert_never(event)
        return [*self._collect(), *self._commit()]

    def _recover(self, checkpoint: int, rows: tuple[Row, ...]) -> list[CommitterEffect]:
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
        return [Forget(row.checkpoint) for row in rows if row.checkpoint > checkpoint]

    def _part(self, checkpoint: int, writer: int) -> Part:
        return self.collected.setdefault(checkpoint, Collected()).parts.setdefault(writer, Part())

    def _collect(self) -> list[CommitterEffect]:
        """Persist and acknowledge whole checkpoints, the oldest first, with failed ones before."""
        found: list[CommitterEffect] = []
        for checkpoint in sorted(self.collected):
            if checkpoint in self._aborted:
                continue
            if not self.collected[checkpoint].is_whole:
                break
            found += self._whole(checkpoint)
        return found

    def _whole(self, checkpoint: int) -> list[CommitterEffect]:
        covered = [number for number in sorted(self.collected) if number <= checkpoint]
        names = tuple(name for number in covered for name in self.collected.pop(number).names)
        self.rows[checkpoint] = names
        self.persisted = checkpoint
        return [Persist(checkpoint, names), Acknowledge(checkpoint)]

    def _commit(self) -> list[CommitterEffect]:
        """Commit the oldest row, if a checkpoint that covers it is complete."""
        oldest = min(self.rows, default=None)
        if self._committing is not None or oldest is None or oldest > self.completed:
            return []
        self._committing = oldest
        return [Commit(oldest, self.rows[oldest])]

    def _done(self, checkpoint: int) -> list[CommitterEffect]:
        """Keep the row of this commit alone: it is the point that writers rewind to."""
        if checkpoint != self._committing:
            raise ProtocolError("not_committing", state=str(self._committing))
        self._committing = None
        del self.rows[checkpoint]
        kept, self._kept = self._kept, [checkpoint]
        return [Forget(number) for number in kept]
