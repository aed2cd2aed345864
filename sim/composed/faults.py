"""The fault plan of a composed pipeline, split by who has to ask for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import cast

from ckptsim.scenarios import composed as pipelines
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.scenarios.sync import SyncFault

_SYNC_TYPES = tuple(pipelines.SYNC_KINDS.values())
_JOB_TYPES = tuple(pipelines.JOB_KINDS.values())


def sync_faults(faults: Iterable[pipelines.ComposedFault]) -> tuple[SyncFault, ...]:
    """Return the faults of source, sockets and sends."""
    return tuple(cast("SyncFault", one) for one in faults if isinstance(one, _SYNC_TYPES))


def job_faults(faults: Iterable[pipelines.ComposedFault]) -> tuple[JobFault, ...]:
    """Return the faults of tasks and checkpoints."""
    return tuple(cast("JobFault", one) for one in faults if isinstance(one, _JOB_TYPES))


class StoreFaults:
    """The faults of the store. Each strikes once, or as often in a row as it says.

    struck: called whenever one has.
    """

    def __init__(
        self, faults: Iterable[pipelines.ComposedFault], struck: Callable[[], None]
    ) -> None:
        self._struck = struck
        every = list(faults)  # the ones of the sync and of the job are asked elsewhere
        self._crashes = [f.commit for f in every if isinstance(f, pipelines.CrashInCommit)]
        self._refusals = [f for f in every if isinstance(f, pipelines.RefuseCommits)]
        self._slow = [f for f in every if isinstance(f, pipelines.SlowStore)]
        self._losses = [f for f in every if isinstance(f, pipelines.LoseStore)]
        self._foreign = [f for f in every if isinstance(f, pipelines.ForeignCommit)]
        self._delays = Counter[int]()
        for fault in every:
            if isinstance(fault, pipelines.DelayReport):
                self._delays[fault.commit] += fault.delay_ns

    def crashes_in(self, commit: int) -> bool:
        """Return whether the destination dies within the n-th commit."""
        return commit in self._crashes

    def refuses(self, commit: int, subtask: int) -> bool:
        """Return whether the store refuses the n-th commit, which is a sink subtask's."""
        refused = any(
            f.commit <= commit < f.commit + f.commits and f.subtask in (None, subtask)
            for f in self._refusals
        )
        if refused:
            self._struck()
        return refused

    def step_ns(self, duration_ns: int, now: int) -> int:
        """Return how long a durable step takes that begins now."""
        factors = [f.factor for f in self._slow if f.at_ns <= now < f.at_ns + f.duration_ns]
        if not factors:
            return duration_ns
        self._struck()
        return round(duration_ns * max(factors))

    def report_delay_ns(self, commit: int) -> int:
        """Return by how much the report of the n-th commit is late."""
        delay_ns = self._delays[commit]
        if delay_ns:
            self._struck()
        return delay_ns

    def losses(self, attempt: int) -> list[pipelines.LoseStore]:
        """Return everything that is gone when the n-th attempt begins."""
        return [fault for fault in self._losses if fault.attempt == attempt]

    def foreign_commits(self, attempt: int) -> list[pipelines.ForeignCommit]:
        """Return what another party has committed when the n-th attempt begins."""
        return [fault for fault in self._foreign if fault.attempt == attempt]
