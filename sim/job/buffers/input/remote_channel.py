"""A channel over the network: credits at its sender's end, buffers at its receiver's.

An element is sent as soon as there is credit for it (events need none).  It arrives some time later
in a buffer of the receiver: an exclusive one of the channel, or a floating one, which the gate
lends to channels with an announced backlog.  A receiver's buffer is free again, and is announced as
credit, when its last record has been read.  A sender that is after an aligned barrier announces no
backlog, so its receiver gives surplus floating buffers back. A channel after its end gives back all
that it has borrowed and borrows no more.

Source: Apache Flink 1.20.3, RemoteInputChannel, BufferManager,
CreditBasedSequenceNumberingViewReader, PartitionRequestQueue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.barrier import is_blocking
from ckptsim.sim.job.buffers.output import Element, Segment, Slice, Subpartition

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.sim.job.buffers.input.input_gate import InputGate
    from ckptsim.sim.job.buffers.input.wire import Wire


class RemoteChannel:
    """A channel over the network.

    index: over all gates of the task.  partial_bytes: of an incomplete record.
    records: read by the task so far.  announced: the backlog that the sender told last.
    starved: whether data has ever waited for credit.
    """

    __slots__ = (
        "_credit",
        "_exclusive",
        "_exclusive_free",
        "_floating_free",
        "_keeps_order",
        "_pump_armed",
        "_ready_ns",
        "_released",
        "_required",
        "_waiting",
        "announced",
        "core",
        "env",
        "gate",
        "index",
        "listed",
        "partial_bytes",
        "records",
        "starved",
        "subpartition",
        "wire",
    )

    def __init__(
        self, subpartition: Subpartition, gate: InputGate, wire: Wire, *, exclusive: int
    ) -> None:
        task = gate.task
        self.env = task.env
        self.index: int = len(task.channels)
        self.gate: InputGate = gate
        self.subpartition: Subpartition = subpartition
        self.wire = wire
        self.core = task.world.protocol.input_channel(self.index, task.outbox)
        self.listed = False
        self.partial_bytes: int = 0
        self.records: int = 0
        self.announced = 0
        self.starved: bool = False
        self._credit = exclusive
        self._exclusive = exclusive
        self._exclusive_free = exclusive
        self._floating_free = 0
        self._required = exclusive
        self._waiting = False
        self._released = False
        self._ready_ns = 0
        self._pump_armed = False
        # No event passes another one or data, and every message takes the same time.
        overtaking = (
            task.world.model.checkpointing.unaligned and subpartition.writer.supports_unaligned
        )
        self._keeps_order = not overtaking and not wire.jitter_ns
        subpartition.input_channel = self
        task.channels.append(self)

    # At the sender ----------------------------------------------------------------------------

    def pump(self) -> None:
        """Send elements while there is something to send and credit for it."""
        subpartition = self.subpartition
        core, now = subpartition.core, self.env.now
        while not core.blocked:
            head, ready_ns = core.head, self._ready_ns
            is_data = head.__class__ is Segment
            if now < ready_ns:
                if is_data or not self._keeps_order:
                    self._pump_later(head)
                    return
                # An event that is next and cannot be overtaken needs no entry of its own for the
                # instant at which the wire is free: what happens then is known now.
            elif is_data and not self._credit:
                self.starved = True
                if not self._exclusive:
                    self.announce_backlog()
                return
            # The receiver has lent a buffer for what the backlog counted.  If that has left in the
            # meantime as a slice, the lent one is given back, or no other channel would get it.
            if is_data and not self._exclusive and subpartition.drop_spent():
                self._credit -= 1
                self._ready_ns = now + self.wire.send_ns
                self._send_empty(max(now, ready_ns))
                continue
            element = subpartition.take()
            if element is None:
                return
            if isinstance(element, Slice):
                self._credit -= 1
                self._ready_ns = now + self.wire.send_ns
                segment, element.segment = element.segment, None
                if segment is not None:
                    subpartition.release(segment)
            self._send(element, max(now, ready_ns))

    def _send(self, element: Element, sent_ns: int) -> None:
        self.wire.forward(sent_ns, self._arrive, element, self.subpartition.core.backlog)

    def _send_empty(self, sent_ns: int) -> None:
        """Send an empty buffer, which uses up a credit.

        Source: Apache Flink 1.20.3, PipelinedSubpartition.pollBuffer (receivers without exclusive
        buffers), NettyMessage.BufferResponse.readFrom, RemoteInputChannel.onEmptyBuffer.
        """
        self.wire.forward(sent_ns, self._arrive_empty, self.subpartition.core.backlog)

    def announce_backlog(self) -> None:
        """Tell the receiver that data waits without credit."""
        backlog = self.subpartition.core.backlog
        if backlog:
            self.wire.forward(self.env.now, self._hear_backlog, backlog)

    def _pump_later(self, head: object) -> None:
        open_ = isinstance(head, Segment) and not head.closed
        if (
            self._pump_armed
            or head is None
            or (open_ and not self.subpartition.core.flush_requested)
        ):
            return
        self._pump_armed = True
        self.wire.at_sender(self._ready_ns, self._pump_again)

    def _pump_again(self) -> None:
        self._pump_armed = False
        self.pump()

    def _add_credit(self, count: int) -> None:
        # What can be sent has been sent already, unless it waited for this.
        waited = not self._credit
        self._credit += count
        if waited:
            self.pump()

    def _resumed(self) -> None:
        if not self._exclusive:
            self._credit = 0  # the receiver has given back what it had lent
        self.subpartition.core.resume()
        self.pump()

    # At the receiver --------------------------------------------------------------------------

    def _arrive(self, element: Element, backlog: int) -> None:
        if isinstance(element, Slice):
            if self._floating_free:
                self._floating_free -= 1
                element.floating = True
            else:
                self._exclusive_free -= 1
        elif not self._exclusive and is_blocking(element):
            self._give_back()
        self.core.arrive(element)
        gate = self.gate
        if gate.task.outbox:
            gate.task.control.checkpoints.drain()
        self._hear_backlog(backlog)
        if element.__class__ is Slice:
            gate.enqueue(self)
        else:
            gate.enqueue_event(self)

    def _arrive_empty(self, backlog: int) -> None:
        if self._floating_free:
            self._floating_free -= 1
            self.gate.return_floating()
        self._hear_backlog(backlog)

    def recovered(self, slice_: Slice) -> None:
        """Note data that a restore has read into the recovered channel before this one."""

    def handed_over(self, slice_: Slice) -> None:
        """Note that the task has taken recovered data."""

    def release(self) -> None:
        """Give back what the channel has borrowed: its end of partition has been taken.

        What it has filled was read before, as its end comes last.  It may still be in the gate's
        line for a floating buffer. It declines that when its turn comes.

        Source: Apache Flink 1.20.3, SingleInputGate.transformEvent, RemoteInputChannel
        .releaseAllResources, BufferManager.releaseAllBuffers and notifyBufferAvailable.
        """
        self._released = True  # first, or the pool would offer it what it gives back
        self._give_back()

    def _give_back(self) -> None:
        """Give all floating buffers back: a channel without its own keeps none while blocked."""
        lent, self._floating_free, self._required = self._floating_free, 0, 0
        for _ in range(lent):
            self.gate.return_floating()

    def _hear_backlog(self, backlog: int) -> None:
        self.announced = backlog
        if self._released:
            return
        self._required = required = backlog + self._exclusive
        if self.free >= required or self._waiting:
            return
        granted = 0
        gate = self.gate
        while not self._waiting and self.free < self._required:
            if gate.floating_free:
                gate.floating_free -= 1
                self._floating_free += 1
                granted += 1
            else:
                gate.lenders.append(self)
                self._waiting = True
        if granted:
            self._grant(granted)

    def _grant(self, count: int) -> None:
        """Tell the sender of buffers that are free for what it sends."""
        self.wire.back(self._add_credit, count)

    @property
    def free(self) -> int:
        """How many buffers data can come into, of its own and borrowed."""
        return self._exclusive_free + self._floating_free

    @property
    def floating(self) -> int:
        """How many floating buffers the channel has borrowed and not filled."""
        return self._floating_free

    def offer_floating(self) -> bool:
        """Take a floating buffer that came free, if it is still wanted."""
        self._waiting = False
        free = self.free
        if self._released or free >= self._required:
            return False
        self._floating_free += 1
        if free + 1 < self._required:
            self.gate.lenders.append(self)
            self._waiting = True
        self._grant(1)
        return True

    def recycle(self, slice_: Slice) -> None:
        """Free the buffer of a slice after its last record."""
        if slice_.floating:
            self.gate.return_floating()
            return
        self._exclusive_free += 1
        if self._floating_free and self.free > self._required:
            self._floating_free -= 1
            self.gate.return_floating()
        else:
            self._grant(1)

    def take(self) -> Element | None:
        """Take the next element for the task."""
        return self.core.poll()  # type: ignore[return-value]

    @property
    def has_more(self) -> bool:
        """Whether `take` would find something."""
        core = self.core
        return core.data_count > 0 or core.event_count > 0

    @property
    def has_priority(self) -> bool:
        """Whether something that overtakes data is queued."""
        return self.core.has_priority

    @property
    def queued(self) -> int:
        """How many buffers wait at the receiver."""
        return self.core.data_count

    def start(self, checkpoint: int) -> FailureReason | None:
        """Persist the queue before the barrier and later arrivals before it."""
        return self.core.start(checkpoint)

    def stop(self, checkpoint: int) -> None:
        """Persist no more for this checkpoint."""
        self.core.stop(checkpoint)

    def prioritize(self, sequence: int) -> None:
        """Move an announced barrier to the front."""
        self.core.prioritize(sequence)
        self.gate.enqueue_event(self)

    def resume(self) -> None:
        """Let the sender continue after a blocking event."""
        self.wire.back(self._resumed)

    def announce_size(self, size: int) -> None:
        """Tell the sender how large its next buffers are to be."""
        self.wire.back(self.subpartition.owner.resize, self.subpartition, size)

    def acknowledge_end_of_data(self) -> None:
        """Tell the sender that its end of data has been taken."""
        sender = self.subpartition.owner
        self.to_sender(
            sender.post, sender.control.end_of_data_acknowledged, self.subpartition.core.index
        )

    def to_sender(self, function: Callable[..., None], *arguments: Any) -> None:
        """Send the sender's task a message."""
        self.wire.back(function, *arguments)
