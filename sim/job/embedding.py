"""What a job is handed that is part of something larger, as structural Protocols.

A job that runs alone makes its records itself, restarts by itself and commits in an external system
of its own.  Anyone who runs one inside something else hands in what takes the place of these.
Nothing of the job is derived from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ckptsim.sim.job.control.sinks.sink import SinkWriter
from ckptsim.sim.job.tables import Tabled

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.control.sinks.external import Transaction
    from ckptsim.sim.kernel import Wait


class SourceReader(Protocol):
    """What feeds one source subtask. It calls the task's `wake` when there is something to do.

    Source: Apache Flink 1.20.3, SourceReader (pollNext, isAvailable, notifyNoMoreSplits).
    """

    @property
    def exhausted(self) -> bool:
        """Whether nothing is queued and nothing comes any more."""

    @property
    def queued_count(self) -> int:
        """How many records can be taken now."""

    def take(self) -> int:
        """Take the next record, by its identity."""


class Committer(Protocol):
    """Makes the transactions of one sink subtask durable, which may take time.

    It calls `committed` once a transaction is durable.
    Source: Apache Flink 1.20.3, TwoPhaseCommitSinkFunction (commit, recoverAndCommit).
    """

    def commit(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        """Begin to commit a transaction of a completed checkpoint."""

    def recover(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        """Begin to commit what a restored state has pending, unless it was committed before."""


class JobOwner(Protocol):
    """Who runs a job as a part of something larger, and begins its attempts.

    It is notified of a failure in the place of a restart. It calls `JobWorld.interrupt` then or
    when anything else ends the attempt, and `JobWorld.redeploy` and `begin` for the next one.
    """

    def job_failed(self, cause: str) -> None:
        """End what runs: the job has failed."""

    def job_finished(self) -> None:
        """Note that every task has FINISHED."""

    def job_progressed(self) -> None:
        """Note that some task has done something."""

    def checkpoint_completed(self, checkpoint: JobCheckpoint) -> None:
        """Note that a checkpoint is complete."""

    def violate(self, name: str, says: str) -> None:
        """Report a property that does not hold."""


class EmbeddedPlane(Tabled, Protocol):
    """The data plane of a job as its owner sees it. Tasks by their numbers."""

    @property
    def sinks(self) -> Sequence[SinkWriter]:
        """Return the sinks of the attempt that were not deployed as finished."""

    @property
    def lost_state(self) -> frozenset[str]:
        """Return the vertices with incomplete state since a restore."""

    def begin_run(self) -> None:
        """Enter what happens at set instants into the calendar."""

    def end_run(self) -> None:
        """Take note that the run is over."""

    def catch_up(self) -> None:
        """Take in what tasks have done by now and has not been counted yet."""

    def records_of(self, number: int) -> Sequence[int]:
        """Return the records in the state of a task has."""

    def waits(self) -> Sequence[Wait]:
        """Return who waits for whom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """What takes the place of a job's own surroundings.

    reader: makes what feeds a source subtask of an attempt, from the index of the subtask and what
    wakes its task. None where sources make their records themselves.  committer: makes the one of a
    sink subtask of an attempt, from its index. None where the external system commits at once.
    sink: makes what a sink subtask writes through.  owner: None where the job restarts by itself.
    keepers: classes of the surroundings with calendar entries that outlive an attempt.
    """

    reader: Callable[[int, Callable[[], None]], SourceReader] | None = None
    committer: Callable[[int], Committer] | None = None
    sink: type[SinkWriter] = SinkWriter
    owner: JobOwner | None = None
    keepers: tuple[type, ...] = ()


ALONE = Embedding()
