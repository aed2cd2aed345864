"""The account of one channel: what went in, what is on its way, what came out, what became state.

Fed where elements move; it never asks the cores at the two ends what they believe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ckptsim.models.barriers.barrier import Barrier, NetworkEvent, is_blocking
from ckptsim.sim.job.buffers.segment import Slice

Violate = Callable[..., None]


class Flow:
    """What has happened on one channel.

    receiver: number of the task at its end.
    sent_bytes, taken_bytes: by the sender and by the receiving task so far.
    blocked_by: the checkpoint whose barrier the receiver took last, with the sender stopped behind
    it; None once the sender was told to go on.
    sent_cut: per checkpoint, the bytes that the sender had written before its barrier; read_cut:
    those that the receiver's state holds; held_at_sender, held_at_receiver: those in its channel
    state.
    """

    def __init__(self, name: str, receiver: int, violate: Violate) -> None:
        self.name = name
        self.receiver = receiver
        self.sent_bytes = 0
        self.taken_bytes = 0
        self.blocked_by: int | None = None
        self.sent_cut: dict[int, int] = {}
        self.read_cut: dict[int, int] = {}
        self.held_at_sender: dict[int, int] = {}
        self.held_at_receiver: dict[int, int] = {}
        self._violate = violate
        self._stands = False
        # Of what a stretch has put on a wire only the size is known.
        self._on_way: deque[Slice | int] = deque()

    def sent(self, element: object) -> None:
        """Note an element that leaves the sender: none does behind one that blocks."""
        if self._stands:
            says = f"channel {self.name} sends {type(element).__name__} while it is blocked"
            self._violate("blocked_senders_send_nothing", says)
        if isinstance(element, Slice):
            self.sent_bytes += element.bytes
            self._on_way.append(element)
        elif isinstance(element, NetworkEvent):
            self._stands = is_blocking(element)

    def resumed(self) -> None:
        """Note that the sender goes on."""
        self._stands = False

    def taken(self, element: object) -> None:
        """Note an element that the task takes: data comes in the order of sending, once."""
        if not isinstance(element, Slice):
            return
        self.taken_bytes += element.bytes
        expected = self._on_way.popleft() if self._on_way else None
        if expected is not element and expected != element.bytes:
            says = f"channel {self.name} hands {element.bytes} bytes over out of turn"
            self._violate("order_is_kept", says)

    @property
    def on_way_bytes(self) -> int:
        """How many bytes were sent and not handed to the task."""
        return sum(_bytes(found) for found in self._on_way)

    def moved(self, sent_bytes: int, taken_bytes: int, on_way: list[Slice | int]) -> None:
        """Note what a stretch has moved at once, and what is on its way behind it, in order."""
        self.sent_bytes += sent_bytes
        self.taken_bytes += taken_bytes
        self._on_way = deque(on_way)
        if self.sent_bytes != self.taken_bytes + self.on_way_bytes:
            says = f"of {self.sent_bytes} bytes sent through channel {self.name} "
            says += f"{self.taken_bytes} were handed over and {self.on_way_bytes} are on their way"
            self._violate("every_record_is_somewhere", says)

    def barrier_taken(self, barrier: Barrier) -> None:
        """Note a barrier that the task takes."""
        if barrier.needs_alignment:
            self.blocked_by = barrier.checkpoint

    def told_to_resume(self) -> None:
        """Note that the receiver lets the sender go on: once per barrier that stopped it."""
        if self.blocked_by is None:
            says = f"the sender of channel {self.name} is resumed though nothing blocks it"
            self._violate("senders_are_resumed_once", says)
        self.blocked_by = None


def _bytes(found: Slice | int) -> int:
    return found if isinstance(found, int) else found.bytes
