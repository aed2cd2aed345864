"""The parallelisms of one job over its attempts, and what follows from a change of them.

A rescale is asked for while an attempt runs and holds from the next one on, whatever that begins
from. So an attempt may take up a checkpoint of the parallelism before, more than once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.output import Selectivity
from ckptsim.sim.job.buffers.restoring.rescale import Rescaled, rescaled
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.parallelism import Changes, is_rescaled, with_parallelism

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.world import JobWorld

Place = tuple[str, int]


class Rescales:
    """Keeps a job's graph, and counts what a rescale does to numbers of records.

    model, graph: of the attempt.  owed: per vertex, how many more records are sent to it than its
    senders' numbers of today say: a broadcast to other numbers of subtasks, or state that was
    copied.  copied: how many of them are copies of state alone, which no one has sent or written.
    changes: what the user has asked for.
    """

    def __init__(self, model: Job) -> None:
        self.model = model
        self.graph = self._origin = Graph(model)
        self.owed: dict[str, int] = {}
        self.copied: dict[str, int] = {}
        self._known: dict[int, tuple[dict[str, int], dict[str, int]]] = {}  # both, by attempt
        self.changes = Changes()
        self._final: dict[tuple[Place, int], int] = {}

    def apply(self) -> tuple[Job, Graph]:
        """Let the request for hold. Return the job and its graph from now on."""
        model = self.changes.apply(self.model)
        if model is not self.model:
            self.model, self.graph = model, Graph(model, self._origin)
        return self.model, self.graph

    # Tasks that have finished -----------------------------------------------------------------

    def finished(self, place: Place, processed: int) -> None:
        """Note what a task had processed that has finished: no checkpoint holds it any more."""
        self._final[place, self.graph.vertex(place[0]).parallelism] = processed

    def final(self, place: Place) -> int | None:
        """Return what a task has processed that has finished at today's parallelism."""
        return self._final.get((place, self.graph.vertex(place[0]).parallelism))

    # Restores ---------------------------------------------------------------------------------

    def taken_over(self, restored: JobCheckpoint | None) -> Rescaled | None:
        """Return how today's tasks take a checkpoint up. None where they are those it has."""
        if restored is None or not is_rescaled(self.graph, restored):
            return None
        found = rescaled(
            restored, self._graph_of(restored), self.graph, finished=self._finals_of(restored)
        )
        for (name, subtask), processed in found.processed.items():
            self.finished((name, subtask), processed)
        return found

    def _graph_of(self, restored: JobCheckpoint) -> Graph:
        counts = {name: len(numbers) for name, numbers in restored.subtasks.items()}
        return Graph(with_parallelism(self.model, counts), self._origin)

    def _finals_of(self, restored: JobCheckpoint) -> dict[Place, int]:
        """Return what tasks had processed that had finished before a checkpoint."""
        found = {}
        for ((name, subtask), among), processed in self._final.items():
            numbers = restored.subtasks[name]
            if among == len(numbers) and restored.holds_end_of(name, numbers[subtask]):
                found[name, subtask] = processed
        return found

    def begun(
        self, control: JobWorld, tasks: Sequence[Task], restored: JobCheckpoint | None
    ) -> None:
        """Compute the owed records of the attempt that begins."""
        record = None
        if restored is not None:
            record = control.coordinator.records.get(restored.checkpoint_id)
        owed, copied = ({}, {}) if record is None else self._known.get(record.attempt, ({}, {}))
        self.owed, self.copied = dict(owed), dict(copied)
        if restored is not None and is_rescaled(self.graph, restored):
            old = self._graph_of(restored)
            now = _sent(self.graph, {task.place: task.processed for task in tasks})
            for name, sent in _sent(old, self._processed(restored)).items():
                held = sent + owed.get(name, 0)
                kept = _kept(old, self.graph, name, held)
                self.owed[name] = kept - now[name]
                self.copied[name] = copied.get(name, 0) + kept - held
        self._known[control.attempts] = (self.owed, self.copied)

    def _processed(self, restored: JobCheckpoint) -> dict[Place, int]:
        found = self._finals_of(restored)
        for name, numbers in restored.subtasks.items():
            for subtask, number in enumerate(numbers):
                if number in restored.tasks:
                    found[name, subtask] = restored.tasks[number].processed
        return found


def _sent(graph: Graph, processed: Mapping[Place, int]) -> dict[str, int]:
    """Return the sent data to each vertex by tasks that have processed so many records."""
    found = dict.fromkeys((vertex.name for vertex in graph.vertices), 0)
    for edge in graph.edges:
        emitted = Selectivity(graph.vertex(edge.upstream).selectivity).emitted
        counts = [count for (name, _), count in processed.items() if name == edge.upstream]
        found[edge.downstream] += graph.copies(edge) * sum(emitted(count) for count in counts)
    return found


def _kept(old: Graph, new: Graph, name: str, sent: int) -> int:
    """Return what a vertex has of the sent data to it, also where its state was copied."""
    if not new.vertex(name).broadcast_state:
        return sent
    return sent * new.vertex(name).parallelism // old.vertex(name).parallelism
