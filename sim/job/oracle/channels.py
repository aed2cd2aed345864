"""What must hold of one channel: the sent data, blocked, resumed, taken and persisted, and when.

It learns where elements move. It never asks the cores at the two ends what they believe.  Elements
are data or events. What data are, and how they are counted, is a matter of the data plane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.barrier import (
    Announcement,
    Barrier,
    CancellationMarker,
    EndOfChannelState,
    EndOfData,
    EndOfPartition,
    NetworkEvent,
    is_blocking,
)
from ckptsim.scenarios.dialect import duration_text

if TYPE_CHECKING:
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.waits import Instant

FOR_EVER_NS = 1 << 62


class ChannelOracle:
    """Everything that has happened on one channel of one attempt.

    index, place: among the inputs of the receiver and the outputs of the sender.  keeps_order:
    barriers may not overtake.  pulled: the receiver takes from the sender's queue itself, so an
    element leaves when it is taken.
    restored_amount: how much of it the attempt began with, at both ends.  marker_due:
    EndOfChannelState has to leave, and has not yet.  old_channels: how many of the checkpoint it
    takes over.  final_watermarks: that have come, one of each at most.
    is_cancelled: the receiver has heard that the blocking checkpoint is aborted.
    cut: nothing leaves the sender any more: it has failed.
    drained: how its data has ended, as the receiver took EndOfData. acknowledged: the receiver has
    said so.  heard, over: when the sender heard that, and when EndOfPartition was taken.
    """

    # How each channel begins. A large job makes ten thousands of them.
    restored_amount = final_watermarks = 0
    marker_due = False
    old_channels = 1
    is_cancelled = cut = acknowledged = False
    drained: bool | None = None
    heard: Instant | None = None
    over: Instant | None = None
    _blocked = _ended = False
    _at_marker = False  # stopped after what its sender had recovered
    _priority_taken = -1
    _persisted = -1  # newest checkpoint for which input was persisted
    _ends_ns: int | None = None  # when EndOfPartition may leave

    def __init__(
        self, sender: TaskOracle, receiver: TaskOracle, *, keeps_order: bool, pulled: bool = False
    ) -> None:
        self.sender = sender
        self.receiver = receiver
        self.index, self.place = len(receiver.inputs), len(sender.outputs)
        self.keeps_order = keeps_order
        self.pulled = pulled
        self._open: dict[int, int | None] = {}  # checkpoint -> its time-out while it is queued
        sender.outputs.append(self)
        receiver.inputs.append(self)

    @property
    def name(self) -> str:
        """The name of the channel in sentences."""
        return f"{self.sender.name} -> {self.receiver.name}"

    # Data, by the plane -----------------------------------------------------------------------

    @property
    def sent_amount(self) -> int:
        """How much data has left the sender."""
        raise NotImplementedError

    @property
    def taken_amount(self) -> int:
        """How much data has come to the task."""
        raise NotImplementedError

    def data_sent(self, element: Any) -> None:
        """Check data that leaves the sender."""
        raise NotImplementedError

    def data_taken(self, element: Any) -> None:
        """Check data that the task takes."""
        raise NotImplementedError

    def persisted(self, checkpoint: int, elements: Any) -> None:
        """Check data that go into a checkpoint, where they have numbers."""

    def recovery_ended(self) -> None:
        """Check that all that a checkpoint had in flight was sent, where that is expected."""

    def hold(self, *, on: bool) -> None:
        """Note whether the task may read nothing of it until its snapshot."""

    # At the sender ----------------------------------------------------------------------------

    def sent_cut(self, checkpoint: int) -> int | None:
        """Return how much the sender had put in before its barrier, None where it sent none."""
        cut = self.sender.sent_cuts.get(checkpoint)
        return None if cut is None else cut[self.place]

    def sent(self, element: object, /) -> None:
        """Check that nothing leaves what blocks, and no data out of order."""
        if self._blocked:
            what = type(element).__name__
            self.violate("channels_block_and_resume", f"sends {what} while it is blocked")
        if self.cut:
            says = f"sends {type(element).__name__} after its sender has failed"
            self.violate("failed_tasks_do_nothing", says)
        if not isinstance(element, NetworkEvent):
            if self._ended:
                self.violate("end_marks_in_order", "sends data behind its end")
            self.data_sent(element)
            return
        self._blocked = is_blocking(element)
        if isinstance(element, Barrier):
            if element.checkpoint in self._open:
                self._open[element.checkpoint] = None  # it waits in the queue no longer
        elif isinstance(element, EndOfChannelState):
            self.marker_due = False
            self.recovery_ended()
        elif isinstance(element, EndOfData):
            self._ended = True
            if self.marker_due:
                says = "sends EndOfData without EndOfChannelState, for which its receiver waits"
                self.violate("end_marks_in_order", says)
        elif isinstance(element, EndOfPartition) and self._ends_ns is not None:
            late_ns = self.sender.now_ns - self._ends_ns
            if late_ns > self.sender.plane.wire_ns:
                says = f"sends EndOfPartition {duration_text(late_ns)} after its sender closed"
                self.violate("closes_when_all_is_over", says)

    def resumed(self) -> None:
        """Note that the sender continues after a blocking event."""
        self._blocked = False
        if self._ends_ns is not None:
            self._ends_ns = self.sender.now_ns

    def ends(self) -> None:
        """Note that the sender closes: EndOfPartition leaves now, or when the queue continues."""
        self._ends_ns = None if self.pulled else self.sender.now_ns

    def opened(self, checkpoint: int, due_ns: int | None = None) -> None:
        """Note an unknown output part. due_ns: when its queued barrier has to overtake."""
        if checkpoint not in self._open:
            self.sender.writing.open_outputs[checkpoint] += 1
        self._open[checkpoint] = due_ns or self._open.get(checkpoint)

    def settled(self, checkpoint: int) -> None:
        """Note that the output's part of a checkpoint is known, or will never be."""
        if checkpoint in self._open:
            del self._open[checkpoint]
            self.sender.writing.open_outputs[checkpoint] -= 1

    @property
    def unsettled(self) -> list[int]:
        """Return the checkpoints with an open output part."""
        return list(self._open)

    @property
    def due_ns(self) -> int:
        """Return when the first barrier that still waits in the queue is to overtake."""
        return min((due for due in self._open.values() if due is not None), default=FOR_EVER_NS)

    def overdue(self, now_ns: int) -> int | None:
        """Return a checkpoint with a barrier in the queue after its time-out."""
        for checkpoint, due_ns in self._open.items():
            if due_ns is not None and due_ns < now_ns:
                return checkpoint
        return None

    # At the receiver --------------------------------------------------------------------------

    def arrived(self, element: object, /) -> None:
        """Note an unaligned barrier that has come to the front."""
        if isinstance(element, Barrier) and element.is_unaligned:
            arrived = self.receiver.instant()
            self.receiver.urgent.arrived(self.index, element.checkpoint, arrived)

    def taken(self, element: object, /, *, priority: bool = False) -> None:
        """Check an element that the task takes. priority: it has overtaken the queue."""
        if not isinstance(element, NetworkEvent):
            self.receiver.data_taken(self)
            self.data_taken(element)
            return
        match element:
            case Barrier(checkpoint=checkpoint):
                if element.needs_alignment:
                    self.receiver.block(self.index, checkpoint)
                    self.is_cancelled = False
                if priority and checkpoint <= self._priority_taken:
                    says = f"barrier {checkpoint} comes behind {self._priority_taken}"
                    self.violate("order_is_kept", says)
                if priority:
                    self._priority_taken = max(self._priority_taken, checkpoint)
            # Events of the handler's host say so, too. On records it is known whatever that does.
            case Announcement(barrier):
                self.receiver.see(barrier)
            case CancellationMarker(checkpoint):
                self.receiver.cancel(checkpoint)
            case EndOfChannelState():
                self._at_marker = True
            case EndOfData(drain):
                self.drained = drain
            case EndOfPartition():
                if self.over is not None:
                    says = f"{self.receiver.name} gets EndOfPartition twice"
                    self.receiver.violate("end_marks_in_order", says)
                else:
                    self.over = self.receiver.instant()

    def told_to_resume(self) -> None:
        """Check that the sender is to continue once per barrier that stopped it."""
        by = self.receiver.blocked.pop(self.index, None)
        if by is None and not self._at_marker:
            self.violate("channels_block_and_resume", "is resumed though nothing blocks it")
        self.is_cancelled = self._at_marker = False

    def read_cut(self, checkpoint: int) -> int | None:
        """Return how much of it the receiver's state has, None without a snapshot."""
        cut = self.receiver.read_cuts.get(checkpoint)
        return None if cut is None else cut[self.index]

    def input_persisted(self, checkpoint: int, elements: Any) -> None:
        """Check data of the receiver's queue that go into a checkpoint: never an older one."""
        if checkpoint < self._persisted:
            says = f"persists input for checkpoint {checkpoint} after {self._persisted}"
            self.violate("checkpoint_ids_increase", says)
        self._persisted = max(self._persisted, checkpoint)
        self.persisted(checkpoint, elements)

    def violate(self, name: str, says: str) -> None:
        """Report a property that does not hold of the channel."""
        self.sender.violate(name, f"channel {self.name} {says}")
