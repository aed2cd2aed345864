"""The world's own account of one channel: what was sent, blocked, resumed and persisted, and when.

Fed by the world where elements move; it never asks the cores at the two ends what they believe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers import Barrier, EndOfPartition
from ckptsim.sim.job.records.closing_account import PROPERTY, waits_for_its_end
from ckptsim.sim.job.records.parts import REMEMBERED
from ckptsim.sim.job.records.snapshot import Element

if TYPE_CHECKING:
    from ckptsim.sim.job.records.link import Link


class ChannelAccount:
    """What has happened on one channel of one attempt.

    urgent: checkpoints whose unaligned barrier has arrived and was not taken yet.
    blocked_by: the checkpoint whose barrier the receiver took last, with the sender stopped behind
    it; None once the sender was told to go on.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._cuts: dict[int, int] = {}
        self._standing = False
        self._sent = 0
        self._priority_taken = -1
        self._persisted = -1  # newest checkpoint for which input was persisted
        self._ends_ns: int | None = None  # when EndOfPartition may leave
        self._open: dict[int, int | None] = {}  # checkpoint -> its time-out while it is queued
        self.urgent: set[int] = set()
        self.blocked_by: int | None = None

    # --- at the sender ---

    def begins_at(self, number: int) -> None:
        """Note that the first records, up to a number, are at the receiver from the beginning."""
        self._sent = number

    def barrier_queued(self, barrier: Barrier, emitted: int) -> None:
        """Note a barrier that is put into the queue behind `emitted` records."""
        self._cuts[barrier.checkpoint] = emitted
        if len(self._cuts) > REMEMBERED:
            del self._cuts[min(self._cuts)]
        if barrier.is_timeoutable and barrier.timeout_ns is not None:
            due_ns = max(self._link.attempt.env.now, barrier.timestamp_ns + barrier.timeout_ns)
            self._open[barrier.checkpoint] = due_ns

    def sent(self, element: object, *, blocks: bool) -> None:
        """Note an element that leaves the queue: none does behind one that blocks."""
        if self._standing:
            self._violate("blocked_senders_send_nothing", f"sends {element} while it is blocked")
        self._standing = blocks
        if isinstance(element, EndOfPartition):
            self._check_end()
        if isinstance(element, Barrier) and element.checkpoint in self._open:
            self._open[element.checkpoint] = None  # it waits in the queue no longer
        if isinstance(element, tuple):
            self._in_order("sends", element[0], self._sent)
            self._sent = element[0]

    def resumed(self) -> None:
        """Note that the queue goes on."""
        self._standing = False
        if self._ends_ns is not None:
            self._ends_ns = self._link.attempt.env.now

    def ends(self) -> None:
        """Note that the sender closes: EndOfPartition leaves now, or when the queue goes on."""
        if waits_for_its_end(self._link.attempt.job):
            self._ends_ns = self._link.attempt.env.now

    def opened(self, checkpoint: int) -> None:
        """Note that the output's part of a checkpoint is not known yet."""
        self._open.setdefault(checkpoint, None)

    def settled(self, checkpoint: int) -> None:
        """Note that the output's part of a checkpoint is known, or will never be."""
        self._open.pop(checkpoint, None)

    @property
    def unsettled(self) -> list[int]:
        """Return the checkpoints whose output part is not known."""
        return list(self._open)

    def overdue(self, now_ns: int) -> int | None:
        """Return a checkpoint whose barrier still waits in the queue after its time-out."""
        for checkpoint, due_ns in self._open.items():
            if due_ns is not None and due_ns < now_ns:
                return checkpoint
        return None

    # --- at the receiver ---

    def arrived(self, element: object) -> None:
        """Note an element that comes off the wire."""
        if isinstance(element, Barrier) and element.is_unaligned:
            self.urgent.add(element.checkpoint)

    def barrier_taken(self, barrier: Barrier, *, priority: bool) -> None:
        """Note a barrier that the task takes: those of high priority keep their order."""
        self.urgent.discard(barrier.checkpoint)
        if barrier.needs_alignment:
            self.blocked_by = barrier.checkpoint
        if not priority:
            return
        if barrier.checkpoint <= self._priority_taken:
            says = f"barrier {barrier.checkpoint} comes behind {self._priority_taken}"
            self._violate("order_is_kept", says)
        self._priority_taken = max(self._priority_taken, barrier.checkpoint)

    def record_taken(self, number: int, before: int) -> None:
        """Note a record that the task takes, after `before`."""
        self._in_order("delivers", number, before)

    def told_to_resume(self) -> bool:
        """Note that the receiver lets the sender go on; say whether a barrier had stopped it."""
        stands = self.blocked_by is not None
        if not stands:
            self._violate("senders_are_resumed_once", "is resumed though nothing blocks it")
        self.blocked_by = None
        return stands

    def input_persisted(self, checkpoint: int, elements: tuple[Element, ...]) -> None:
        """Note records of the receiver's queue that go into a checkpoint: never an older one."""
        if checkpoint < self._persisted:
            says = f"persists input for checkpoint {checkpoint} after {self._persisted}"
            self._violate("persisted_ids_increase", says)
        self._persisted = max(self._persisted, checkpoint)
        self.persisted(checkpoint, elements)

    def persisted(self, checkpoint: int, elements: tuple[Element, ...]) -> None:
        """Note records that go into a checkpoint: all were sent before its barrier."""
        cut = self._cuts.get(checkpoint)
        late = [] if cut is None else [number for number, _ in elements if number > cut]
        if late:
            says = f"record {late[0]}, sent after the barrier, goes into checkpoint {checkpoint}"
            self._violate("persisted_lies_before_the_barrier", says)

    def _check_end(self) -> None:
        late_ns = self._link.attempt.env.now - (self._ends_ns or 0)
        if self._ends_ns is not None and late_ns:
            self._violate(PROPERTY, f"sends EndOfPartition {late_ns} ns after its sender closed")

    def _in_order(self, does: str, number: int, before: int) -> None:
        if number != before + 1:
            self._violate("order_is_kept", f"{does} record {number} after {before}")

    def _violate(self, name: str, says: str) -> None:
        self._link.attempt.violate(name, f"channel {self._link.name} {says}")
