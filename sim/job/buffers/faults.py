"""The fault plan of a dataflow job, asked by the world at the places where faults can strike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ckptsim.scenarios.dataflow_faults import DataflowFault
from ckptsim.scenarios.job_faults import StallTask

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.task import Task


class FaultPlan:
    """All faults of a scenario; stalls are scheduled, the others asked for."""

    def __init__(self, faults: Iterable[DataflowFault] = ()) -> None:
        self.stalls: list[StallTask] = []
        self._at: dict[tuple[type, str, int, int], DataflowFault] = {}
        for fault in faults:
            if isinstance(fault, StallTask):
                self.stalls.append(fault)
            else:
                key = (type(fault), fault.vertex, fault.subtask, fault.checkpoint)
                self._at.setdefault(key, fault)

    def __len__(self) -> int:
        """Count the faults."""
        return len(self.stalls) + len(self._at)

    def strikes(self, kind: type[DataflowFault], task: Task, checkpoint: int) -> bool:
        """Say whether a fault of this kind befalls a task's part in a checkpoint."""
        return (kind, task.name, task.subtask, checkpoint) in self._at

    def delay_ns(self, kind: type[DataflowFault], task: Task, checkpoint: int) -> int:
        """Return by how much something comes late, in ns."""
        fault = self._at.get((kind, task.name, task.subtask, checkpoint))
        delay_ns: int = getattr(fault, "delay_ns", 0)
        return delay_ns

    @property
    def longest_ns(self) -> int:
        """Return all delays and stalls, added up."""
        delays = [getattr(fault, "delay_ns", 0) for fault in self._at.values()]
        return sum(delays) + sum(fault.lasts_ns for fault in self.stalls)


NO_FAULTS = FaultPlan()
