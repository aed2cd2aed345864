"""What a checkpoint holds for the same job with other parallelisms.

Which old channel's in-flight data goes into which new channel the core says (`models/recovery/
in_flight`), by the mappers of each edge. Which records of it, `redistribution`.  Keyed state goes
with its key groups and list state is dealt out: here both are numbers of processed records, shared
out evenly.  Broadcast state is the same in every subtask, so each new one has as much as the old.

Assumption: what a filter drops is not read, though a real task reads the whole of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ckptsim.models.recovery import Exchange, GateAssignment, InFlightAssignment
from ckptsim.sim.job.buffers.restoring.redistribution import Flight, Taken, taken_by
from ckptsim.sim.job.buffers.state import BufferSnapshot, Span
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.parallelism import distribution_of
from ckptsim.sim.job.splits import Splits

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Edge, Vertex
    from ckptsim.sim.job.graph import ChannelSpec, Graph

Pair = tuple[int, int]
"""An upstream and a downstream subtask."""

Place = tuple[str, int]
"""A vertex and a subtask of it."""

ChannelKey = tuple[int, int]
"""A channel: number of the receiving task, place among its channels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualChannelData:
    """Records of an old channel that go into a new one. taken: which of them.

    received: how many of the old channel's records in flight come first: those at its receiver, or
    all where one channel comes after the other.
    """

    old: ChannelKey
    taken: Taken
    received: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The buffers of an old channel that go into a new one, from its receiver and its sender."""

    old: ChannelSpec
    received: Sequence[Span]
    sent: Sequence[Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescaled:
    """A checkpoint as the tasks of a job with other parallelisms take it up.

    checkpoint: with their numbers. old, taken: the job that took it, and what that held in flight.
    parts: of each new channel that takes something, in order.  shares: the same as buffers.
    told_apart: gates, by task and place, with channels that carry data of several old ones.
    processed: of tasks that are not in the checkpoint, since all of their vertex had finished.
    """

    checkpoint: JobCheckpoint
    old: Graph
    taken: JobCheckpoint
    parts: Mapping[ChannelKey, list[VirtualChannelData]]
    shares: Mapping[ChannelKey, list[Share]]
    told_apart: Sequence[tuple[int, int]]
    processed: Mapping[Place, int]

    @property
    def goals(self) -> tuple[str, ...]:
        """Return the situations that it is."""
        filtered = any(
            one.taken.kept is not None and not one.taken.kept.all()
            for parts in self.parts.values()
            for one in parts
        )
        return ("restored_rescaled", "record_filtered") if filtered else ("restored_rescaled",)


def rescaled(
    checkpoint: JobCheckpoint,
    old: Graph,
    new: Graph,
    *,
    finished: Mapping[Place, int] | None = None,
) -> Rescaled:
    """Return what a job with the vertices and edges of another one takes up from its checkpoint.

    finished: what subtasks had processed that had finished.

    Raises ProtocolError for in-flight data of an edge that cannot be redistributed.
    """
    inputs: dict[int, dict[int, list[Span]]] = {task.index: {} for task in new.tasks}
    outputs: dict[int, dict[int, list[Span]]] = {task.index: {} for task in new.tasks}
    parts: dict[ChannelKey, list[VirtualChannelData]] = {}
    shares: dict[ChannelKey, list[Share]] = {}
    whole = new.job.channel_state.one_by_one
    told_apart: dict[tuple[int, int], None] = {}
    for number, edge in enumerate(old.edges):
        flights, channels = _in_flight(checkpoint, old, number)
        for channel in (one for one in new.channels if one.edge == number):
            found, identity = _taken(flights, channel, edge, old, new)
            if not found:
                continue
            if not identity:
                told_apart[channel.downstream, channel.gate] = None
            key = channel.downstream, channel.input
            shares[key] = [_share(one, channels[one.pair], flights[one.pair]) for one in found]
            parts[key] = [
                _part(one, channels[one.pair], flights[one.pair], whole=whole) for one in found
            ]
            first, then = _spans(shares[key], whole=whole)
            if first:
                inputs[channel.downstream][channel.input] = first
            if then:
                outputs[channel.upstream][channel.output] = then
    progress = _Progress(checkpoint, finished or {}, Splits(new, checkpoint))
    tasks, processed = {}, {}
    for task in new.tasks:
        snapshot = progress.of(task.vertex, task.subtask)
        if isinstance(snapshot, BufferSnapshot):
            tasks[task.index] = replace(
                snapshot, input_spans=inputs[task.index], output_spans=outputs[task.index]
            )
        elif snapshot is not None:
            processed[task.place] = snapshot
    return Rescaled(
        checkpoint=_renumbered(checkpoint, new, tasks),
        old=old,
        taken=checkpoint,
        parts=parts,
        shares=shares,
        told_apart=tuple(told_apart),
        processed=processed,
    )


# Data in flight -----------------------------------------------------------------------------------


def _in_flight(
    checkpoint: JobCheckpoint, old: Graph, edge: int
) -> tuple[dict[Pair, Flight], dict[Pair, ChannelSpec]]:
    """Return what of an edge was in flight, by old pair, and which channel a pair had."""
    found: dict[Pair, Flight] = {}
    channels: dict[Pair, ChannelSpec] = {}
    for channel in (one for one in old.channels if one.edge == edge):
        pair = old.tasks[channel.upstream].subtask, old.tasks[channel.downstream].subtask
        channels[pair] = channel
        received, sent = in_flight_of(checkpoint, channel)
        if received or sent:
            found[pair] = Flight(received=received, sent=sent)
    return found, channels


def in_flight_of(
    checkpoint: JobCheckpoint, channel: ChannelSpec
) -> tuple[Sequence[Span], Sequence[Span]]:
    """Return what a checkpoint holds of a channel, at its receiver and at its sender."""
    receiver: BufferSnapshot | None = checkpoint.tasks.get(channel.downstream)
    sender: BufferSnapshot | None = checkpoint.tasks.get(channel.upstream)
    return (
        () if receiver is None else receiver.input_spans.get(channel.input, ()),
        () if sender is None else sender.output_spans.get(channel.output, ()),
    )


def _taken(
    flights: Mapping[Pair, Flight], channel: ChannelSpec, edge: Edge, old: Graph, new: Graph
) -> tuple[list[Taken], bool]:
    """Return what a new channel takes over, and whether nothing of its gate has moved."""
    before, now = (
        (graph.vertex(edge.upstream).parallelism, graph.vertex(edge.downstream).parallelism)
        for graph in (old, new)
    )
    exchange = Exchange(
        distribution=distribution_of(edge.partitioner), old=before, new=now, in_flight=bool(flights)
    )
    subtask = new.tasks[channel.downstream].subtask
    gate: GateAssignment = InFlightAssignment().gate(exchange, subtask)
    counts = {pair: sum(flight.counts) for pair, flight in flights.items()}
    upstream = new.tasks[channel.upstream].subtask
    mapper = exchange.distribution.downstream
    found = taken_by(gate, upstream, subtask, (before[1], now[1]), counts, mapper=mapper)
    return found, gate.identity


def _part(taken: Taken, old: ChannelSpec, flight: Flight, *, whole: bool) -> VirtualChannelData:
    """Return the records that a new channel takes of an old one."""
    received, sent = flight.counts
    count = received + sent * whole
    return VirtualChannelData(old=(old.downstream, old.input), taken=taken, received=count)


def _share(taken: Taken, old: ChannelSpec, flight: Flight) -> Share:
    """Return the buffers that a new channel takes of an old one."""
    if taken.kept is None:
        return Share(old=old, received=flight.received, sent=flight.sent)
    received, sent = flight.filtered(taken.kept)
    return Share(old=old, received=received, sent=sent)


def _spans(shares: list[Share], *, whole: bool) -> tuple[list[Span], list[Span]]:
    """Return the buffers of a new channel that come first and then, in order.

    whole: one old channel comes after the other.
    """
    if whole:
        return [span for one in shares for span in (*one.received, *one.sent)], []
    received = [span for one in shares for span in one.received]
    return received, [span for one in shares for span in one.sent]


# State --------------------------------------------------------------------------------------------


class _Progress:
    """What new subtasks have processed, from what old ones had."""

    def __init__(
        self, checkpoint: JobCheckpoint, finished: Mapping[Place, int], splits: Splits
    ) -> None:
        self._checkpoint = checkpoint
        self._finished = finished
        self._splits = splits

    def of(self, vertex: Vertex, subtask: int) -> BufferSnapshot | int | None:
        """Return the snapshot of a new subtask without data in flight.

        Its number of processed records where the whole vertex had finished. None where nothing is
        held of it: a subtask among others that had finished.
        """
        held: list[BufferSnapshot | None] = self._checkpoint.snapshots_of(vertex.name)
        if len(held) == vertex.parallelism:
            return held[subtask]
        counts = [
            self._finished.get((vertex.name, index), 0) if one is None else one.processed
            for index, one in enumerate(held)
        ]
        splits = {}
        if vertex.is_source:
            splits = {one.number: one.position for one in self._splits.of(vertex.name, subtask)}
            processed = sum(splits.values())
        elif vertex.broadcast_state:
            processed = max(counts)
        else:
            total, count = sum(counts), vertex.parallelism
            processed = total // count + (subtask < total % count)
        if all(one is None for one in held):
            return processed
        return BufferSnapshot(
            processed=processed, splits=splits, exhausted=False, input_spans={}, output_spans={}
        )


def _renumbered(
    checkpoint: JobCheckpoint, new: Graph, tasks: Mapping[int, BufferSnapshot]
) -> JobCheckpoint:
    """Return a checkpoint with the task numbers of another graph.

    Subtasks of a vertex that is rescaled have no successors, so none of them has finished before.
    """
    numbers = {
        old: now
        for name, olds in checkpoint.subtasks.items()
        if len(olds) == len(new.tasks_of(name))
        for old, now in zip(olds, new.tasks_of(name), strict=True)
    }
    return replace(
        checkpoint,
        tasks=tasks,
        subtasks=new.subtasks,
        finished=frozenset(numbers[old] for old in checkpoint.finished if old in numbers),
    )
