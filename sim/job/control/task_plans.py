"""What the coordinator of a job has to know of its tasks, made anew when they are rescaled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.sim.job.control.planning import PlanCalculator

if TYPE_CHECKING:
    from ckptsim.models.coordinator import EndOfDataListener
    from ckptsim.scenarios.job import Mode
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.control.coordinator import CoordinatorHost
    from ckptsim.sim.job.port import DataPlane
    from ckptsim.sim.job.settings import JobSettings


class TaskPlans:
    """Makes the plans of checkpoints, and what counts tasks at the end of their data.

    finished_on_restore: whether a vertex was deployed as finished.
    """

    def __init__(
        self,
        plane: DataPlane,
        finished_on_restore: Callable[[str], bool],
        listener: Callable[..., EndOfDataListener],
        settings: JobSettings,
    ) -> None:
        self._plane = plane
        self._finished_on_restore = finished_on_restore
        self._make_listener = listener
        self._settings = settings
        self._rescaled = False

    def planning(self) -> PlanCalculator:
        """Return what plans checkpoints of the tasks that there are."""
        plane = self._plane
        return PlanCalculator(
            plane.graph.vertices,
            plane.graph.plan_edges,
            self._finished_on_restore,
            after_finish=self._settings.after_finish,
        )

    def listener(self) -> EndOfDataListener:
        """Return what counts the tasks that have reached the end of their data."""
        enabled = self._settings.coordinator.final_at_once
        return self._make_listener(len(self._plane.graph.tasks), enabled=enabled)

    def rescale(self, vertex: str, parallelism: int, latest: JobCheckpoint | None) -> bool:
        """Give a vertex another parallelism from the next attempt on, unless it is refused.

        latest: the checkpoint that the attempt begins from.
        """
        if not self._plane.may_rescale(vertex, parallelism, latest):
            return False
        self._plane.changes.rescale(vertex, parallelism)
        self._rescaled = True
        return True

    def resume(self, mode: Mode) -> None:
        """Let checkpoints treat what is in flight in another way from the next attempt on."""
        self._plane.changes.resume(mode)

    def deployed(self, coordinator: CoordinatorHost) -> None:
        """Let a coordinator know of the tasks of the next attempt, if they are others."""
        if self._rescaled:
            self._rescaled = False
            coordinator.rescaled(self.planning(), self.listener())
