"""The sender's queue of one channel: barriers overtake, block and turn unaligned in here.

Events of high priority (unaligned barriers) stand in a section of their own before everything else.
Data never changes its order.  A blocking event that has been sent stops the queue, also its
priority section, until the receiver resumes it.  Of an unaligned checkpoint all data in the queue
is state.  The state of a timeoutable one is open until its barrier is sent or its time-out passes.
Then the data before the barrier is state, and the barrier overtakes it.

Nothing here is done per record and one call per buffer does O(1) work. `extend` and `poll_data`
move whole stretches.  Data elements are opaque: any object that is not a NetworkEvent.

Source: Apache Flink 1.20.3, PipelinedSubpartition. FLIP-76. Pull request 19723 for the time-out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

from ckptsim.models.barriers.barrier import Barrier, EndOfPartition, NetworkEvent, is_blocking
from ckptsim.models.barriers.channels.network import (
    Buffers,
    NetworkEffect,
    OutputStateFailed,
    OutputStateKnown,
    OutputStateOpened,
    PersistOutput,
)
from ckptsim.models.core import ProtocolError


class Subpartition:
    """One sender-side queue.

    index: names the subpartition in effects.
    outbox: the task's list of effects.
    blocked: whether the queue waits to be resumed.
    finished: whether the end of partition has been put in. What comes later is dropped.
    data_count, event_count: how many data elements and how many others are queued.
    next_sequence: the number that the next polled element gets. Every polled element consumes one.
    flush_requested: whether the last, unfinished buffer is to be sent and counted as it is.
    """

    __slots__ = (
        "_open_state",
        "_outbox",
        "_priority",
        "_queue",
        "blocked",
        "data_count",
        "event_count",
        "finished",
        "flush_requested",
        "index",
        "next_sequence",
    )

    def __init__(self, index: int, outbox: list[NetworkEffect]) -> None:
        self.index = index
        self.blocked = False
        self.finished = False
        self.data_count = 0
        self.event_count = 0
        self.next_sequence = 0
        self.flush_requested = False
        self._queue: deque[object] = deque()
        self._priority: list[NetworkEvent] | None = None  # most never need one
        self._open_state: int | None = None
        self._outbox = outbox

    def __len__(self) -> int:
        """Count all queued elements."""
        return self.data_count + self.event_count

    @property
    def open_state(self) -> int | None:
        """The timeoutable checkpoint with an open output state."""
        return self._open_state

    @property
    def backlog(self) -> int:
        """How many data elements the receiver is notified of.

        The last one is left out while it may still be written to: when nothing follows it and no
        flush is asked for.  A blocked queue shows of none.
        """
        if self.blocked or not self.data_count:
            return 0
        # A writer fills the last buffer only while nothing is after it.  Counting such a buffer
        # would make the receiver lend it memory that stays unused until the buffer is full.
        if self.flush_requested or self.finished or isinstance(self._queue[-1], NetworkEvent):
            return self.data_count
        return self.data_count - 1

    @property
    def head(self) -> object | None:
        """Return what `poll` takes next unless the queue is blocked, None when it is empty."""
        if self._priority:
            return self._priority[0]
        return self._queue[0] if self._queue else None

    @property
    def has_priority(self) -> bool:
        """Whether something of high priority is queued."""
        return bool(self._priority)

    @property
    def data_first(self) -> bool:
        """Whether the next element to be sent is data, which costs a credit. Events cost none."""
        if self._priority or not self._queue:
            return False
        return not isinstance(self._queue[0], NetworkEvent)

    def priority_elements(self) -> tuple[NetworkEvent, ...]:
        """Return the priority section, front first."""
        return tuple(self._priority or ())

    def normal_elements(self) -> tuple[object, ...]:
        """Return the normal section, front first."""
        return tuple(self._queue)

    def add_data(self, element: object) -> bool:
        """Append a data element. Returns False when the queue is finished and it was dropped."""
        if self.finished:
            return False
        self._queue.append(element)
        self.data_count += 1
        return True

    def extend(self, elements: Collection[object]) -> bool:
        """Append a stretch of data elements at once. Returns False when it was dropped."""
        if self.finished:
            return False
        self._queue.extend(elements)
        self.data_count += len(elements)
        return True

    def add_event(self, event: NetworkEvent) -> bool:
        """Append an event that is no barrier, after everything. Returns False when dropped."""
        if isinstance(event, Barrier):
            return self.add_barrier(event)
        if self.finished:
            return False
        self._queue.append(event)
        self.event_count += 1
        return True

    def add_barrier(self, barrier: Barrier) -> bool:
        """Put a barrier in. Returns False when the queue is finished and it was dropped.

        Leaves PersistOutput (unaligned, when there is data), or OutputStateFailed of an earlier
        checkpoint and OutputStateOpened (timeoutable) in the outbox.
        """
        if self.finished:
            return False
        self.event_count += 1
        # Of this checkpoint, data queued now was written before the barrier and will be read after
        # it: it belongs to neither snapshot, so it has to be state.  Data never moves. Only the
        # barrier does, so the order of records is kept.
        if barrier.is_unaligned:
            self._add_priority(barrier)
            if self.data_count:
                overtaken = self._data_in_front_of(None)
                self._outbox.append(PersistOutput(self.index, barrier.checkpoint, overtaken))
            return True
        if barrier.is_timeoutable:
            # At most one state is open: a newer checkpoint has superseded the older one. Its
            # acknowledgement must not wait for a barrier that may stay here for ever.
            self._fail_open_state()
            self._open_state = barrier.checkpoint
            self._outbox.append(OutputStateOpened(self.index, barrier.checkpoint))
        self._queue.append(barrier)
        return True

    def finish(self) -> bool:
        """Append the end of partition. Returns False when it was there already."""
        if self.finished:
            return False
        self._queue.append(EndOfPartition())
        self.event_count += 1
        self.finished = True
        return True

    def time_out(self, checkpoint: int) -> bool:
        """Let the queued barrier of a timeoutable checkpoint overtake. Return whether it did."""
        if self._open_state != checkpoint:
            return False
        # Before the barrier, not all that is queued: data after it belongs to the next checkpoint
        # and would be restored twice.
        barrier = self._open_barrier(checkpoint)
        in_front = self._data_in_front_of(barrier)
        self._queue.remove(barrier)
        self._add_priority(barrier.as_unaligned())
        self._open_state = None
        self._outbox.append(OutputStateKnown(self.index, checkpoint, in_front))
        return True

    def abort(self, checkpoint: int) -> None:
        """Give up the output state of a checkpoint. Its barrier stays where it is."""
        if self._open_state == checkpoint:
            self._fail_open_state()

    def poll(self) -> object | None:
        """Take the next element to send, None when there is none or the queue is blocked."""
        if self.blocked:
            return None
        queue = self._queue
        if self._priority:
            self.next_sequence += 1
            self.event_count -= 1
            event = self._priority.pop(0)
            # A barrier that timed out as the last of the queue leaves from here.  A request that
            # outlived it would be taken for one that is being met, and nothing would leave again.
            if not queue and not self._priority:
                self.flush_requested = False
            return event
        if not queue:
            return None
        element = queue.popleft()
        # Every polled element consumes a number, data as well: an announcement names its barrier by
        # it, and both ends have to count alike.
        self.next_sequence += 1
        if isinstance(element, NetworkEvent):
            self.event_count -= 1
            self._event_polled(element)
        else:
            self.data_count -= 1
        if not queue:
            self.flush_requested = False
        return element

    def poll_data(self, limit: int) -> list[object]:
        """Take up to `limit` data elements, stopping before the first event."""
        taken: list[object] = []
        if self.blocked or self._priority:
            return taken
        queue = self._queue
        while queue and len(taken) < limit and not isinstance(queue[0], NetworkEvent):
            taken.append(queue.popleft())
        self.data_count -= len(taken)
        self.next_sequence += len(taken)
        if not queue:
            self.flush_requested = False
        return taken

    def resume(self) -> None:
        """Continue after a blocking event. Raises ProtocolError when the queue is not blocked."""
        if not self.blocked:
            raise ProtocolError("illegal_state", state="not blocked", event="resume")
        self.blocked = False

    def _event_polled(self, event: NetworkEvent) -> None:
        if (
            isinstance(event, Barrier)
            and event.checkpoint == self._open_state
            and event.is_timeoutable
        ):
            # The barrier leaves in its turn: all before it has left before, so nothing is state.
            self._open_state = None
            self._outbox.append(OutputStateKnown(self.index, event.checkpoint, ()))
        # Only when it is taken: until then the data before it has to flow.
        if is_blocking(event):
            self.blocked = True

    def _add_priority(self, barrier: Barrier) -> None:
        if self._priority is None:
            self._priority = []
        self._priority.append(barrier)

    def _fail_open_state(self) -> None:
        if self._open_state is not None:
            self._outbox.append(OutputStateFailed(self.index, self._open_state))
            self._open_state = None

    def _open_barrier(self, checkpoint: int) -> Barrier:
        for element in self._queue:
            if (
                isinstance(element, Barrier)
                and element.is_timeoutable
                and element.checkpoint == checkpoint
            ):
                return element
        raise ProtocolError("lost_barrier", state=f"open state of {checkpoint}", event="time_out")

    def _data_in_front_of(self, stop: Barrier | None) -> Buffers:
        in_front: list[object] = []
        for element in self._queue:
            if element is stop:
                break
            if not isinstance(element, NetworkEvent):
                in_front.append(element)
        return tuple(in_front)
