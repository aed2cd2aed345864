"""Faults of a composed pipeline: the ones of its sync and its job, and the ones of its store.

Source, sockets, sends and crashes are the sync's (`scenarios/sync_faults`), tasks and checkpoints
the job's (`scenarios/job/faults`).  Here are the ones of the store.  Commits and attempts count
from 1 over the whole run. A fault that a run never reaches is without effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from ckptsim.scenarios import sync
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import Planned, choice, count, duration_ns, kinds_of, number
from ckptsim.scenarios.job import faults as job_faults

_OCCURRENCES = 100_000


class Lost(StrEnum):
    """What of the durable state of the store is gone."""

    DATA = "data"
    CHECKPOINT = "checkpoint"
    BOTH = "both"


class _Sink(Protocol):
    @property
    def parallelism(self) -> int: ...


class _Pipeline(Protocol):
    """What a fault needs to know of a pipeline."""

    @property
    def sink(self) -> _Sink: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashInCommit(Planned):
    """The destination dies within a commit: after the first of its two durable steps.

    Where data and checkpoint are one step it dies before that step is whole.
    """

    commit: int = count(1, minimum=1, maximum=_OCCURRENCES, says="in which commit, from 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseCommits(Planned):
    """The store refuses commits in a row, from one on. Each is tried again."""

    commit: int = count(1, minimum=1, maximum=_OCCURRENCES, says="first that is refused, from 1")
    commits: int = count(1, minimum=1, maximum=1000, says="how many in a row")
    subtask: int | None = count(
        None, maximum=63, optional=True, says="subtask of the sink, or absent for all"
    )

    def problems_in(self, model: _Pipeline) -> list[Problem]:
        """Return what does not fit the pipeline."""
        return [] if self.subtask is None else _problems_of(self.subtask, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowStore(Planned):
    """Durable steps that begin within a window take several times as long."""

    at_ns: int = duration_ns("1 ms", says="when the window begins")
    duration_ns: int = duration_ns("50 ms", says="how long it lasts")
    factor: float = number(10.0, minimum=1.0, maximum=1e6, says="how many times as long")


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayReport(Planned):
    """The report of a commit comes late, so that commits are reported out of order."""

    commit: int = count(
        1, minimum=1, maximum=_OCCURRENCES, says="number of the commit to report, from 1"
    )
    delay_ns: int = duration_ns("20 ms", says="how much later")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseStore(Planned):
    """Durable state of the store is gone when an attempt begins.

    Co-located, data and checkpoint go together. The offsets of a consumer group are elsewhere, so
    that losing them represents their expiry.
    """

    attempt: int = count(2, minimum=2, maximum=1000, says="number of the attempt")
    what: Lost = choice("data", Lost, says="the lost part")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCommit(Planned):
    """Another party overwrites the checkpoint of a sink subtask when an attempt begins."""

    attempt: int = count(2, minimum=2, maximum=1000, says="number of the attempt")
    subtask: int = count(0, maximum=63, says="index of the sink's subtask")
    ahead: int = count(10, minimum=1, maximum=1_000_000, says="by how many checkpoints too far")

    def problems_in(self, model: _Pipeline) -> list[Problem]:
        """Return what does not fit the pipeline."""
        return _problems_of(self.subtask, model)


def _problems_of(subtask: int, model: _Pipeline) -> list[Problem]:
    parallelism = model.sink.parallelism
    if subtask < parallelism:
        return []
    return [Problem("subtask", str(subtask), f"less than the parallelism {parallelism}")]


StoreFault: TypeAlias = (
    CrashInCommit | RefuseCommits | SlowStore | DelayReport | LoseStore | ForeignCommit
)
ComposedFault: TypeAlias = sync.SyncFault | job_faults.JobFault | StoreFault

SYNC_KINDS: dict[str, type] = {
    "crash_at": sync.CrashAt,
    "crash_point": sync.CrashPoint,
    "socket_stall": sync.SocketStall,
    "fail_send": sync.FailSend,
    "slow_send": sync.SlowSend,
    "state_flood": sync.StateFlood,
    "reader_failure": sync.ReaderFailure,
}
JOB_KINDS: dict[str, type] = {
    "crash_task": job_faults.CrashTask,
    "crash_at_checkpoint": job_faults.CrashAtCheckpoint,
    "fail_snapshot": job_faults.FailSnapshot,
    "delay_acknowledgement": job_faults.DelayAcknowledgement,
    "lose_notification": job_faults.LoseNotification,
    "delay_notification": job_faults.DelayNotification,
    "delay_trigger": job_faults.DelayTrigger,
    "stall_task": job_faults.StallTask,
}
STORE_KINDS: dict[str, type] = kinds_of(StoreFault)
COMPOSED_FAULTS: dict[str, type] = SYNC_KINDS | JOB_KINDS | STORE_KINDS
