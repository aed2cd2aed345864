"""The record plane as the oracle sees it: records have identities, and numbers in channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ckptsim.scenarios.job import VertexKind
from ckptsim.sim.job.oracle.view import Contents, Held
from ckptsim.sim.job.records.state import SOURCE_SPAN, WATERMARK

if TYPE_CHECKING:
    from ckptsim.models.coordinator.plan import Edge
    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.graph import Graph
    from ckptsim.sim.job.records.state import Element
    from ckptsim.sim.job.records.tasks import Task
    from ckptsim.sim.job.records.world import RecordWorld


class RecordView:
    """A record plane; amounts are records, the final watermark one of them."""

    unit = "records"
    timer_extra_ns = wire_ns = header_bytes = 0

    def __init__(self, world: RecordWorld) -> None:
        self._world = world
        costs, faults = world.job.costs, world.faults
        self.storing_ns: int | None = costs.completion_ns
        self.grace_ns = 4 * (costs.rpc_ns + costs.rpc_jitter_ns + costs.snapshot_jitter_ns)
        self.grace_ns += faults.longest_ns + faults.latest_ns

    @property
    def vertices(self) -> Sequence[Vertex]:
        """Return the vertices."""
        return self._world.vertices

    @property
    def plan_edges(self) -> Sequence[Edge]:
        """Return the edges as plans of checkpoints see them."""
        return self._world.plan_edges

    def name(self, task: Task) -> str:
        """Return `vertex/subtask`."""
        return task.name

    def amount(self, element: Element) -> int:
        """Return one: a record."""
        del element
        return 1

    def number(self, element: Element) -> int:
        """Return the number of a record in its channel."""
        return element[0]

    def written(self, task: Task) -> list[int]:
        """Return the number of the last record in each output."""
        return [channel.emitted for channel in task.output_channels]

    def unread(self, task: Task) -> list[int]:
        """Return nothing: a record is taken and processed in one."""
        return [0] * len(task.inputs)

    def held(self, task: Task, part: Any) -> tuple[list[Held], list[Held]]:
        """Return what a part has in flight, by inputs and by outputs."""
        kept = part.snapshot
        return (
            [_held(kept.input_state, channel.spec.index) for channel in task.inputs],
            [_held(kept.output_state, channel.spec.index) for channel in task.output_channels],
        )

    def busy_ns(self, task: Task) -> int:
        """Return for how long the thread was held, as by the copying of snapshots."""
        return task.busy_ns

    def at_once_ns(self, task: Task) -> int:
        """Return the service time of a record; a source needs none."""
        return 0 if task.is_source else task.spec.vertex.service_of(task.subtask)

    # What the job holds -----------------------------------------------------------------------

    @property
    def attempts(self) -> int:
        """Return how many attempts there were."""
        return self._world.attempts_before + self._world.attempts

    def expected(self) -> dict[str, Contents]:
        """Return per vertex what it must have processed of what sources have emitted by now."""
        return expected_output(self._world.graph, self._world.positions())

    def ever(self) -> dict[str, Contents]:
        """Return per vertex what it may have processed of what any attempt has emitted."""
        return expected_output(self._world.graph, self._world.most_emitted())

    def output(self, vertex: Vertex) -> Contents | None:
        """Return the committed output of a sink."""
        is_sink = vertex.kind is VertexKind.SINK
        return self._world.external.committed(vertex.name) if is_sink else None

    def state(self, vertex: Vertex) -> Contents | None:
        """Return what the state of a vertex has; None where some went with finished subtasks."""
        world = self._world
        if vertex.kind is VertexKind.SOURCE or vertex.name in world.lost_state:
            return None
        tasks = world.graph.tasks_of(vertex.name)
        return Counter(record for index in tasks for record in world.tasks[index].state)

    def put_back(self) -> dict[str, Contents] | None:
        """Return per vertex what it gets of the records in flight that an attempt begins with.

        None where readers are fed from outside, whose records have identities of their own.
        """
        world = self._world
        graph = world.graph
        if not all(task.makes_records for task in world.tasks):
            return None
        found: dict[str, Contents] = {vertex.name: Counter() for vertex in graph.vertices}
        arrivals = {vertex.name: graph.arrivals(vertex.name) for vertex in graph.vertices}
        for channel in world.attempt.channels:
            queued = cast("tuple[Element, ...]", channel.subpartition.normal_elements())
            records: Contents = Counter(record for _, record in (*channel.recovered, *queued))
            del records[WATERMARK]
            for name, times in arrivals[channel.receiver.place[0]].items():
                for _ in range(times):
                    found[name].update(records)
        return found


def _held(state: Mapping[int, tuple[Element, ...]], channel: int) -> Held:
    numbers = tuple(number for number, _ in state.get(channel, ()))
    return Held(len(numbers), len(numbers), numbers)


def expected_output(graph: Graph, positions: Mapping[int, int]) -> dict[str, Contents]:
    """Return per vertex how often each record must be processed there in all.

    positions: records that each source task has emitted in all.
    """
    found: dict[str, Contents] = {vertex.name: Counter() for vertex in graph.vertices}
    for vertex in graph.vertices:
        if vertex.kind is not VertexKind.SOURCE:
            continue
        arrivals = graph.arrivals(vertex.name)
        records = [
            record
            for task in graph.tasks_of(vertex.name)
            for record in _identities(task, positions.get(task, 0))
        ]
        for name, times in arrivals.items():
            if times and name != vertex.name:
                found[name].update(dict.fromkeys(records, times))
    return found


def _identities(task: int, count: int) -> range:
    return range(task * SOURCE_SPAN, task * SOURCE_SPAN + count)
