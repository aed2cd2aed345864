"""The job graph spelt out: subtasks, channels, who sends to whom and how often."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.coordinator.plan import Edge as PlanEdge
from ckptsim.models.coordinator.plan import Pattern, pointwise_senders
from ckptsim.scenarios.job import Job, Partitioner, Vertex, VertexKind


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One subtask: `index` counts through all subtasks in the order of the vertices."""

    index: int
    vertex: Vertex
    vertex_index: int
    subtask: int

    @property
    def place(self) -> tuple[str, int]:
        """Return its vertex and its index there."""
        return self.vertex.name, self.subtask

    @property
    def name(self) -> str:
        """Return `vertex/subtask`."""
        return f"{self.vertex.name}/{self.subtask}"


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """One channel: from a subtask to a subtask, over one edge.

    output: index among the sender's channels; input: index among the receiver's, over all gates.
    """

    index: int
    edge: int
    upstream: int
    downstream: int
    output: int
    input: int


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """One edge as a sender sees it: its channels in the order of the receiving subtasks."""

    partitioner: Partitioner
    supports_unaligned: bool
    channels: tuple[int, ...]


class Graph:
    """A job spelt out.

    tasks, channels: in index order.  edges: as channels name them.  outputs[task]: one OutputSpec
    per edge.  gates[task]: number of channels per input gate, in the order of the edges.
    inputs[task]: channel indices.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.vertices = job.vertices
        self.edges = job.edges
        self.tasks: list[TaskSpec] = []
        self.first_task: dict[str, int] = {}
        for number, vertex in enumerate(job.vertices):
            self.first_task[vertex.name] = len(self.tasks)
            self.tasks += [
                TaskSpec(len(self.tasks) + subtask, vertex, number, subtask)
                for subtask in range(vertex.parallelism)
            ]
        self.channels: list[ChannelSpec] = []
        self.outputs: list[list[OutputSpec]] = [[] for _ in self.tasks]
        self.inputs: list[list[int]] = [[] for _ in self.tasks]
        self.gates: list[list[int]] = [[] for _ in self.tasks]
        self.plan_edges: list[PlanEdge] = []
        self._above: dict[int, frozenset[int]] = {}
        self._by_name = {vertex.name: vertex for vertex in job.vertices}
        for number in range(len(self.edges)):
            self._add_edge(number)

    @property
    def preloaded_records(self) -> int:
        """Return how many records all channels hold at the start, as if a source had sent them."""
        return self.job.channels.preloaded_records * len(self.channels)

    def tasks_of(self, vertex: str) -> range:
        """Return the task indices of a vertex."""
        first = self.first_task[vertex]
        return range(first, first + self._by_name[vertex].parallelism)

    def sinks(self) -> list[TaskSpec]:
        """Return the subtasks of all sinks."""
        return [task for task in self.tasks if task.vertex.kind is VertexKind.SINK]

    def sources_above(self, task: int) -> frozenset[int]:
        """Return the source tasks whose records can come to a task; its own index for a source."""
        found = self._above.get(task)
        if found is None:
            senders = [self.channels[index].upstream for index in self.inputs[task]]
            above = frozenset(one for sender in senders for one in self.sources_above(sender))
            found = self._above[task] = above if senders else frozenset((task,))
        return found

    def arrivals(self, source: str) -> dict[str, int]:
        """Return per vertex how often one record of a source is processed there in all."""
        counts = {vertex.name: 0 for vertex in self.vertices}
        counts[source] = 1
        for name in self._topological():
            for edge in self.edges:
                if edge.upstream == name:
                    copies = self._copies(edge.partitioner, edge.downstream)
                    counts[edge.downstream] += counts[name] * copies
        return counts

    def _copies(self, partitioner: Partitioner, downstream: str) -> int:
        broadcast = partitioner is Partitioner.BROADCAST
        return self._by_name[downstream].parallelism if broadcast else 1

    def _topological(self) -> list[str]:
        order: list[str] = []
        waiting = [vertex.name for vertex in self.vertices]
        while waiting:
            ready = [
                name
                for name in waiting
                if all(e.upstream in order for e in self.edges if e.downstream == name)
            ]
            order += ready
            waiting = [name for name in waiting if name not in ready]
        return order

    def _add_edge(self, number: int) -> None:
        edge = self.edges[number]
        up, down = self._by_name[edge.upstream], self._by_name[edge.downstream]
        pointwise = edge.partitioner.is_pointwise
        pairs: list[tuple[int, int]] = []
        for sender in range(up.parallelism):
            pairs += [
                (sender, receiver) for receiver in _targets(edge.partitioner, up, down, sender)
            ]
        counts = [0] * down.parallelism
        for sender in range(up.parallelism):
            task = self.first_task[up.name] + sender
            mine: list[int] = []
            for receiver in (r for s, r in pairs if s == sender):
                target = self.first_task[down.name] + receiver
                mine.append(len(self.channels))
                self.channels.append(
                    ChannelSpec(
                        len(self.channels),
                        number,
                        task,
                        target,
                        sum(len(out.channels) for out in self.outputs[task]) + len(mine) - 1,
                        len(self.inputs[target]),
                    )
                )
                self.inputs[target].append(mine[-1])
                counts[receiver] += 1
            supports = edge.partitioner.supports_unaligned
            self.outputs[task].append(OutputSpec(edge.partitioner, supports, tuple(mine)))
        for receiver, size in enumerate(counts):
            self.gates[self.first_task[down.name] + receiver].append(size)
        pattern = Pattern.POINTWISE if pointwise else Pattern.ALL_TO_ALL
        sources = tuple(
            tuple(s for s, r in pairs if r == receiver) for receiver in range(down.parallelism)
        )
        self.plan_edges.append(
            PlanEdge(up.name, down.name, pattern, sources if pointwise else None)
        )


def _targets(partitioner: Partitioner, up: Vertex, down: Vertex, sender: int) -> list[int]:
    """Return the subtasks that a sender is connected to."""
    ups, downs = up.parallelism, down.parallelism
    if not partitioner.is_pointwise:
        return list(range(downs))
    return [r for r in range(downs) if sender in pointwise_senders(r, ups, downs)]
