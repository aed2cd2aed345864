"""Plans of checkpoints from what the job manager has on record of the tasks.

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
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord


class PlannedVertex(Protocol):
    """What a plan needs to know of a vertex."""

    @property
    def name(self) -> str:
        """Return its name."""
        ...

    @property
    def parallelism(self) -> int:
        """Return how many subtasks it has."""
        ...

    @property
    def union_state(self) -> bool:
        """Return whether it uses union list state, which is redistributed whole."""
        ...


class PlanCalculator:
    """Plans checkpoints of one job and decides what a completed one records.

    finished: the tasks that are known to have FINISHED, by number; finished_on_restore: whether a
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
        """Plan a checkpoint from what is on record now."""
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
