"""The receiver's end of one channel: its queue, and which buffers become state.

A remote channel has a queue of its own.  A timeoutable barrier that arrives is announced before the
queue. A barrier of high priority is before it.  When an unaligned checkpoint starts at the task,
the data queued before its barrier is persisted, and what arrives from then on until the barrier
does.  The task thread says when to start and stop. Barriers are noted when they arrive, which may
be before or after.

The persister (`network.py`) distinguishes the two.

A local channel has no queue of its own: the receiver pulls from the sender's subpartition.

Source: Apache Flink 1.20.3, RemoteInputChannel, LocalInputChannel.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque

from ckptsim.models.barriers.barrier import Announcement, Barrier, NetworkEvent
from ckptsim.models.barriers.channels.network import (
    NetworkEffect,
    Persister,
    PersisterStatus,
    PersistInput,
    ResumeSender,
)
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError

# By name: members are looked up in the metaclass of their class, and every buffer asks for this.
_BARRIER_PENDING = PersisterStatus.BARRIER_PENDING


class _Placed:
    """An event in the queue and its sequence number."""

    __slots__ = ("event", "sequence")

    def __init__(self, event: NetworkEvent, sequence: int) -> None:
        self.event = event
        self.sequence = sequence


class RemoteInputChannel:
    """The receiver's queue of a channel over the network.

    index: names the channel in effects. outbox: the task's list of effects.
    data_count, event_count: how many data elements and how many others are queued.
    next_sequence: the number of the next element to arrive.
    last_barrier: the newest barrier with a remembered place, -1 for none.
    """

    __slots__ = (
        "_cut",
        "_data_arrived",
        "_gaps",
        "_last_sequence",
        "_outbox",
        "_priority",
        "_queue",
        "data_count",
        "event_count",
        "index",
        "last_barrier",
        "next_sequence",
        "persister",
    )

    def __init__(self, index: int, outbox: list[NetworkEffect]) -> None:
        self.index = index
        self.data_count = 0
        self.event_count = 0
        self.next_sequence = 0
        self.last_barrier = -1
        self.persister = Persister()
        self._cut = 0  # how many data elements had arrived before `last_barrier`
        self._data_arrived = 0
        # Sequence numbers of events, ascending. Those before all queued data may lack. Data has no
        # number of its own here, as there is so much of it: these tell which it has.
        self._gaps: list[int] = []
        self._last_sequence = -1  # where `last_barrier` is, -1 for nowhere
        self._queue: deque[object] = deque()
        self._priority: list[_Placed] | None = None
        self._outbox = outbox

    def __len__(self) -> int:
        """Count all queued elements."""
        return self.data_count + self.event_count

    @property
    def has_priority(self) -> bool:
        """Whether something of high priority is queued."""
        return bool(self._priority)

    def priority_elements(self) -> tuple[tuple[NetworkEvent, int], ...]:
        """Return the priority section with sequence numbers, front first."""
        return tuple((placed.event, placed.sequence) for placed in self._priority or ())

    def normal_elements(self) -> tuple[tuple[object, int | None], ...]:
        """Return the normal section, front first. Only events have a sequence number here."""
        return tuple(
            (element.event, element.sequence) if isinstance(element, _Placed) else (element, None)
            for element in self._queue
        )

    def arrive(self, element: object) -> None:
        """Take an element from the network, in order. A started checkpoint persists it."""
        if isinstance(element, NetworkEvent):
            self._event_arrives(element)
            return
        self._queue.append(element)
        self.next_sequence += 1
        self._data_arrived += 1
        self.data_count += 1
        persister = self.persister
        if persister.status is _BARRIER_PENDING:
            self._outbox.append(PersistInput(self.index, persister.last_seen, (element,)))

    def arrive_data(self, elements: list[object]) -> None:
        """Take a stretch of data elements at once."""
        self._queue.extend(elements)
        self.next_sequence += len(elements)
        self._data_arrived += len(elements)
        self.data_count += len(elements)
        persister = self.persister
        if persister.status is PersisterStatus.BARRIER_PENDING and elements:
            self._outbox.append(PersistInput(self.index, persister.last_seen, tuple(elements)))

    def peek(self) -> object | None:
        """Return what `poll` would take."""
        if self._priority:
            return self._priority[0].event
        element = self._queue[0] if self._queue else None
        return element.event if isinstance(element, _Placed) else element

    def poll(self) -> object | None:
        """Take the next element for the task, None when there is none."""
        if self._priority:
            self.event_count -= 1
            return self._priority.pop(0).event
        if not self._queue:
            return None
        element = self._queue.popleft()
        if isinstance(element, _Placed):
            self.event_count -= 1
            return element.event
        self.data_count -= 1
        return element

    def start(self, checkpoint: int) -> FailureReason | None:
        """Persist the queue before the barrier, and later arrivals. Return a failure, or None."""
        if checkpoint < self.last_barrier or self.persister.refuses(checkpoint):
            return FailureReason.CHECKPOINT_SUBSUMED
        if checkpoint > self.last_barrier:
            # The place of an older barrier must not cut this checkpoint's data.
            self._forget_barrier()
        # All that is queued is before the barrier, unless the barrier has come: then only what had
        # arrived before it (`_cut`) and has not been polled since (arrived minus queued).
        count = self.data_count
        if self.last_barrier != -1:
            count = min(count, max(0, self._cut - (self._data_arrived - self.data_count)))
        if count:
            buffers = self._first_data(count)
            self._outbox.append(PersistInput(self.index, checkpoint, buffers))
        # Last: arriving data is persisted from here on, so queued data would be persisted twice.
        self.persister.start(checkpoint)
        return None

    def stop(self, checkpoint: int) -> None:
        """Persist no more for this checkpoint."""
        self.persister.stop(checkpoint)
        if checkpoint == self.last_barrier:
            self._forget_barrier()

    def prioritize(self, sequence: int) -> None:
        """Move the announced barrier to the front, unchanged in kind.

        Raises ProtocolError: `illegal_state` when the barrier noted last does not stand there or
        has overtaken already, `no_such_element` when nothing is there.  The element has then left
        the queue, data too, as in the original.
        """
        if self.persister.status is not PersisterStatus.BARRIER_RECEIVED:
            state = self.persister.status.name
            raise ProtocolError("illegal_state", state=state, event=sequence)
        priority = self._priority or []
        for placed in priority:
            if placed.sequence == sequence:
                self._priority = [other for other in priority if other is not placed]
                self.event_count -= 1
                raise ProtocolError("illegal_state", state="it has overtaken", event=sequence)
        for element in self._queue:
            if isinstance(element, _Placed) and element.sequence == sequence:
                self._queue.remove(element)
                if sequence != self._last_sequence:
                    self.event_count -= 1
                    state = f"the barrier noted last is {self._last_sequence}"
                    raise ProtocolError("illegal_state", state=state, event=sequence)
                self._add_priority(element)
                return
        if self._remove_data(sequence):
            raise ProtocolError("illegal_state", state="data stands there", event=sequence)
        raise ProtocolError("no_such_element", state="nothing there", event=sequence)

    def resume(self) -> None:
        """Ask the host to resume the sender."""
        self._outbox.append(ResumeSender(self.index))

    def _event_arrives(self, event: NetworkEvent) -> None:
        placed = _Placed(event, self.next_sequence)
        self._add_gap(self.next_sequence)
        self.next_sequence += 1
        self.event_count += 1
        if not isinstance(event, Barrier):
            self._queue.append(placed)
            return
        if event.is_unaligned:
            self._add_priority(placed)
        else:
            self._queue.append(placed)
            if event.is_timeoutable:
                announcement = Announcement(event, placed.sequence)
                self.event_count += 1
                self._add_priority(_Placed(announcement, placed.sequence))
        # Noted on arrival, though the task may poll the barrier much later: arrival cuts the data
        # that belongs to the checkpoint, polling only says when the task acts on it.
        accepted = self.persister.barrier_arrived(event.checkpoint)
        if accepted and event.checkpoint > self.last_barrier:
            self.last_barrier = event.checkpoint
            self._last_sequence = placed.sequence
            self._cut = self._data_arrived

    def _add_gap(self, sequence: int) -> None:
        """Note that no data has a number. Forget the gaps before all data that is queued."""
        gaps = self._gaps
        first = self._data_arrived - self.data_count
        forgotten = self._forgotten_gaps if gaps else 0
        while gaps and gaps[0] - forgotten <= first:
            del gaps[0]
            forgotten += 1
        gaps.append(sequence)

    @property
    def _forgotten_gaps(self) -> int:
        return self.next_sequence - self._data_arrived - len(self._gaps)

    def _remove_data(self, sequence: int) -> bool:
        """Take the data element with a number out of the queue, as if it had never arrived."""
        place = bisect_left(self._gaps, sequence)
        if sequence in self._gaps[place : place + 1]:
            return False
        number = sequence - self._forgotten_gaps - place
        index = number - (self._data_arrived - self.data_count)
        if not 0 <= index < self.data_count:
            return False
        data = [n for n, element in enumerate(self._queue) if not isinstance(element, _Placed)]
        del self._queue[data[index]]
        self.data_count -= 1
        self._data_arrived -= 1
        self._cut -= number < self._cut
        self._gaps.insert(place, sequence)
        return True

    def _forget_barrier(self) -> None:
        self.last_barrier = -1
        self._last_sequence = -1

    def _add_priority(self, placed: _Placed) -> None:
        if self._priority is None:
            self._priority = []
        self._priority.append(placed)

    def _first_data(self, count: int) -> tuple[object, ...]:
        found: list[object] = []
        for element in self._queue:
            if len(found) == count:
                break
            if not isinstance(element, _Placed):
                found.append(element)
        return tuple(found)


class LocalInputChannel:
    """The receiver's end of a channel inside one process: it pulls from the sender's queue."""

    __slots__ = ("_outbox", "index", "persister")

    def __init__(self, index: int, outbox: list[NetworkEffect]) -> None:
        self.index = index
        self.persister = Persister()
        self._outbox = outbox

    def pulled(self, element: object) -> None:
        """Note what the task has just pulled. Data of a started checkpoint is persisted."""
        if isinstance(element, Barrier):
            self.persister.barrier_arrived(element.checkpoint)
        elif self.persister.status is PersisterStatus.BARRIER_PENDING and not isinstance(
            element, NetworkEvent
        ):
            effect = PersistInput(self.index, self.persister.last_seen, (element,))
            self._outbox.append(effect)

    def start(self, checkpoint: int) -> FailureReason | None:
        """Persist the elements pulled from now on. Returns why not, or None."""
        if self.persister.refuses(checkpoint):
            return FailureReason.CHECKPOINT_SUBSUMED
        self.persister.start(checkpoint)
        return None

    def stop(self, checkpoint: int) -> None:
        """Persist no more for this checkpoint."""
        self.persister.stop(checkpoint)
