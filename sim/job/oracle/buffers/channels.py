"""Channels of buffers: data are slices without numbers, of which a restore expects some first."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.barrier import Announcement, NetworkEvent
from ckptsim.sim.job.oracle.channels import ChannelOracle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ckptsim.sim.job.buffers.output import Slice
    from ckptsim.sim.job.oracle.buffers.journal import Note
    from ckptsim.sim.job.oracle.tasks import TaskOracle

_NOTHING: deque[Any] = deque(maxlen=0)


class BufferChannel(ChannelOracle):
    """A channel of buffers.

    restored: the sizes still to be sent of what a checkpoint had in flight, oldest first.
    """

    restored: deque[int] = _NOTHING

    def expect(self, sizes: Iterable[int]) -> None:
        """Expect that data of these sizes is sent first: a checkpoint has it in flight."""
        self.restored = deque(sizes)

    def recovery_ended(self) -> None:
        """Check that all of it was sent."""
        if self.restored:
            self.violate("order_is_kept", "says that its state has ended before it has")

    def check_restored(self, amount: int) -> None:
        """Check that what a checkpoint has in flight is sent first, piece by piece."""
        if self.restored and (expected := self.restored.popleft()) != amount:
            says = f"sends {amount} bytes where its checkpoint has {expected} in flight"
            self.violate("order_is_kept", says)


class SliceChannel(BufferChannel):
    """A channel of the reference, which counts what it hears; note: for its journal."""

    def __init__(
        self, sender: TaskOracle, receiver: TaskOracle, *, keeps_order: bool, pulled: bool
    ) -> None:
        super().__init__(sender, receiver, keeps_order=keeps_order, pulled=pulled)
        self.note: Note | None = None
        self._sent_amount = self._taken_amount = 0
        self._on_way: deque[Slice] = deque()

    @property
    def sent_amount(self) -> int:
        """How many bytes have left the sender."""
        return self._sent_amount

    @property
    def taken_amount(self) -> int:
        """How many bytes have come to the task."""
        return self._taken_amount

    def sent(self, element: object, /) -> None:
        """Check an element that leaves the sender."""
        if self.note is not None:
            self._tell(self.note, "sends", element)
        super().sent(element)

    def taken(self, element: object, /, *, priority: bool = False) -> None:
        """Check an element that the task takes."""
        if self.note is not None:
            self._tell(self.note, "delivers", element)
        super().taken(element, priority=priority)

    @staticmethod
    def _tell(note: Note, what: str, element: Any) -> None:
        if not isinstance(element, NetworkEvent):
            note(what, (element.bytes, element.records))
        elif not isinstance(element, Announcement):  # a kernel tells of the barrier alone
            note(what, str(element))

    def data_sent(self, element: Slice) -> None:
        """Count a slice."""
        self._sent_amount += element.bytes
        self.check_restored(element.bytes)
        self._on_way.append(element)

    def data_taken(self, element: Slice) -> None:
        """Check that slices are taken in the order of sending."""
        self._taken_amount += element.bytes
        expected = self._on_way.popleft() if self._on_way else None
        if expected is not element:
            self.violate("order_is_kept", f"hands {element.bytes} bytes over out of turn")
