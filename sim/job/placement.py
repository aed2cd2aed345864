"""Where subtasks run: which task manager each one is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job import PlacementKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.port import TaskGateway


class Placement:
    """Maps tasks to task managers.

    Remote: every subtask has its own; local: one for all; mixed: subtasks of equal index share one.
    """

    def __init__(self, kind: PlacementKind) -> None:
        self._kind = kind

    def task_manager(self, task: TaskGateway) -> int:
        """Return the number of a task's task manager."""
        if self._kind is PlacementKind.LOCAL:
            return 0
        if self._kind is PlacementKind.MIXED:
            return task.place[1]
        return task.number

    def colocated(self, task: TaskGateway, tasks: Sequence[TaskGateway]) -> list[int]:
        """Return the numbers of the tasks on the task manager of a task, itself among them."""
        here = self.task_manager(task)
        return [other.number for other in tasks if self.task_manager(other) == here]
