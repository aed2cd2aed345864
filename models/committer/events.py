"""Events that a global committer takes, and effects that it asks of its host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


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
