"""The sender's end of one channel: the subpartition core, and segments that are still written to.

Only the last segment of the queue may be open.  The flush timeout does not close it: the written
part leaves as a slice, and the sender continues to fill the segment. It returns to its pool when it
is closed and sent.

Source: Apache Flink 1.20.3, PipelinedSubpartition (flush, pollBuffer, getBuffersInBacklogUnsafe).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from ckptsim.models.barriers.barrier import NetworkEvent
from ckptsim.sim.job.buffers.output.segment import OWN_MEMORY, Restored, Segment, Slice

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input import InputGate
    from ckptsim.sim.job.buffers.output.record_writer import RecordWriter
    from ckptsim.sim.job.buffers.tasks import Task

Element = Slice | NetworkEvent
"""What travels: data or an event."""


class InputChannel(Protocol):
    """Where a subpartition's elements go.

    index: among the channels of the receiving task, over all its gates.
    """

    gate: InputGate
    index: int

    def pump(self) -> None:
        """Send what can be sent."""

    def announce_backlog(self) -> None:
        """Tell the receiver that data waits for credit (only where channels own no buffers)."""


class _NotRequested:
    """The place of the elements of a partition without a request: nowhere."""

    __slots__ = ("gate", "index", "real")

    def __init__(self, real: InputChannel) -> None:
        self.real = real
        self.gate = real.gate
        self.index: int = real.index

    def pump(self) -> None:
        """Keep what could be sent."""

    def announce_backlog(self) -> None:
        """Keep it to itself that data waits."""


class Subpartition:
    """One channel as its sender sees it.

    taken_bytes, taken_records: everything that has left as slices of the first segment in the
    queue, which is the only one that can have been taken in part.  restored: what a restart puts
    back, here or at the receiver.
    """

    __slots__ = (
        "channel",
        "core",
        "input_channel",
        "owner",
        "restored",
        "taken_bytes",
        "taken_records",
        "writer",
    )

    def __init__(self, owner: Task, writer: RecordWriter, channel: int) -> None:
        self.owner = owner
        self.writer = writer
        self.channel = channel
        self.core = owner.world.protocol.output_subpartition(len(owner.subpartitions), owner.outbox)
        self.taken_bytes = 0
        self.taken_records = 0
        self.restored = Restored()
        self.input_channel: InputChannel
        owner.subpartitions.append(self)

    def put_back(self, size: int, records: int) -> None:
        """Put restored data after the queue, in memory that is not the pool's."""
        segment = Segment(self.lane, size, 0)
        segment.bytes, segment.records, segment.closed = size, records, True
        segment.owners = OWN_MEMORY
        self.core.add_data(segment)
        self.restored.add(size, records)
        # All of it may leave: no writer continues with the last one.
        self.core.flush_requested = True

    @property
    def lane(self) -> int:
        """Where its writer writes. A broadcast has one lane for all."""
        return 0 if self.writer.broadcast else self.channel

    def withhold(self) -> None:
        """Let nothing leave before the receiver asks for the partition."""
        self.input_channel = _NotRequested(self.input_channel)

    def request(self) -> None:
        """Let the queue travel, now that the receiver asks for the partition."""
        if isinstance(self.input_channel, _NotRequested):
            self.input_channel = self.input_channel.real
        self.pump()

    def waiting(self) -> list[tuple[int, int]]:
        """Return bytes and records of the closed segments in the queue."""
        found = [one for one in self.core.normal_elements() if isinstance(one, Segment)]
        return [(one.bytes, one.records) for one in found]

    def add_segment(self, segment: Segment) -> None:
        """Append a segment that has just been opened. The one before it may leave now."""
        core = self.core
        core.add_data(segment)
        if core.data_count > 2 or core.blocked or core.flush_requested:
            return
        if core.data_count + core.event_count == 2:
            self.input_channel.pump()

    def add_event(self, event: NetworkEvent) -> None:
        """Put an event in. Every segment has been closed before."""
        if self.core.add_event(event) and not self.core.blocked:
            self.input_channel.pump()

    def pump(self) -> None:
        """Let the queue travel."""
        if not self.core.blocked:
            self.input_channel.pump()

    def finish(self) -> None:
        """End the channel."""
        if self.core.finish():
            self.input_channel.pump()

    def time_out(self, checkpoint: int) -> None:
        """Let a waiting timeoutable barrier overtake the data before it."""
        if self.core.time_out(checkpoint):
            self.input_channel.pump()

    def flush(self) -> None:
        """Let what the open segment holds travel, unless more than it is waiting anyway."""
        core = self.core
        length = len(core)
        if not length or core.flush_requested:
            return
        if length > 1:
            core.flush_requested = True
            return
        head = core.head
        if isinstance(head, Segment) and self.writer.written(self.channel)[0] > self.taken_bytes:
            if not self.owner.world.mechanisms.slices:
                self.writer.close_all()
            core.flush_requested = True
            self.input_channel.pump()

    def available(self) -> bool:
        """Return whether `take` would find something."""
        core = self.core
        if core.blocked:
            return False
        head = core.head
        if head.__class__ is Segment:
            return core.flush_requested or head.closed
        return head is not None

    def take(self) -> Element | None:
        """Take the next element, or None when nothing can leave."""
        core = self.core
        while not core.blocked:
            head = core.head
            if head.__class__ is not Segment:
                return self._take_event() if head is not None else None
            if not head.closed:
                return self._take_open()
            core.poll()
            rest, records = head.bytes - self.taken_bytes, head.records - self.taken_records
            self.taken_bytes = self.taken_records = 0
            if rest:
                slice_ = Slice(rest, records)
                slice_.segment = head
                return slice_
            core.next_sequence -= 1  # nothing of it was left to be sent
            self.release(head)
        return None

    def drop_spent(self) -> bool:
        """Drop the first segment if it is closed and all of it has left. Return whether it was."""
        core = self.core
        head = core.head
        if not isinstance(head, Segment) or not head.closed or head.bytes > self.taken_bytes:
            return False
        core.poll()
        core.next_sequence -= 1  # nothing of it was left to be sent
        self.taken_bytes = self.taken_records = 0
        self.release(head)
        return True

    def release(self, segment: Segment) -> None:
        """Give a segment back to the pool when the last subpartition is done with it."""
        segment.owners -= 1
        if not segment.owners:
            self.writer.pool.recycle(segment.channel)

    def queued(self) -> tuple[int, list[Segment]]:
        """Return how many bytes are queued, and in which segments of the pool."""
        found = [one for one in self.core.normal_elements() if isinstance(one, Segment)]
        sizes = (s.bytes if s.closed else self.writer.written(self.channel)[0] for s in found)
        return sum(sizes) - self.taken_bytes, [s for s in found if s.owners <= OWN_MEMORY >> 1]

    def _take_event(self) -> NetworkEvent | None:
        event = self.core.poll()
        if self.owner.outbox:
            self.owner.control.checkpoints.drain()
        return event if isinstance(event, NetworkEvent) else None

    def unsent(self, segments: Iterable[object]) -> list[tuple[int, int]]:
        """Return the unsent rest of each of the first segments in the queue.

        Bytes, and how many records end in them.
        """
        found = [(one.bytes, one.records) for one in segments if isinstance(one, Segment)]
        if found:
            size, records = found[0]
            found[0] = size - self.taken_bytes, records - self.taken_records
        return [span for span in found if span[0]]

    def _take_open(self) -> Slice | None:
        core = self.core
        if not core.flush_requested:
            return None
        core.flush_requested = False
        self.owner.sync()
        fill, records = self.writer.written(self.channel)
        if fill == self.taken_bytes:
            return None
        slice_ = Slice(fill - self.taken_bytes, records - self.taken_records)
        self.taken_bytes = fill
        self.taken_records = records
        core.next_sequence += 1
        return slice_
