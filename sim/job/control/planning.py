"""Plans of checkpoints from what the job manager knows and has on record of the tasks.

Source: Apache Flink 1.20.3, DefaultCheckpointPlanCalculator and DefaultCheckpointPlan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ckptsim.models.coordinator.plan import (
    Edge,
    FinishedState,
    Plan,
    Rejected,
    Vertex,
    finalize,
    plan_checkpoint,
)

if TYPE_CHECKING:
    from ckptsim.models.coordinator import EndOfDataListener
    from ckptsim.scenarios.job import Mode
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.job.control.coordinator import CoordinatorHost
    from ckptsim.sim.job.port import DataPlane
    from ckptsim.sim.job.settings import JobSettings


class PlannedVertex(Protocol):
    """What a plan needs to know of a vertex."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def parallelism(self) -> int:
        """Return how many subtasks it has."""

    @property
    def union_state(self) -> bool:
        """Return whether it uses union list state, which is redistributed whole."""


class PlanCalculator:
    """Plans checkpoints of one job and decides what a completed one records.

    finished: the tasks that are known to have FINISHED, by number. finished_on_restore: whether a
    vertex was deployed as finished.  after_finish: checkpoints continue when tasks have finished.
    """

    def __init__(
        self,
        vertices: Sequence[PlannedVertex],
        edges: Sequence[Edge],
        finished_on_restore: Callable[[str], bool],
        *,
        after_finish: bool,
    ) -> None:
        self.finished: set[int] = set()
        self._vertices = vertices
        self._edges = edges
        self._finished_on_restore = finished_on_restore
        self._after_finish = after_finish
        self._first: dict[str, int] = {}
        self._names: list[str] = []
        for vertex in vertices:
            self._first[vertex.name] = len(self._names)
            self._names += [vertex.name] * vertex.parallelism

    @property
    def task_count(self) -> int:
        """How many tasks the job has."""
        return len(self._names)

    @property
    def subtasks(self) -> dict[str, range]:
        """The numbers of each vertex's tasks."""
        first = self._first
        return {
            vertex.name: range(first[vertex.name], first[vertex.name] + vertex.parallelism)
            for vertex in self._vertices
        }

    def numbers(self, tasks: Sequence[tuple[str, int]]) -> tuple[int, ...]:
        """Return the numbers of tasks that a plan names."""
        return tuple(self._first[name] + subtask for name, subtask in tasks)

    def vertex_of(self, number: int) -> str:
        """Return the name of a task's vertex."""
        return self._names[number]

    def plan(self) -> Plan | Rejected:
        """Plan a checkpoint from the current records."""
        on_record = [self._vertex(vertex, self.finished, frozenset()) for vertex in self._vertices]
        return plan_checkpoint(on_record, self._edges, checkpoints_after_finish=self._after_finish)

    def finalize(self, record: CheckpointRecord) -> dict[str, FinishedState] | Rejected:
        """Decide what a checkpoint records of each vertex, from its plan and its reports."""
        finished = set(self.numbers(record.plan.finished))
        reported = record.operators_finished
        return finalize([self._vertex(vertex, finished, reported) for vertex in self._vertices])

    def _vertex(
        self, vertex: PlannedVertex, finished: set[int], reported: set[int] | frozenset[int]
    ) -> Vertex:
        first = self._first[vertex.name]
        tasks = range(first, first + vertex.parallelism)
        return Vertex(
            name=vertex.name,
            parallelism=vertex.parallelism,
            finished=frozenset(task - first for task in tasks if task in finished),
            union_state=vertex.union_state,
            reported_operators_finished=frozenset(t - first for t in tasks if t in reported),
            finished_on_restore=self._finished_on_restore(vertex.name),
        )


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
        """Change how checkpoints treat in-flight data from the next attempt on."""
        self._plane.changes.resume(mode)

    def deployed(self, coordinator: CoordinatorHost) -> None:
        """Let a coordinator know of the tasks of the next attempt, if they are others."""
        if self._rescaled:
            self._rescaled = False
            coordinator.rescaled(self.planning(), self.listener())
