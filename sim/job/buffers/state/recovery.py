"""What a checkpoint holds of one task, and how an attempt begins from it.

In-flight data is sizes and record counts: of each buffer that became state, how many bytes of it
were in flight and how many records end there.  A restart puts it all back into the sender's queue,
what had been at the receiver first, in memory that does not count in the sender's pool. From there
it travels as usual.  Restoring takes no time.

Assumption: Apache Flink 1.20.3 reads everything that was at the receiver into buffers of the
receiver (RecoveredInputChannel). What a recovery really takes is not modelled here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.models.lifecycle import SinkState
    from ckptsim.sim.job.buffers.output import Subpartition
    from ckptsim.sim.job.buffers.state.keyed_state import StateFiles
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import Graph

BUFFER_HEADER_BYTES = 4
"""Length in front of each buffer in a channel-state file.

Source: Apache Flink 1.20.3, ChannelStateSerializerImpl; measured sizes have it.
"""

Span = tuple[int, int]
"""Bytes in flight of one buffer, and how many records end in them."""

Spans = Mapping[int, list[Span]]
"""In-flight data by the place of a channel among those of a task, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSnapshot:
    """The state of one task in one checkpoint.

    processed: records in its state, of a source the emitted ones.
    splits: how many of them are of each of its splits, by number. exhausted: it has no more.
    files: of its keyed state, None where they are not known.  input_spans, output_spans: the
    in-flight data before its barriers, by input channel and by subpartition.  records,
    input_records,
    output_records: which records these are, where records have identities.  log: where all is
    logged, of each output the newest objects with data of it, and how many bytes, oldest first.
    """

    processed: int
    splits: Mapping[int, int] = field(default_factory=dict)
    exhausted: bool
    input_spans: Spans
    output_spans: Spans
    files: StateFiles | None = None
    transactions: SinkState | None = None
    records: Sequence[int] = ()
    input_records: Mapping[int, Sequence[int]] = field(default_factory=dict)
    output_records: Mapping[int, Sequence[int]] = field(default_factory=dict)
    log: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict)

    def without_in_flight(self) -> BufferSnapshot:
        """Return it without in-flight data."""
        return replace(self, input_spans={}, output_spans={}, input_records={}, output_records={})


def restore_counts(world: DataflowWorld, restored: JobCheckpoint) -> None:
    """Let tasks continue counting where the checkpoint, or their own end, has left off.

    A source that has read all of its splits before reads no more. One that is fed from outside
    reads what it gets there, until its own end.
    """
    fed = world.embedding.reader is not None
    for task in world.tasks:
        if task.is_source:
            splits = world.splits.of(*task.place)
            count = sum(one.position for one in splits)
            if splits and all(one.over for one in splits) and not fed:
                task.stop()  # type: ignore[attr-defined]
        else:
            count = _processed(task, restored, world.rescales.final(task.place))
        task.processed = task.restored_records = count


def _processed(task: Task, restored: JobCheckpoint, final: int | None) -> int:
    """Return how many records an operator has processed in the state that it begins with.

    final: the ones of a task that has FINISHED. They count if the checkpoint knows of that.
    """
    snapshot: BufferSnapshot | None = restored.tasks.get(task.number)
    if snapshot is not None:
        return snapshot.processed
    return final if final is not None and restored.holds_end_of(task.name, task.number) else 0


def restore_channels(tasks: list[Task], restored: JobCheckpoint) -> None:
    """Put the in-flight data of a checkpoint back into the channels of new tasks."""
    for task in tasks:
        sender: BufferSnapshot | None = restored.tasks.get(task.number)
        for place, subpartition in enumerate(task.subpartitions):
            channel = subpartition.input_channel.gate.task, subpartition.input_channel.index
            receiver: BufferSnapshot | None = restored.tasks.get(channel[0].number)
            found = [] if receiver is None else receiver.input_spans.get(channel[1], [])
            put_back(subpartition, found)
            put_back(subpartition, [] if sender is None else sender.output_spans.get(place, []))


def preload(tasks: list[Task], graph: Graph, count: int, segment_bytes: int) -> None:
    """Put a backlog of so many records into every channel of a chain of single subtasks.

    A preloaded record counts as emitted by the source, on top of what that emits by itself, and as
    processed by every task that lies upstream of its channel. As after a restart it lies in the
    sender's queue.
    """
    for channel in graph.channels:
        subpartition = tasks[channel.upstream].subpartitions[channel.output]
        size = subpartition.writer.sizes.mean
        fitting = max(1, segment_bytes // size)
        for first in range(0, count, fitting):
            records = min(fitting, count - first)
            put_back(subpartition, [(records * size, records)])
        for task in tasks[: channel.upstream + 1]:
            task.processed += count
            task.restored_records += count


def put_back(subpartition: Subpartition, spans: Sequence[Span]) -> None:
    """Put in-flight data after the queue of a subpartition, in memory that is not the pool's."""
    for size, records in spans:
        subpartition.put_back(size, records)
