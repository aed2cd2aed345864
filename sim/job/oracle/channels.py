"""What must hold of one channel: what was sent, blocked, resumed, taken and persisted, and when.

Told where elements move; it never asks the cores at the two ends what they believe.
"""

from __future__ import annotations

from collections import deque
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
from ckptsim.sim.job.oracle.observer import ChannelObserver

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.urgent import Instant

AT_ONCE = "end_of_partition_leaves_at_once"
FOR_EVER_NS = 1 << 62
_NOTHING: deque[Any] = deque(maxlen=0)


class ChannelOracle(ChannelObserver):
    """What has happened on one channel of one attempt.

    index: among the inputs of the receiver.  keeps_order: barriers may not overtake.  pulled: the
    receiver takes from the sender's queue itself, so an element leaves when it is taken.
    restored_amount: how much of it the attempt began with, at both ends.  restored: the sizes still
    to be sent of that, oldest first, where they are told.  marker_due: EndOfChannelState
    has to leave, and has not yet.  old_channels: how many of the checkpoint it takes over.
    final_watermarks: that have come, one of each at most.
    sent_cut: per checkpoint, how much the sender had put in before its barrier; read_cut: how much
    of it the receiver's state has.
    is_cancelled: the receiver has heard that the checkpoint whose barrier stops the sender is given
    up.
    cut: nothing leaves the sender any more: it has failed.
    drained: how its data has ended, as the receiver took EndOfData; acknowledged: the receiver has
    said so.  heard, over: when the sender heard that, and when EndOfPartition was taken.
    """

    # How each channel begins; a large job makes ten thousands of them.
    restored_amount = final_watermarks = 0
    restored: deque[int] = _NOTHING
    marker_due = False
    old_channels = 1
    is_cancelled = cut = acknowledged = False
    drained: bool | None = None
    heard: Instant | None = None
    over: Instant | None = None
    _sent_amount = _taken_amount = 0
    _blocked = _ended = False
    _at_marker = False  # stopped behind what its sender had recovered
    _number = _taken_number = 0  # of the last element sent and taken
    _priority_taken = -1
    _keeps_splits: bool | None = None  # not looked at before the attempt has begun
    _persisted = -1  # newest checkpoint for which input was persisted
    _memory: int | None = None  # how much both ends may hold, where it is bounded
    _ends_ns: int | None = None  # when EndOfPartition may leave

    def __init__(
        self, sender: TaskOracle, receiver: TaskOracle, *, keeps_order: bool, pulled: bool = False
    ) -> None:
        self.sender = sender
        self.receiver = receiver
        self.index = len(receiver.inputs)
        self.keeps_order = keeps_order
        self.pulled = pulled
        self.sent_cut: dict[int, int] = {}
        self.read_cut: dict[int, int] = {}
        self._plane = sender.plane
        # Data without numbers that were sent and not taken.
        self._on_way: deque[Any] = deque()
        self._read: dict[int, int] = {}  # of each split, the latest record that was taken
        self._open: dict[int, int | None] = {}  # checkpoint -> its time-out while it is queued

    @property
    def name(self) -> str:
        """The name of the channel in sentences."""
        return f"{self.sender.name} -> {self.receiver.name}"

    @property
    def sent_amount(self) -> int:
        """How much data has left the sender."""
        return self._sent_amount

    @property
    def taken_amount(self) -> int:
        """How much data has come to the task."""
        return self._taken_amount

    # At the sender ----------------------------------------------------------------------------

    def expect(self, sizes: Iterable[int]) -> None:
        """Expect that data of these sizes is sent first: a checkpoint has it in flight."""
        self.restored = deque(sizes)

    def preloaded(self, elements: Any, /) -> None:
        """Note data that are at the receiver from the beginning."""
        self._number = len(elements)
        self._sent_amount += sum(map(self._plane.amount, elements))

    def takes_over(self, channels: int, /) -> None:
        """Note how many channels of the checkpoint it stands for."""
        self.old_channels = channels

    def watermark_polled(self) -> None:
        """Note that a final watermark comes to the task."""
        self.final_watermarks += 1

    def log_cut(self, first: int, checkpoint: int, /) -> None:
        """Check that what a complete checkpoint replays is still logged.

        It is all behind what the receiver's state has: that may have been taken long before the
        sender's barrier came, when the barrier of another channel was there.
        """
        read = self.read_cut.get(checkpoint)
        if read is not None and first > read + 1:
            says = f"has its log from {first} on, but checkpoint {checkpoint} needs {read + 1}"
            self._violate("logs_keep_what_is_needed", says)

    def memory_lent(self, most: int, /) -> None:
        """Note how much both ends may hold; more was recovered where that is more."""
        self._memory = max(most, self._number)

    def credited(self, credit: int, receiver: int, /) -> None:
        """Check that the receiver gives no more credit than it has buffers."""
        if credit > receiver:
            says = f"has credit for {credit} buffers of {receiver}"
            self._violate("credits_stay_within_bounds", says)

    def _check_memory(self) -> None:
        """Check that what the receiver began with is taken out of its sender's pool."""
        written = self._plane.written(self.sender.task)[self.sender.outputs.index(self)]
        held = written - self.taken_amount
        if self._memory is not None and held > self._memory:
            says = f"holds {held} buffers at both ends, {self._memory} at most"
            self._violate("credits_stay_within_bounds", says)

    def barrier_queued(self, checkpoint: int, written: int, due_ns: int | None) -> None:
        """Note a barrier that is put into the queue behind so much data; due_ns: its time-out."""
        self.sent_cut[checkpoint] = written
        if due_ns is not None:
            self.opened(checkpoint)
            self._open[checkpoint] = due_ns

    def sent(self, element: object, /) -> None:
        """Check that nothing leaves behind what blocks, and no data out of order."""
        if self._blocked:
            what = type(element).__name__
            self._violate("blocked_senders_send_nothing", f"sends {what} while it is blocked")
        if self.cut:
            says = f"sends {type(element).__name__} after its sender has failed"
            self._violate("failed_tasks_do_nothing", says)
        if isinstance(element, EndOfChannelState):
            self.marker_due = False
            if self.restored:
                self._violate("order_is_kept", "says that its state has ended before it has")
        if not isinstance(element, NetworkEvent):
            self._data_sent(element)
            return
        self._blocked = is_blocking(element)
        if isinstance(element, Barrier):
            if element.checkpoint in self._open:
                self._open[element.checkpoint] = None  # it waits in the queue no longer
        elif isinstance(element, EndOfData):
            self._ended = True
            if self.marker_due:
                says = "sends EndOfData without EndOfChannelState, for which its receiver waits"
                self._violate("end_marks_in_order", says)
        elif isinstance(element, EndOfPartition) and self._ends_ns is not None:
            late_ns = self.sender.now_ns - self._ends_ns
            if late_ns > self._plane.wire_ns:
                self._violate(
                    AT_ONCE,
                    f"sends EndOfPartition {duration_text(late_ns)} after its sender closed",
                )

    def _data_sent(self, element: object) -> None:
        amount = self._plane.amount(element)
        self._sent_amount += amount
        self._check_restored(amount)
        if self._memory is not None:
            self._check_memory()
        self._check_end()
        number = self._plane.number(element)
        if number is None:
            self._on_way.append(element)
        else:
            self._in_order("sends", number, self._number)
            self._number = number

    def _check_restored(self, amount: int) -> None:
        """Check that what a checkpoint has in flight is sent first, piece by piece."""
        if self.restored and (expected := self.restored.popleft()) != amount:
            says = f"sends {amount} bytes where its checkpoint has {expected} in flight"
            self._violate("order_is_kept", says)

    def _check_end(self) -> None:
        if self._ended:
            self._violate("end_marks_in_order", "sends data behind its end")

    def resumed(self) -> None:
        """Note that the sender continues."""
        self._blocked = False
        if self._ends_ns is not None:
            self._ends_ns = self.sender.now_ns

    def ends(self) -> None:
        """Note that the sender closes: EndOfPartition leaves now, or when the queue continues."""
        self._ends_ns = None if self.pulled else self.sender.now_ns

    def opened(self, checkpoint: int) -> None:
        """Note that the output's part of a checkpoint is not known yet."""
        if checkpoint not in self._open:
            self._open[checkpoint] = None
            self.sender.open_outputs[checkpoint] += 1

    def settled(self, checkpoint: int) -> None:
        """Note that the output's part of a checkpoint is known, or will never be."""
        if checkpoint in self._open:
            del self._open[checkpoint]
            self.sender.open_outputs[checkpoint] -= 1

    @property
    def unsettled(self) -> list[int]:
        """Return the checkpoints whose output part is not known."""
        return list(self._open)

    @property
    def due_ns(self) -> int:
        """Return when the first barrier that still waits in the queue is to overtake."""
        return min((due for due in self._open.values() if due is not None), default=FOR_EVER_NS)

    def overdue(self, now_ns: int) -> int | None:
        """Return a checkpoint whose barrier still waits in the queue after its time-out."""
        for checkpoint, due_ns in self._open.items():
            if due_ns is not None and due_ns < now_ns:
                return checkpoint
        return None

    # At the receiver --------------------------------------------------------------------------

    def hold(self, *, on: bool) -> None:
        """Note whether the task may read nothing of it until its snapshot."""

    def arrived(self, element: object, /) -> None:
        """Note an unaligned barrier that has come to the front."""
        if isinstance(element, Barrier) and element.is_unaligned:
            arrived = self.receiver.instant()
            self.receiver.urgent.arrived(self.index, element.checkpoint, arrived)

    def taken(self, element: object, /, *, priority: bool = False) -> None:
        """Check that data, and barriers of high priority, are taken in the order of sending."""
        if isinstance(element, NetworkEvent):
            self._event_taken(element, priority=priority)
            return
        self.receiver.data_taken(self)
        amount, number = self._plane.amount(element), self._plane.number(element)
        self._taken_amount += amount
        if number is not None:
            self._in_order("delivers", number, self._taken_number)
            self._taken_number = number
            if self._keeps_splits is None:
                self._keeps_splits = self._in_order_by_split
            if self._keeps_splits:
                self._check_split(element)
            return
        expected = self._on_way.popleft() if self._on_way else None
        if expected is not element:
            self._violate("order_is_kept", f"hands {amount} bytes over out of turn")

    @property
    def _in_order_by_split(self) -> bool:
        """Say whether it brings the records of a split from their source, in their order.

        Numbers in a channel begin anew with an attempt; identities show the order of what was in
        flight before.  A rescale deals that out over channels.
        """
        was_rescaled = self.sender.lifecycle.was_rescaled
        return not was_rescaled and self._plane.sends_splits_in_order(self.sender.task)

    def _check_split(self, element: object) -> None:
        """Check that a record of a split is behind those that were read before it."""
        record = self._plane.split_and_place(element)
        if record is None:
            return
        split, place = record
        latest = self._read.get(split, -1)
        if place < latest:
            says = f"delivers record {place} of split {split} behind {latest}"
            self._violate("order_is_kept", says)
        self._read[split] = max(place, latest)

    def _event_taken(self, event: NetworkEvent, *, priority: bool) -> None:
        match event:
            case Barrier(checkpoint=checkpoint):
                if event.needs_alignment:
                    self.receiver.blocked[self.index] = checkpoint
                    self.is_cancelled = False
                if priority and checkpoint <= self._priority_taken:
                    says = f"barrier {checkpoint} comes behind {self._priority_taken}"
                    self._violate("order_is_kept", says)
                if priority:
                    self._priority_taken = max(self._priority_taken, checkpoint)
            # The handler's host tells of these, too; on records they are known whatever it does.
            case Announcement(barrier):
                self.receiver.seen(barrier)
            case CancellationMarker(checkpoint):
                self.receiver.cancelled(checkpoint)
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
        """Check that the sender is told to continue once per barrier that stopped it."""
        by = self.receiver.blocked.pop(self.index, None)
        if by is None and not self._at_marker:
            self._violate("senders_are_resumed_once", "is resumed though nothing blocks it")
        self.is_cancelled = self._at_marker = False

    def input_persisted(self, checkpoint: int, elements: Any) -> None:
        """Note data of the receiver's queue that go into a checkpoint: never an older one."""
        if checkpoint < self._persisted:
            says = f"persists input for checkpoint {checkpoint} after {self._persisted}"
            self._violate("persisted_ids_increase", says)
        self._persisted = max(self._persisted, checkpoint)
        self.persisted(checkpoint, elements)

    def persisted(self, checkpoint: int, elements: Any) -> None:
        """Check data that go into a checkpoint: all were sent before its barrier."""
        cut = self.sent_cut.get(checkpoint)
        if cut is None:
            return
        for element in elements:
            number = self._plane.number(element)
            if number is not None and number > cut:
                says = f"record {number}, sent after the barrier, goes into checkpoint {checkpoint}"
                self._violate("persisted_lies_before_the_barrier", says)
                return

    @property
    def on_way_amount(self) -> int:
        """How much was sent and not handed to the task."""
        return sum(map(self._plane.amount, self._on_way))

    def _in_order(self, does: str, number: int, before: int) -> None:
        if number != before + 1:
            self._violate("order_is_kept", f"{does} record {number} after {before}")

    def _violate(self, name: str, says: str) -> None:
        self.sender.violate(name, f"channel {self.name} {says}")
