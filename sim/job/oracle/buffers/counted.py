"""Channels and pools of the kernel as the oracle sees them: it counts them there, in their tables.

What must hold of each buffer the kernel checks itself (`compiled/kernel/base/counts.py`).  Python
learns of events, of the problem, and of data that moves while something may be: a flag of the
channel, or an instant of the task, says when that is.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.barrier import Announcement, NetworkEvent
from ckptsim.sim.job.buffers.compiled.columns import clock, counts, gate, task, writer
from ckptsim.sim.job.buffers.output import Slice
from ckptsim.sim.job.oracle.channels import ChannelOracle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel, CompiledGate
    from ckptsim.sim.job.buffers.compiled.output import CompiledWriter
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.job.oracle.buffers.counts import KernelNotes, Note
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import Violate


_NOTHING: deque[Any] = deque(maxlen=0)


class BufferChannel(ChannelOracle):
    """A channel of buffers. restored: sizes to be sent of restored in-flight data, oldest first."""

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
    """A channel of the reference, which counts its elements.  note: for its journal."""

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
        elif not isinstance(element, Announcement):  # a kernel logs the barrier alone
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


_WRONG = {
    counts.NO_CREDIT: "sends data without credit",
    counts.NO_CREDIT_EMPTY: "sends an empty buffer without credit",
    counts.NOT_LENT: "fills a buffer not lent",
    counts.NOT_FREE: "receives data without a free buffer",
    counts.FREED_TWICE: "frees a buffer twice",
}


class CountedChannel(BufferChannel):
    """A channel of the kernel, with data counted there. end: where it is read."""

    def __init__(
        self, sender: TaskOracle, receiver: TaskOracle, end: CompiledChannel, **settings: bool
    ) -> None:
        super().__init__(sender, receiver, **settings)
        self.end = end
        self._driver: CompiledDriver
        self._first = 0

    def begin(self, driver: CompiledDriver) -> None:
        """Find its counts in the tables, which are made now."""
        self._driver = driver
        self._first = driver.tables.counts_of(self.end.row)

    def _flag(self, flag: int, *, on: bool) -> None:
        words, place = self._driver.words, self._first + counts.FLAGS
        words[place] = words[place] | flag if on else words[place] & ~flag

    @property
    def sent_amount(self) -> int:
        """How much data has left the sender."""
        return self._driver.words[self._first + counts.SENT_BYTES]

    @property
    def taken_amount(self) -> int:
        """How much data has come to the task."""
        return self._driver.words[self._first + counts.TAKEN_BYTES]

    def expect(self, sizes: Iterable[int]) -> None:
        """Expect what its checkpoint has in flight, and hear of the sent data meanwhile."""
        super().expect(sizes)
        self._flag(counts.RESTORED, on=bool(self.restored))

    def hold(self, *, on: bool) -> None:
        """Hear of data that is taken."""
        self._flag(counts.HELD, on=on)

    def taken(self, element: object, /, *, priority: bool = False) -> None:
        """Note an event that is taken."""
        super().taken(element, priority=priority)
        if self.over is not None:
            self._flag(counts.OVER, on=True)

    def data_sent(self, element: Any) -> None:
        """Check data in the log of the kernel. It has counted it."""
        self.check_restored(element.bytes)
        if not self.restored:
            self._flag(counts.RESTORED, on=False)

    def overtaking_arrived(self, barrier: Any, busy_ns: int) -> None:
        """Note an unaligned barrier that has come to the front, when its task was so long busy."""
        instant = self.receiver.now_ns, busy_ns
        self.receiver.urgent.arrived(self.index, barrier.checkpoint, instant)

    def out_of_turn(self, size: int) -> None:
        """Report data that is not the sent data next."""
        self.violate("order_is_kept", f"hands {size} bytes over out of turn")


class CountedPool:
    """The segments of an output's pool that are out, at most `most`, `most_per_channel` of one."""

    def __init__(
        self,
        output: CompiledWriter,
        name: str,
        violate: Violate,
        *,
        place: int,
        most: int,
        most_per_channel: int,
    ) -> None:
        self.output = output
        self.name, self.place = name, place
        self._violate = violate
        self._most = most
        self._most_per_channel = most_per_channel

    def begin(self, driver: CompiledDriver) -> None:
        """Tell the kernel how many may be out."""
        driver.words[self.output.row + writer.MOST_OUT] = self._most
        driver.words[self.output.row + writer.MOST_OUT_OF_LANE] = self._most_per_channel

    @property
    def out(self) -> int:
        """How many are out."""
        return self.output.task.driver.words[self.output.row + writer.SEGMENTS_OUT]

    def wrong(self, *, given: bool, out: int, of_one: int) -> None:
        """Report that too many are out, or that one comes back that was not."""
        says = f"a segment of {self.name} comes back twice"
        if given:
            says = f"{out} segments of {self.name} are out, {of_one} of one channel; "
            says += f"at most {self._most} and {self._most_per_channel} may be"
        self._violate("buffers_are_accounted_for", says)


class CountedGate:
    """How many floating buffers of a gate hold data."""

    def __init__(self, of: CompiledGate) -> None:
        self._gate = of
        self.total = of.floating

    @property
    def filled(self) -> int:
        """How many hold data now."""
        return self._gate.task.driver.words[self._gate.row + gate.FILLED]


class CountsFollower:
    """Listens to the kernel during one attempt. notes: of a journal that learns it, too."""

    def __init__(
        self,
        driver: CompiledDriver,
        channels: Iterable[CountedChannel],
        pools: Iterable[CountedPool],
        violate: Violate,
        *,
        notes: KernelNotes | None = None,
    ) -> None:
        self._driver = driver
        self._notes = notes
        self._channels = {one.end.row: one for one in channels}
        self._pools = {one.output.row: one for one in pools}
        self._violate = violate
        for channel in self._channels.values():
            channel.begin(driver)
        for pool in self._pools.values():
            pool.begin(driver)

    def tell(self, what: int, number: int, item: int, size: int, records: int) -> None:
        """Hear one line. See `columns/clock.py`."""
        if self._notes is not None:
            self._notes.tell(what, number, item, size, records)
            if what >= clock.FIRST_JOURNALED:
                return
        if what == clock.POOL_WRONG:
            self._pools[number].wrong(given=item == 1, out=size, of_one=records)
            return
        oracle = self._channels[number]
        if what == clock.TAKEN_EVENT:
            oracle.taken(self._driver.event_in(item), priority=size != 0)
        elif what == clock.SENT_EVENT:
            oracle.sent(self._driver.event_in(item))
        elif what == clock.RESUMED:
            oracle.resumed()
        elif what == clock.OVERTAKING_ARRIVED:
            oracle.overtaking_arrived(self._driver.event_in(item), busy_ns=size)
        elif what == clock.SENT_SUSPECT:
            oracle.sent(Slice(size, records))
        elif what == clock.TAKEN_SUSPECT:
            oracle.receiver.data_taken(oracle)
        elif what == clock.OUT_OF_TURN:
            oracle.out_of_turn(size)
        else:
            says = f"channel {oracle.name} {_WRONG[item]}"
            self._violate("buffers_are_accounted_for", says)

    def recovered(self, number: int, size: int, records: int) -> None:
        """Note recovered data: it counts as sent, before anything that the sender sends."""
        self._channels[number].sent(Slice(size, records))

    def told_to_resume(self, number: int) -> None:
        """Note that the sender of a channel is asked to continue."""
        self._channels[number].told_to_resume()


def tell_of_records_after(of: CompiledTask, suspect_ns: int) -> None:
    """Have the kernel tell of each buffer that a task takes after an instant."""
    of.driver.words[of.row + task.SUSPECT_NS] = suspect_ns
