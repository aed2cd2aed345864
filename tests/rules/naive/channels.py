"""The rules of both ends of a channel, stated naively: queues as lists of numbered elements.

Source: Apache Flink 1.20.3, PipelinedSubpartition, RemoteInputChannel and ChannelStatePersister.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckptsim.models.barriers import Barrier, OptionKind, channels
from ckptsim.models.barriers.barrier import (
    Announcement,
    CancellationMarker,
    EndOfChannelState,
    EndOfData,
    EndOfPartition,
    NetworkEvent,
)
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.rules.answers import Answer, Pick, Refused
from tests.rules.naive.naive import Naive

_BLOCKING = (
    OptionKind.ALIGNED,
    OptionKind.SAVEPOINT,
    OptionKind.TIMEOUTABLE,
    OptionKind.FORCED_ALIGNED,
)


def drawn_element(pick: Pick, checkpoint: int) -> NetworkEvent:
    """Return an event that may stand in a channel, barriers more often than others."""
    kind = pick.of((OptionKind.TIMEOUTABLE, OptionKind.UNALIGNED, *OptionKind))
    timeout_ns = 5 if kind is OptionKind.TIMEOUTABLE else None
    barrier = Barrier(max(0, checkpoint), 0, kind, timeout_ns)
    others = (CancellationMarker(checkpoint), EndOfData(), EndOfChannelState())
    found: NetworkEvent = pick.of((barrier, barrier, barrier, pick.of(others)))
    return found


class _Queue(Naive):
    """What both ends have: a priority section and a normal one, of (number, element)."""

    def __init__(self) -> None:
        self._first: list[tuple[int, Any]] = []
        self._rest: list[tuple[int, Any]] = []
        self._next = 0
        self._named = 0  # data elements so far
        self._checkpoint = 0
        self._failed = False

    def answer(self, event: Any) -> Answer | None:
        """Return what the core is to answer; nothing is promised behind a failure of the task."""
        if self._failed:
            return None
        answer = super().answer(event)
        self._failed = isinstance(answer, Refused)
        return answer

    def _data(self) -> list[Any]:
        return [each for _, each in self._rest if not isinstance(each, NetworkEvent)]

    def _head(self) -> Any:
        return (self._first or self._rest or [(0, None)])[0][1]

    def _pop(self) -> Any:
        section = self._first or self._rest
        return section.pop(0)[1] if section else None

    def _fresh(self, pick: Pick) -> Any:
        """Return a new data element, or an event."""
        self._named += 1
        if not pick.one_in(3):
            return f"data {self._named}"
        self._checkpoint += pick.of((0, 0, 1))
        return drawn_element(pick, self._checkpoint - pick.of((0, 0, 0, 1)))

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        core = core.core
        events = len(self._first) + len(self._rest) - len(self._data())
        yield "data_count", core.data_count, len(self._data())
        yield "event_count", core.event_count, events
        yield "length", len(core), len(self._first) + len(self._rest)
        yield "has_priority", core.has_priority, bool(self._first)
        yield "next_sequence", core.next_sequence, self._next


class InputChannelRules(_Queue):
    """What the receiver's end is to answer: (result, effects)."""

    def __init__(self, index: int, outbox: list[Any]) -> None:
        super().__init__()
        del outbox
        self._index = index
        self._status = "completed"
        self._seen = -1
        self._barrier = -1
        self._place = -1

    def refusals(self, event: Any) -> list[str]:
        """Return why a barrier cannot be moved to the front: the task fails of it."""
        if event[0] != "prioritize":
            return []
        sequence = event[1]
        if self._status != "received":
            return ["illegal_state"]
        overtaken = [each for each in self._first if each[0] == sequence]
        there = [each for each in self._rest if each[0] == sequence]
        if overtaken:  # what was found has left the queue
            self._first = [each for each in self._first if each is not overtaken[0]]
            return ["illegal_state"]
        if not there:
            return ["no_such_element"]
        if sequence != self._place or not isinstance(there[0][1], NetworkEvent):
            self._rest = [each for each in self._rest if each is not there[0]]
            return ["illegal_state"]
        return []

    def take(self, event: Any) -> Sequence[Any]:
        """Note a call, and return its result and effects."""
        name, *arguments = event
        match name:
            case "arrive":
                return [None, *self._arrive(arguments[0])]
            case "arrive_data":
                return [None, *self._arrive_all(arguments[0])]
            case "poll":
                return [self._pop()]
            case "peek":
                return [self._head()]
            case "start":
                return self._start(arguments[0])
            case "stop":
                return self._stop(arguments[0])
            case "prioritize":
                (moved,) = (each for each in self._rest if each[0] == arguments[0])
                self._rest = [each for each in self._rest if each is not moved]
                self._first.append(moved)
                return [None]
        return [None, channels.ResumeSender(self._index)]

    def _persists(self, elements: tuple[Any, ...]) -> list[Any]:
        pending = self._status == "pending" and elements
        return [channels.PersistInput(self._index, self._seen, elements)] if pending else []

    def _arrive_all(self, elements: list[Any]) -> list[Any]:
        for element in elements:
            self._rest.append((self._next, element))
            self._next += 1
        return self._persists(tuple(elements))

    def _arrive(self, element: Any) -> list[Any]:
        if not isinstance(element, NetworkEvent):
            return self._arrive_all([element])
        place, self._next = self._next, self._next + 1
        if not isinstance(element, Barrier):
            self._rest.append((place, element))
            return []
        if element.kind is OptionKind.UNALIGNED:
            self._first.append((place, element))
        else:
            self._rest.append((place, element))
            if element.kind is OptionKind.TIMEOUTABLE:
                self._first.append((place, Announcement(element, place)))
        number = element.checkpoint
        if number > self._seen or (number == self._seen and self._status != "completed"):
            self._status, self._seen = "received", number
            if number > self._barrier:
                self._barrier, self._place = number, place
        return []

    def _start(self, number: int) -> list[Any]:
        newer = self._status == "received" and self._seen > number
        if number < self._barrier or newer:
            return [FailureReason.CHECKPOINT_SUBSUMED]
        if number > self._barrier:
            self._barrier = self._place = -1
        cut = self._place if self._barrier != -1 else self._next
        data = [e for at, e in self._rest if at < cut and not isinstance(e, NetworkEvent)]
        effects = [channels.PersistInput(self._index, number, tuple(data))] if data else []
        if self._seen < number:
            self._status, self._seen = "pending", number
        return [None, *effects]

    def _stop(self, number: int) -> list[Any]:
        if number >= self._seen:
            self._status, self._seen = "completed", number
        if number == self._barrier:
            self._barrier = self._place = -1
        return [None]

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield from super().says(core)
        core = core.core
        first = tuple((element, place) for place, element in self._first)
        rest = tuple((e, at if isinstance(e, NetworkEvent) else None) for at, e in self._rest)
        yield "priority_elements", core.priority_elements(), first
        yield "normal_elements", core.normal_elements(), rest
        yield "last_barrier", core.last_barrier, self._barrier
        yield "last_seen", core.persister.last_seen, self._seen

    def stray(self, pick: Pick) -> Any:
        """Return what the network and the task may call next."""
        kind = pick.integer(0, 19)
        if kind < 8:
            return ("arrive", self._fresh(pick))
        if kind < 11:
            return ("poll",)
        checkpoint = max(0, self._checkpoint + pick.of((-1, 0, 0, 0, 1)))
        if kind < 14:
            return ("start", checkpoint)
        if kind < 16:
            return ("stop", checkpoint)
        if kind == 16 and self._place >= 0 and self._status == "received":
            queued = [at for at, _ in self._rest]
            return ("prioritize", self._place if self._place in queued else pick.of(queued or [0]))
        if kind == 17 and pick.one_in(3):
            places = [at for at, _ in (*self._rest, *self._first)]
            return ("prioritize", pick.of([*places, self._next]))
        if kind == 18:
            self._named += 2
            return ("arrive_data", [f"data {self._named - 1}", f"data {self._named}"])
        return pick.of((("peek",), ("resume",)))


class SubpartitionRules(_Queue):
    """What the sender's end is to answer: (result, effects)."""

    def __init__(self, index: int, outbox: list[Any]) -> None:
        super().__init__()
        del outbox
        self._index = index
        self._open: int | None = None
        self._blocked = False
        self._finished = False
        self._flush = False  # asked for, and something of what it was asked for is still there

    def refusals(self, event: Any) -> list[str]:
        """Return why a call is not allowed."""
        return ["illegal_state"] if event[0] == "resume" and not self._blocked else []

    def take(self, event: Any) -> Sequence[Any]:
        """Note a call, and return its result and effects."""
        name, *arguments = event
        match name:
            case "add_data" | "extend" | "add_event" | "add_barrier" | "finish":
                return self._add(name, arguments)
            case "time_out":
                return self._time_out(arguments[0])
            case "abort":
                return [None, *(self._fail_open() if self._open == arguments[0] else [])]
            case "poll":
                return self._poll()
            case "poll_data":
                return [self._poll_data(arguments[0])]
            case "request_flush":
                self._flush = True
                return [None]
        self._blocked = False
        return [None]

    def _add(self, name: str, arguments: list[Any]) -> list[Any]:
        if self._finished:
            return [False]
        if name == "finish":
            self._finished = True
            self._rest.append((0, EndOfPartition()))
        elif name == "extend":
            self._rest += [(0, each) for each in arguments[0]]
        elif isinstance(arguments[0], Barrier):
            return [True, *self._add_barrier(arguments[0])]
        else:
            self._rest.append((0, arguments[0]))
        return [True]

    def _add_barrier(self, barrier: Barrier) -> list[Any]:
        number = barrier.checkpoint
        if barrier.kind is OptionKind.UNALIGNED:
            self._first.append((0, barrier))
            data = tuple(self._data())
            return [channels.PersistOutput(self._index, number, data)] if data else []
        effects: list[Any] = []
        if barrier.kind is OptionKind.TIMEOUTABLE:
            effects = [*self._fail_open(), channels.OutputStateOpened(self._index, number)]
            self._open = number
        self._rest.append((0, barrier))
        return effects

    def _fail_open(self) -> list[Any]:
        number, self._open = self._open, None
        return [] if number is None else [channels.OutputStateFailed(self._index, number)]

    def _time_out(self, number: int) -> list[Any]:
        if self._open != number:
            return [False]
        at = next(
            at
            for at, (_, each) in enumerate(self._rest)
            if isinstance(each, Barrier)
            and (each.checkpoint, each.kind) == (number, OptionKind.TIMEOUTABLE)
        )
        barrier = self._rest[at][1]
        data = tuple(e for _, e in self._rest[:at] if not isinstance(e, NetworkEvent))
        self._rest = self._rest[:at] + self._rest[at + 1 :]
        self._first.append((0, Barrier(number, barrier.timestamp_ns, OptionKind.UNALIGNED)))
        self._open = None
        return [True, channels.OutputStateKnown(self._index, number, data)]

    def _pop(self) -> Any:
        element = super()._pop()
        self._flush = self._flush and self._head() is not None
        return element

    def _poll(self) -> list[Any]:
        if self._blocked or self._head() is None:
            return [None]
        normal = not self._first
        element = self._pop()
        self._next += 1
        effects: list[Any] = []
        if normal and isinstance(element, Barrier):
            timed = element.kind is OptionKind.TIMEOUTABLE
            if timed and element.checkpoint == self._open:
                self._open = None
                effects = [channels.OutputStateKnown(self._index, element.checkpoint, ())]
            self._blocked = element.kind in _BLOCKING
        self._blocked = self._blocked or isinstance(element, EndOfChannelState)
        return [element, *effects]

    def _poll_data(self, limit: int) -> list[Any]:
        taken: list[Any] = []
        while len(taken) < limit and not self._blocked and not self._first and self._rest:
            if isinstance(self._head(), NetworkEvent):
                break
            taken.append(self._pop())
            self._next += 1
        return taken

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield from super().says(core)
        core = core.core
        yield "priority_elements", core.priority_elements(), tuple(e for _, e in self._first)
        yield "normal_elements", core.normal_elements(), tuple(e for _, e in self._rest)
        yield "open_state", core.open_state, self._open
        yield "blocked", core.blocked, self._blocked
        yield "finished", core.finished, self._finished
        yield "head", core.head, self._head()
        head = self._head()
        data_first = head is not None and not isinstance(head, NetworkEvent)
        yield "data_first", core.data_first, data_first
        last = self._rest[-1][1] if self._rest else None
        unfinished = not isinstance(last, NetworkEvent) and not self._finished and not self._flush
        backlog = len(self._data()) - (1 if unfinished and self._data() else 0)
        yield "backlog", core.backlog, 0 if self._blocked else backlog
        yield "flush_requested", core.flush_requested, self._flush

    def stray(self, pick: Pick) -> Any:
        """Return what writer, network and checkpoints may call next."""
        queued = len(self._first) + len(self._rest)
        if queued < 2 and self._open is not None and pick.one_in(2):
            # A barrier times out as the last of its queue.
            return pick.of((("request_flush",), ("time_out", self._open), ("poll",)))
        kind = pick.integer(0, 19)
        if kind < 3 and not queued:
            self._checkpoint += 1
            return ("add_barrier", Barrier(self._checkpoint, 0, OptionKind.TIMEOUTABLE, 5))
        if kind < 8:
            element = self._fresh(pick)
            if not isinstance(element, NetworkEvent):
                return ("add_data", element)
            barrier = isinstance(element, Barrier) and pick.one_in(2)
            return ("add_barrier" if barrier else "add_event", element)
        if kind < 13:
            return ("resume",) if self._blocked and not pick.one_in(4) else ("poll",)
        checkpoint = self._checkpoint if self._open is None else self._open
        checkpoint += pick.of((0, 0, 0, 1))
        if kind < 15:
            return ("time_out", checkpoint)
        if kind == 15:
            return ("abort", checkpoint)
        rare = ("finish",) if pick.one_in(3) else ("resume",)
        other: Any = rare if pick.one_in(6) else ("poll",)
        if kind == 16:
            self._named += 2
            other = ("extend", [f"data {self._named - 1}", f"data {self._named}"])
        elif kind == 17:
            other = ("poll_data", pick.integer(1, 3))
        elif kind == 18 and queued:  # a host asks for a flush of what there is
            other = ("request_flush",)
        return other
