"""The fault plan of a job, asked at the places where faults can strike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ckptsim.scenarios.job.faults import AtCheckpoint, CrashTask, JobFault, StallTask


class Subtask(Protocol):
    """A subtask that a fault can strike."""

    @property
    def place(self) -> tuple[str, int]:
        """Return its vertex and its index there."""
        ...


class FaultPlan:
    """All faults of a scenario.

    crashes, stalls: those at an instant; they are entered into the calendar.  The others are asked
    for, at a checkpoint: of several alike the first counts.
    """

    def __init__(self, faults: Iterable[JobFault] = ()) -> None:
        self._faults = tuple(faults)
        self._struck: set[tuple[type, str, int, int]] = set()
        self._at: dict[tuple[type, str, int, int], AtCheckpoint] = {}
        for fault in self._faults:
            if isinstance(fault, AtCheckpoint):
                key = (type(fault), fault.vertex, fault.subtask, fault.checkpoint)
                self._at.setdefault(key, fault)

    def __len__(self) -> int:
        """Count the faults."""
        return len(self._faults)

    @property
    def crashes(self) -> list[CrashTask]:
        """Return the crashes at an instant."""
        return [fault for fault in self._faults if isinstance(fault, CrashTask)]

    @property
    def stalls(self) -> list[StallTask]:
        """Return the stalls."""
        return [fault for fault in self._faults if isinstance(fault, StallTask)]

    @property
    def longest_ns(self) -> int:
        """Return all delays and stalls, added up, in ns."""
        return self._sum("delay_ns", "lasts_ns")

    @property
    def latest_ns(self) -> int:
        """Return all instants at which something strikes, added up, in ns."""
        return self._sum("at_ns")

    def strikes(self, kind: type[AtCheckpoint], task: Subtask, checkpoint: int) -> bool:
        """Say whether a fault of this kind strikes a task's part in a checkpoint."""
        return (kind, *task.place, checkpoint) in self._at

    def strikes_once(self, kind: type[AtCheckpoint], task: Subtask, checkpoint: int) -> bool:
        """Say whether such a fault strikes, the first time that it is asked for."""
        key = (kind, *task.place, checkpoint)
        if key not in self._at or key in self._struck:
            return False
        self._struck.add(key)
        return True

    def delay_ns(self, kind: type[AtCheckpoint], task: Subtask, checkpoint: int) -> int:
        """Return by how much something comes late, in ns."""
        return self.delayed_ns(kind, task, checkpoint) or 0

    def delayed_ns(self, kind: type[AtCheckpoint], task: Subtask, checkpoint: int) -> int | None:
        """Return by how much something comes late, in ns, None where no such fault strikes."""
        fault = self._at.get((kind, *task.place, checkpoint))
        delay_ns: int | None = getattr(fault, "delay_ns", None)
        return delay_ns

    def _sum(self, *fields: str) -> int:
        return sum(getattr(fault, field, 0) for fault in self._faults for field in fields)


NO_FAULTS = FaultPlan()
