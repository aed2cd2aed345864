"""Where subtasks run: which task manager each one is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job import PlacementKind

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.task import Task


class Placement:
    """Maps tasks to task managers.

    Remote: every subtask has its own; local: one for all; mixed: subtasks of equal index share one.
    """

    def __init__(self, kind: PlacementKind) -> None:
        self._kind = kind

    def task_manager(self, task: Task) -> int:
        """Return the number of a task's task manager."""
        if self._kind is PlacementKind.LOCAL:
            return 0
        if self._kind is PlacementKind.MIXED:
            return task.subtask
        return task.number
