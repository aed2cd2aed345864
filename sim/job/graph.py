"""The job graph spelt out: subtasks, channels, gates, and which task manager each subtask is on.

Pure data, made once per run. A data plane makes its objects from it, attempt after attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from ckptsim.models.coordinator.plan import Edge as PlanEdge
from ckptsim.models.coordinator.plan import Pattern, pointwise_senders
from ckptsim.scenarios import job as jobs

_ORDERED = (jobs.Partitioner.FORWARD, jobs.Partitioner.BROADCAST, jobs.Partitioner.RESCALE)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One subtask: `index` counts through all subtasks in the order of the vertices."""

    index: int
    vertex: jobs.Vertex
    vertex_index: int
    subtask: int
    task_manager: int

    @property
    def place(self) -> tuple[str, int]:
        """Return its vertex and its index there."""
        return self.vertex.name, self.subtask

    @property
    def name(self) -> str:
        """Return `vertex/subtask`."""
        return f"{self.vertex.name}/{self.subtask}"


@dataclass(slots=True)
class ChannelSpec:
    """One channel: from a subtask to a subtask, over one edge.

    output: index among the sender's channels. input: index among the receiver's, over all gates.
    gate: index of the receiver's input gate.
    """

    index: int
    edge: int
    upstream: int
    downstream: int
    output: int
    input: int
    gate: int


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """One edge as a sender sees it: its channels in the order of the receiving subtasks.

    supports_unaligned: whether barriers may overtake records here.
    """

    edge: jobs.Edge
    upstream: int
    channels: tuple[int, ...]
    supports_unaligned: bool

    @property
    def partitioner(self) -> jobs.Partitioner:
        """Return how records choose one of the channels."""
        return self.edge.partitioner


class Graph:
    """A job spelt out.

    job: that it is.
    tasks, channels: in index order.  edges: as channels name them.  all_outputs: one OutputSpec per
    edge and sender, in this order.  outputs[task]: its own, one per edge.
    gate_channels[task]: how many channels each input gate has, in the order of the edges.
    inputs[task]: channel indices.  plan_edges: the edges as plans of checkpoints see them.
    splits: of each source, by number: the splits that its subtasks had when the job began, or
    that an enumerator assigns.  hot_sources: the share of hot keys by split that has any.
    origin: the original graph of the job, before rescaling.
    """

    def __init__(self, job: jobs.Job, origin: Graph | None = None) -> None:
        self.job = job
        self._origin = self if origin is None else origin
        self.vertices = job.vertices
        self.edges = job.edges
        self.tasks: list[TaskSpec] = []
        self.first_task: dict[str, int] = {}
        self._by_name = {vertex.name: vertex for vertex in job.vertices}
        for number, vertex in enumerate(job.vertices):
            self._add_vertex(number, vertex)
        self.channels: list[ChannelSpec] = []
        self.all_outputs: list[OutputSpec] = []
        self.outputs: list[list[OutputSpec]] = [[] for _ in self.tasks]
        self.inputs: list[list[int]] = [[] for _ in self.tasks]
        self.gate_channels: list[list[int]] = [[] for _ in self.tasks]
        self.plan_edges: list[PlanEdge] = []
        begun = self._origin
        self.splits = {v.name: begun.tasks_of(v.name) for v in job.vertices if v.is_source}
        end = sum(v.parallelism for v in begun.vertices)
        for vertex in (v for v in job.vertices if v.splits is not None):
            self.splits[vertex.name] = range(end, end + (vertex.splits or 0))
            end = self.splits[vertex.name].stop
        self.hot_sources = {
            number: self._by_name[name].hot_ratio
            for name, numbers in self.splits.items()
            for number in numbers
            if self._by_name[name].hot_ratio
        }
        aligned = job.channel_state.ordered_edges is jobs.OrderedEdges.ALIGNED
        self._forced = () if aligned else _ORDERED
        for number, edge in enumerate(self.edges):
            self._add_edge(number, edge)

    # What there is ----------------------------------------------------------------------------

    def vertex(self, name: str) -> jobs.Vertex:
        """Return a vertex."""
        return self._by_name[name]

    def begun_as(self, name: str) -> jobs.Vertex:
        """Return a vertex as it was when the job began: what it says of subtasks is of those."""
        return self._origin.vertex(name)

    def tasks_of(self, vertex: str) -> range:
        """Return the task indices of a vertex."""
        first = self.first_task[vertex]
        return range(first, first + self._by_name[vertex].parallelism)

    @property
    def subtasks(self) -> dict[str, range]:
        """Return the task indices of every vertex."""
        return {vertex.name: self.tasks_of(vertex.name) for vertex in self.vertices}

    def output_count(self, task: int) -> int:
        """Return how many channels there are from a task to others."""
        return sum(len(output.channels) for output in self.outputs[task])

    def colocated(self, task: int) -> list[int]:
        """Return the tasks on the task manager of a task, itself among them."""
        here = self.tasks[task].task_manager
        return [other.index for other in self.tasks if other.task_manager == here]

    @property
    def preloaded_records(self) -> int:
        """Return how many records all channels hold at the start, as if a source had sent them."""
        return self.job.channels.preloaded_records * len(self._origin.channels)

    # Ways through it --------------------------------------------------------------------------

    def supports_unaligned(self, edge: jobs.Edge) -> bool:
        """Return whether barriers may overtake records on an edge.

        One input that must keep its order makes all inputs of a vertex align: its records would
        become state when a barrier overtakes in another one.
        Source: Apache Flink 1.20.3, StreamGraphGenerator.generate.
        """
        inputs = self._by_name[edge.downstream].inputs
        return all(
            one.partitioner.supports_unaligned or one.partitioner in self._forced for one in inputs
        )

    def arrivals(self, source: str, parallelism: Mapping[str, int] | None = None) -> dict[str, int]:
        """Return per vertex how often one record of a source is processed there in all.

        parallelism: of vertices, where it is another one than now.
        """
        counts = {vertex.name: 0 for vertex in self.vertices}
        counts[source] = 1
        for name in self.topological:
            for edge in self.edges:
                if edge.upstream == name:
                    below = (parallelism or {}).get(edge.downstream)
                    copies = self.copies(edge, below)
                    counts[edge.downstream] += counts[name] * copies
        return counts

    def copies(self, edge: jobs.Edge, parallelism: int | None = None) -> int:
        """Return to how many subtasks a record goes that is sent over an edge.

        parallelism: of its receiver, where it is another one than now.
        """
        if edge.partitioner is not jobs.Partitioner.BROADCAST:
            return 1
        return parallelism or self._by_name[edge.downstream].parallelism

    @property
    def topological(self) -> list[str]:
        """The names of the vertices, senders before receivers."""
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

    # How it is made ---------------------------------------------------------------------------

    def _add_vertex(self, number: int, vertex: jobs.Vertex) -> None:
        self.first_task[vertex.name] = first = len(self.tasks)
        for subtask in range(vertex.parallelism):
            manager = self._manager_of(first + subtask, vertex, subtask)
            self.tasks.append(TaskSpec(first + subtask, vertex, number, subtask, manager))

    def _manager_of(self, task: int, vertex: jobs.Vertex, subtask: int) -> int:
        match self.job.placement:
            case jobs.PlacementKind.REMOTE:  # every subtask has a task manager of its own
                return task
            case jobs.PlacementKind.LOCAL:
                return 0
            case jobs.PlacementKind.MIXED:  # subtasks of equal index share one
                return subtask
            case jobs.PlacementKind.MAP:
                return vertex.task_managers[subtask]
            case _:
                assert_never(self.job.placement)

    def _add_edge(self, number: int, edge: jobs.Edge) -> None:
        ups, downs = self.tasks_of(edge.upstream), self.tasks_of(edge.downstream)
        senders = [pointwise_senders(d, len(ups), len(downs)) for d in range(len(downs))]
        pointwise = edge.partitioner.is_pointwise
        sizes = [len(found) if pointwise else len(ups) for found in senders]
        for task, size in zip(downs, sizes, strict=True):
            self.gate_channels[task].append(size)
        for sender, task in enumerate(ups):
            output = self.output_count(task)
            mine: list[int] = []
            for receiver, target in enumerate(downs):
                if pointwise and sender not in senders[receiver]:
                    continue
                index, inputs = len(self.channels), self.inputs[target]
                gate = len(self.gate_channels[target]) - 1
                channel = ChannelSpec(
                    index, number, task, target, output + len(mine), len(inputs), gate
                )
                self.channels.append(channel)
                inputs.append(index)
                mine.append(index)
            over = self.supports_unaligned(edge)
            self.all_outputs.append(OutputSpec(edge, task, tuple(mine), over))
            self.outputs[task].append(self.all_outputs[-1])
        pattern = Pattern.POINTWISE if pointwise else Pattern.ALL_TO_ALL
        sources = tuple(tuple(found) for found in senders) if pointwise else None
        self.plan_edges.append(PlanEdge(edge.upstream, edge.downstream, pattern, sources))
