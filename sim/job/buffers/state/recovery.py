"""What a checkpoint holds of one task, and how an attempt begins from it.

In-flight data is sizes and record counts: of each buffer that became state, how many bytes of it
were in flight and how many records end there.  A restart puts it all back into the sender's queue,
what had been at the receiver first, in memory that does not count in the sender's pool; from there
it travels as usual.  Restoring takes no time.

Assumption: Apache Flink 1.20.3 reads what was at the receiver into buffers of the receiver
(RecoveredInputChannel); what a recovery really takes is not modelled here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import FinishedState

if TYPE_CHECKING:
    from ckptsim.models.lifecycle import SinkState
    from ckptsim.sim.job.buffers.output import Subpartition
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import Graph

Span = tuple[int, int]
"""Bytes in flight of one buffer, and how many records end in them."""

Spans = Mapping[int, list[Span]]
"""In-flight data by the place of a channel among those of a task, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSnapshot:
    """The state of one task in one checkpoint.

    processed: records whose effect its state has, of a source those that it has emitted.
    exhausted: a source has no more.  input_spans, output_spans: what was in flight in front of its
    barriers, by input channel and by subpartition.  records, input_records, output_records: which
    records these are, where records have identities.
    """

    processed: int
    exhausted: bool
    input_spans: Spans
    output_spans: Spans
    transactions: SinkState | None = None
    records: Sequence[int] = ()
    input_records: Mapping[int, Sequence[int]] = field(default_factory=dict)
    output_records: Mapping[int, Sequence[int]] = field(default_factory=dict)

    @property
    def position(self) -> int:
        """Return how many records a source has emitted."""
        return self.processed

    @property
    def in_flight(self) -> int:
        """Return how many buffers in flight it holds."""
        held = (self.input_spans, self.output_spans)
        return sum(len(spans) for part in held for spans in part.values())


def restore_position(task: Task, restored: JobCheckpoint, final: int | None) -> bool:
    """Let a task continue counting where the checkpoint, or its own end, has left off.

    final: the records of a task that has FINISHED; it counts if the checkpoint knows of that.
    Returns whether there are no more for the task.
    """
    snapshot: BufferSnapshot | None = restored.tasks.get(task.number)
    # Without a position a source that had finished reads again, unless nothing of it runs.
    full = restored.vertices[task.name] is FinishedState.FULL
    again = task.is_source and not task.spec.vertex.keeps_position and not full
    if snapshot is not None:
        task.processed = task.restored_records = snapshot.processed
    elif final is not None and not again and (full or task.number in restored.finished):
        task.processed = task.restored_records = final
    finished = task.number in restored.finished and not again
    return finished or (snapshot is not None and snapshot.exhausted)


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
    processed by every task that lies upstream of its channel; as after a restart it lies in the
    sender's queue.
    """
    for channel in graph.channels:
        subpartition = tasks[channel.upstream].subpartitions[channel.output]
        size = subpartition.writer.record_bytes
        fitting = max(1, segment_bytes // size)
        for first in range(0, count, fitting):
            records = min(fitting, count - first)
            put_back(subpartition, [(records * size, records)])
        for task in tasks[: channel.upstream + 1]:
            task.processed += count
            task.restored_records += count


def put_back(subpartition: Subpartition, spans: list[Span]) -> None:
    """Put in-flight data behind what stands in a subpartition, in memory that is not the pool's."""
    for size, records in spans:
        subpartition.put_back(size, records)
