"""What a checkpoint holds for the same job with other parallelisms.

Which old channel's in-flight data goes into which new channel the core says (`models/recovery/
in_flight`), by the mappers of each edge.  Here data is sizes and counts: of an old channel that
several receivers take over, each keeps the records whose key groups it owns, in proportion to them;
taken over from all takers together, each record is kept once.

Assumption: keyed operators of old and new jobs own key groups evenly.  What a filter drops is not
read here, though a real task reads the whole of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ckptsim.models.recovery import DISTRIBUTIONS, Partitioner, key_group_range
from ckptsim.models.recovery.in_flight import Exchange, InFlightAssignment, Pair, recovered_data
from ckptsim.models.recovery.key_groups import MAX_PARALLELISM
from ckptsim.scenarios.job import Partitioner as Word
from ckptsim.sim.job.buffers.state import BufferSnapshot, Span
from ckptsim.sim.job.control.checkpoint import JobCheckpoint

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Edge
    from ckptsim.sim.job.graph import ChannelSpec, Graph

_CLASSES = {
    Word.HASH: Partitioner.KEY_GROUP,
    Word.REBALANCE: Partitioner.REBALANCE,
    Word.SHUFFLE: Partitioner.SHUFFLE,
    Word.GLOBAL: Partitioner.GLOBAL,
    Word.FORWARD: Partitioner.FORWARD,
    Word.RESCALE: Partitioner.RESCALE,
    Word.BROADCAST: Partitioner.BROADCAST,
}

Held = dict[Pair, list[Span]]
"""In-flight data of one edge, by upstream and downstream subtask."""


def rescaled(checkpoint: JobCheckpoint, old: Graph, new: Graph) -> JobCheckpoint:
    """Return what a job with the vertices and edges of another one takes up from its checkpoint.

    Sources keep their parallelism.

    Raises ProtocolError for in-flight data of an edge that cannot be redistributed.
    """
    inputs: dict[int, dict[int, list[Span]]] = {task.index: {} for task in new.tasks}
    outputs: dict[int, dict[int, list[Span]]] = {task.index: {} for task in new.tasks}
    for number, edge in enumerate(old.edges):
        at_receivers, at_senders = _held(checkpoint, old, number)
        for channel in (one for one in new.channels if one.edge == number):
            for held, kept in ((at_receivers, inputs), (at_senders, outputs)):
                spans = _taken(held, channel, edge, old, new)
                if spans and held is at_receivers:
                    kept[channel.downstream][channel.input] = spans
                elif spans:
                    kept[channel.upstream][channel.output] = spans
    tasks = {
        task.index: BufferSnapshot(
            processed=processed,
            exhausted=exhausted,
            input_spans=inputs[task.index],
            output_spans=outputs[task.index],
        )
        for task in new.tasks
        for processed, exhausted in [_progress(checkpoint, old, task.place, new)]
    }
    return JobCheckpoint(
        checkpoint_id=checkpoint.checkpoint_id,
        savepoint=checkpoint.savepoint,
        tasks=tasks,
        subtasks=new.subtasks,
        vertices=checkpoint.vertices,
        finished=frozenset(),
        positions={index: tasks[index].position for index in checkpoint.positions},
        lost_state=checkpoint.lost_state,
    )


def _held(checkpoint: JobCheckpoint, old: Graph, edge: int) -> tuple[Held, Held]:
    """Return what of an edge was in flight at receivers and at senders."""
    at_receivers: Held = {}
    at_senders: Held = {}
    for channel in (one for one in old.channels if one.edge == edge):
        pair = old.tasks[channel.upstream].subtask, old.tasks[channel.downstream].subtask
        for number, place, held in (
            (channel.downstream, channel.input, at_receivers),
            (channel.upstream, channel.output, at_senders),
        ):
            snapshot: BufferSnapshot | None = checkpoint.tasks.get(number)
            if snapshot is not None:
                spans: Mapping[int, list[Span]] = (
                    snapshot.input_spans if held is at_receivers else snapshot.output_spans
                )
                held[pair] = list(spans.get(place, ()))
    return at_receivers, at_senders


def _taken(held: Held, channel: ChannelSpec, edge: Edge, old: Graph, new: Graph) -> list[Span]:
    """Return what a new channel takes over, buffer by buffer."""
    sizes = [
        tuple(graph.vertex(name).parallelism for name in (edge.upstream, edge.downstream))
        for graph in (old, new)
    ]
    exchange = Exchange(
        distribution=DISTRIBUTIONS[_CLASSES[edge.partitioner]],
        old=(sizes[0][0], sizes[0][1]),
        new=(sizes[1][0], sizes[1][1]),
        in_flight=any(held.values()),
    )
    subtask = new.tasks[channel.downstream].subtask
    gate = InFlightAssignment().gate(exchange, subtask)
    found: list[Span] = []
    for taken in gate.old_subtasks:
        share = _share(taken, subtask, exchange) if taken in gate.ambiguous else (0, 1, 1)
        of_it = {pair: spans for pair, spans in held.items() if pair[1] == taken}
        data = recovered_data(gate, new.tasks[channel.upstream].subtask, of_it)
        found += _filtered([span for span in data if isinstance(span, tuple)], share)
    return found


def _share(taken: int, subtask: int, exchange: Exchange) -> tuple[int, int, int]:
    """Return which part of an old subtask's key groups a new one owns: from, to, of how many."""
    before = key_group_range(taken, max_parallelism=MAX_PARALLELISM, parallelism=exchange.old[1])
    now = key_group_range(subtask, max_parallelism=MAX_PARALLELISM, parallelism=exchange.new[1])
    start, stop = max(before.start, now.start), min(before.stop, now.stop)
    return start - before.start, stop - before.start, len(before)


def _filtered(spans: Sequence[Span], share: tuple[int, int, int]) -> list[Span]:
    """Keep a part of the records of each buffer; all parts together are all records."""
    start, stop, whole = share
    if (start, stop) == (0, whole):
        return list(spans)
    found, before = [], 0
    for size, records in spans:
        after = before + records
        kept = sum(
            sign * (after * bound // whole - before * bound // whole)
            for sign, bound in ((1, stop), (-1, start))
        )
        if kept:
            found.append((size * kept // records, kept))
        before = after
    return found


def _progress(
    checkpoint: JobCheckpoint, old: Graph, place: tuple[str, int], new: Graph
) -> tuple[int, bool]:
    """Return how many records a new subtask counts as processed, and whether it has no more."""
    name, subtask = place
    snapshots: list[BufferSnapshot] = [
        checkpoint.tasks[number] for number in old.tasks_of(name) if number in checkpoint.tasks
    ]
    if old.vertex(name).parallelism == new.vertex(name).parallelism:
        return snapshots[subtask].processed, snapshots[subtask].exhausted
    total, count = sum(one.processed for one in snapshots), new.vertex(name).parallelism
    return total // count + (subtask < total % count), False
