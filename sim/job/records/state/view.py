"""The record plane as the oracle sees it: records have identities, and numbers in channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from ckptsim.models.barriers.barrier import NetworkEvent
from ckptsim.models.recovery import ConnectionDescriptor, RecordPart
from ckptsim.scenarios.job import OrderedEdges, Partitioner, SubtaskIndices, VertexKind
from ckptsim.sim.job.oracle.view import Contents, Held, PlaneView
from ckptsim.sim.job.records.restoring.held import HeldInFlight
from ckptsim.sim.job.records.restoring.rescaling import keeper
from ckptsim.sim.job.records.state import SOURCE_SPAN, WATERMARK, whole_records
from ckptsim.sim.job.records.times import writing_ns

if TYPE_CHECKING:
    from ckptsim.models.barriers.channels.network import Persister
    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.graph import Graph
    from ckptsim.sim.job.records.channel import Channel
    from ckptsim.sim.job.records.state import Element
    from ckptsim.sim.job.records.tasks import Task
    from ckptsim.sim.job.records.world import RecordWorld


class RecordView(PlaneView):
    """A record plane. Amounts are records, the final watermark one of them."""

    unit = "records"
    timer_extra_ns = wire_ns = header_bytes = 0
    loses_queues = True

    def __init__(self, world: RecordWorld) -> None:
        self.world = world
        costs = world.job.costs
        self.storing_ns: int | None = costs.completion_ns
        self._written_in: tuple[Graph, int | None] | None = None

    @property
    def messages_ns(self) -> int:
        """Return after which time a message has come and been handled where no fault strikes."""
        costs = self.world.job.costs
        jitter_ns = costs.rpc_jitter_ns + costs.snapshot_jitter_ns + costs.notification_jitter_ns
        return 4 * (costs.rpc_ns + jitter_ns)

    @property
    def writing_ns(self) -> int | None:
        """Return within which time a part is written that waits for nothing else, if any."""
        world = self.world
        if self._written_in is None or self._written_in[0] is not world.graph:  # rescaled since
            self._written_in = world.graph, writing_ns(world.job, world.graph, self.faults)
        return self._written_in[1]

    def name(self, task: Task) -> str:
        """Return `vertex/subtask`."""
        return task.name

    def sends_splits_in_order(self, task: Task) -> bool:
        """Return whether a task sends the records of splits as it reads them, in any attempt."""
        table = self.world.job.channel_state
        is_right = not table.is_logged and table.subtask_indices is SubtaskIndices.KEPT
        return is_right and task.is_source and task.makes_records

    def split_and_place(self, element: Element) -> tuple[int, int] | None:
        """Return the split of a record and its place there, None of all else."""
        item = element[1]
        record = item.record if isinstance(item, RecordPart) else item
        if not isinstance(record, int) or record == WATERMARK:
            return None
        return divmod(record, SOURCE_SPAN)

    def written(self, task: Task) -> list[int]:
        """Return the number of the last record in each output."""
        return [channel.emitted for channel in task.output_channels]

    def unread(self, task: Task) -> list[int]:
        """Return how many buffers of a record that is not whole each input has taken."""
        return [len(channel.deserializer.partial) for channel in task.inputs]

    def persisters(self, task: Task) -> list[Persister | None]:
        """Return what each input knows of the data that it persists."""
        return [getattr(one.input_channel, "persister", None) for one in task.inputs]

    def is_restoring(self, task: Task, gate: int) -> bool:
        """Return whether input state is read. Virtual channels keep the content of memory apart."""
        recovered = task.gates[gate].recovered
        return recovered is not None and recovered.is_reading

    def held(self, task: Task, part: Any) -> tuple[list[Held], list[Held]]:
        """Return what a part has in flight, by inputs and by outputs."""
        kept = part.snapshot
        return (
            [_held(kept.input_state, channel.spec.index) for channel in task.inputs],
            [_held(kept.output_state, channel.spec.index) for channel in task.output_channels],
        )

    def logged(self, parts: Mapping[int, Any]) -> dict[tuple[int, int], Held]:
        """Return what parts of a checkpoint hold of logs, by sender and place of the output."""
        if not self.world.job.channel_state.is_logged:
            return {}
        held = HeldInFlight(self.world.job, {n: part.snapshot for n, part in parts.items()})
        found = {}
        for channel in self.world.graph.channels:
            numbers = tuple(one.number for one in held.logged(channel))
            found[channel.upstream, channel.output] = Held(len(numbers), len(numbers), numbers)
        return found

    def busy_ns(self, task: Task) -> int:
        """Return for how long the thread was held, as by the copying of snapshots."""
        return task.busy_ns

    def at_once_ns(self, task: Task) -> int:
        """Return the service time of a record. A source needs none."""
        return 0 if task.is_source else task.spec.vertex.service_of(task.subtask)

    # What the job holds -----------------------------------------------------------------------

    @property
    def attempts(self) -> int:
        """Return how many attempts there were."""
        return self.world.attempts_before + self.world.attempts

    def expected(self) -> dict[str, Contents]:
        """Return per vertex what it must have processed of what sources have emitted by now."""
        world = self.world
        return expected_output(world.graph, world.positions(), self._parallelism(min))

    def at_most(self) -> dict[str, Contents]:
        """Return per vertex what it may have processed of what sources have emitted by now.

        More than it must have where a vertex after a broadcast was rescaled: then a record has as
        many copies as there were subtasks when it was sent.
        """
        world = self.world
        return expected_output(world.graph, world.positions(), self._parallelism(max))

    def ever(self) -> dict[str, Contents]:
        """Return per vertex what it may have processed of what any attempt has emitted."""
        world = self.world
        return expected_output(world.graph, world.most_emitted(), self._parallelism(max))

    def _parallelism(self, choose: Callable[[list[int]], int]) -> dict[str, int]:
        return {name: choose(ever) for name, ever in self.world.parallelisms.items()}

    def output(self, vertex: Vertex) -> Contents | None:
        """Return the committed output of a sink."""
        is_sink = vertex.kind is VertexKind.SINK
        return self.world.external.committed(vertex.name) if is_sink else None

    def state(self, vertex: Vertex) -> Contents | None:
        """Return what the state of a vertex has. None where some went with finished subtasks."""
        world = self.world
        if vertex.is_source or vertex.name in world.lost_state:
            return None
        tasks = world.graph.tasks_of(vertex.name)
        return Counter(record for index in tasks for record in world.tasks[index].state)

    def put_back(self) -> dict[str, Contents] | None:
        """Return per vertex what it gets of the records in flight that an attempt begins with.

        None for an embedded job, where records have identities of their own.
        """
        world = self.world
        graph = world.graph
        if not all(task.makes_records for task in world.tasks):
            return None
        found: dict[str, Contents] = {vertex.name: Counter() for vertex in graph.vertices}
        arrivals = {vertex.name: graph.arrivals(vertex.name) for vertex in graph.vertices}
        for channel in world.attempt.channels:
            records: Contents = Counter(_records_in(graph, channel))
            for name, times in arrivals[channel.receiver.place[0]].items():
                for _ in range(times):
                    found[name].update(records)
        return found


def _held(state: Mapping[int, tuple[Element, ...]], channel: int) -> Held:
    numbers = tuple(number for number, _ in state.get(channel, ()))
    return Held(len(numbers), len(numbers), numbers)


def _records_in(graph: Graph, channel: Channel) -> list[int]:
    """Return the records that a channel begins with, each where its last buffer is.

    After the descriptor of an old channel, a record with an unit that moves counts where it is sent
    today: several subtasks may have a copy, and one of them keeps it.
    """
    keeps = keeper(channel.receiver, channel.spec.edge)
    reassigned = graph.job.channel_state.ordered_edges is OrderedEdges.REASSIGNED
    forwarded = graph.edges[channel.spec.edge].partitioner is Partitioner.FORWARD
    found: list[int] = []
    is_copy = False
    for one in (*channel.restored, *channel.recovered, *channel.subpartition.normal_elements()):
        if isinstance(one, ConnectionDescriptor):
            is_copy = reassigned or not forwarded
        elif not isinstance(one, NetworkEvent):
            records = whole_records([cast("Element", one)])
            found += [record for record in records if not is_copy or keeps(record)]
    return found


def expected_output(
    graph: Graph, positions: Mapping[int, int], parallelism: Mapping[str, int]
) -> dict[str, Contents]:
    """Return per vertex how often each record must be processed there in all.

    positions: records that have been emitted of each split in all.  parallelism: of vertices.
    """
    found: dict[str, Contents] = {vertex.name: Counter() for vertex in graph.vertices}
    for vertex in graph.vertices:
        if not vertex.is_source:
            continue
        arrivals = graph.arrivals(vertex.name, parallelism)
        splits = graph.splits[vertex.name]
        records = [r for split in splits for r in _identities(split, positions.get(split, 0))]
        for name, times in arrivals.items():
            if times and name != vertex.name:
                found[name].update(dict.fromkeys(records, times))
    return found


def _identities(split: int, count: int) -> range:
    return range(split * SOURCE_SPAN, split * SOURCE_SPAN + count)
