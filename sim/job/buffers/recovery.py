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

from ckptsim.sim.job.buffers.segment import Segment

if TYPE_CHECKING:
    from ckptsim.models.lifecycle import SinkState
    from ckptsim.sim.job.buffers.outlet import Outlet
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

Span = tuple[int, int]
"""Bytes in flight of one buffer, and how many records end in them."""

Spans = Mapping[int, list[Span]]
"""In-flight data by the place of a channel among those of a task, oldest first."""

_OWN_MEMORY = 1 << 40
"""So many owners that a segment never returns to a pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSnapshot:
    """The state of one task in one checkpoint.

    processed: records whose effect its state has, of a source those that it has emitted.
    exhausted: a source has no more.  input_spans, output_spans: what was in flight in front of its
    barriers, by input channel and by outlet.  records, input_records, output_records: which records
    these are, where records have identities.
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


def restore_channels(tasks: list[Task], restored: JobCheckpoint) -> None:
    """Put the in-flight data of a checkpoint back into the channels of new tasks."""
    for task in tasks:
        sender: BufferSnapshot | None = restored.tasks.get(task.number)
        for place, outlet in enumerate(task.outlets):
            channel = outlet.link.gate.task, outlet.link.index
            receiver: BufferSnapshot | None = restored.tasks.get(channel[0].number)
            found = [] if receiver is None else receiver.input_spans.get(channel[1], [])
            _put_back(outlet, found)
            _put_back(outlet, [] if sender is None else sender.output_spans.get(place, []))


def _put_back(outlet: Outlet, spans: list[Span]) -> None:
    for size, records in spans:
        segment = Segment(0 if outlet.writer.broadcast else outlet.channel, size, 0)
        segment.bytes, segment.records, segment.closed = size, records, True
        segment.owners = _OWN_MEMORY
        outlet.core.add_data(segment)
        outlet.restored_bytes += size
        # All of it may leave: no writer goes on with the last one.
        outlet.core.flush_requested = True


def is_restored(segment: Segment) -> bool:
    """Tell whether a segment was put back by a restart."""
    return segment.owners > _OWN_MEMORY >> 1
