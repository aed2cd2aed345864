"""Run the vectors of suite `channel_state`: one input channel or one output subpartition.

Data elements are the pair (name, sequence number); the queue is shown front first, elements of high
priority with an exclamation mark, elements of an input queue with their sequence number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ckptsim.models.barriers import channels
from ckptsim.models.barriers.barrier import Announcement, Barrier, EndOfPartition, OptionKind
from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector
from ckptsim.sim.slots import Factory

Step = dict[str, Any]
Call = list[Any]
Observation = dict[str, Any]

# What Flink throws where a core raises ProtocolError of this kind; all others are illegal states.
THROWN = {"no_such_element": "NoSuchElementException"}


class _Driver(Protocol):
    outbox: list[channels.NetworkEffect]

    def do(self, step: Step) -> list[Call]:
        """Carry a step out; returns the calls that are no effects."""
        ...

    def observe(self) -> Observation:
        """Show the state in the words of the vectors."""
        ...


class _Input:
    """Drives a receiver's queue."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.outbox: list[channels.NetworkEffect] = []
        self.channel: channels.RemoteInputChannel = make(0, self.outbox)
        self.polled: str | None = None

    def do(self, step: Step) -> list[Call]:
        """Carry a step out; returns the calls that are no effects."""
        channel = self.channel
        self.polled = None
        match step["event"]:
            case "data":
                channel.arrive((step["id"], step["seq"]))
            case "barrier":
                channel.arrive(_barrier(step))
            case "eop":
                channel.arrive(EndOfPartition())
            case "poll":
                marked = channel.has_priority
                element = channel.poll()
                named = element[0] if isinstance(element, tuple) else element
                self.polled = _show(named, priority=marked)
            case "started":
                reason = channel.start(step["checkpoint"])
                if reason is not None:
                    return [["throw", "CheckpointException", reason.value]]
            case "stopped":
                channel.stop(step["checkpoint"])
            case "to_priority":
                channel.prioritize(step["seq"])
            case "resume":
                channel.resume()
            case other:
                raise ValueError(f"unknown event {other!r}")
        return []

    def observe(self) -> Observation:
        """Show the state in the words of the vectors."""
        channel = self.channel
        queue = [
            f"{_show(event, priority=True)}#{place}" for event, place in channel.priority_elements()
        ]
        for element, place in channel.normal_elements():
            if isinstance(element, tuple):
                queue.append(f"{_show(element[0], priority=False)}#{element[1]}")
            else:
                queue.append(f"{_show(element, priority=False)}#{place}")
        found: Observation = {
            "queue": queue,
            "persister": channel.persister.status.name,
            "last_seen": channel.persister.last_seen,
            "last_barrier": channel.last_barrier,
        }
        if self.polled is not None:
            found["polled"] = self.polled
        return found


class _Output:
    """Drives a sender's queue."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.outbox: list[channels.NetworkEffect] = []
        self.subpartition: channels.Subpartition = make(0, self.outbox)
        self.polled: str | None = None

    def do(self, step: Step) -> list[Call]:
        """Carry a step out; returns the calls that are no effects."""
        queue = self.subpartition
        self.polled = None
        match step["event"]:
            case "data":
                queue.add_data(step["id"])
            case "barrier":
                queue.add_barrier(_barrier(step))
            case "eop":
                queue.finish()
            case "poll":
                marked = queue.has_priority and not queue.blocked
                self.polled = _show(queue.poll(), priority=marked)
            case "resume":
                queue.resume()
            case "aligned_timeout":
                queue.time_out(step["checkpoint"])
            case "abort":
                queue.abort(step["checkpoint"])
            case other:
                raise ValueError(f"unknown event {other!r}")
        return []

    def observe(self) -> Observation:
        """Show the state in the words of the vectors."""
        queue = self.subpartition
        shown = [_show(event, priority=True) for event in queue.priority_elements()]
        shown += [_show(element, priority=False) for element in queue.normal_elements()]
        found: Observation = {
            "queue": shown,
            "blocked": queue.blocked,
            "backlog": queue.backlog,
            "next_seq": queue.next_sequence,
        }
        if self.polled is not None:
            found["polled"] = self.polled
        return found


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Compare calls, queue and state after every step."""
    driver = _driver(vector["handler"], make)
    for number, (step, expected) in enumerate(zip(vector["steps"], vector["expect"], strict=True)):
        driver.outbox.clear()
        try:
            calls = driver.do(step)
        except ProtocolError as error:
            calls = [["throw", THROWN.get(error.kind, "IllegalStateException")]]
        found = driver.observe()
        found["calls"] = [_call(effect) for effect in driver.outbox] + calls
        for key in sorted(expected.keys() | found.keys()):
            if expected.get(key) != found.get(key):
                where = f"step {number} ({step['event']}), {key}"
                return Mismatch(where, repr(expected.get(key)), repr(found.get(key)))
    return None


def _slot(vector: Vector) -> str | None:
    """Name the end of the channel."""
    return {"input-channel": "input_channel", "output-subpartition": "output_subpartition"}.get(
        vector["handler"]
    )


def _driver(end: str, make: Factory | None) -> _Driver:
    match end:
        case "input-channel":
            return _Input(make or channels.RemoteInputChannel)
        case "output-subpartition":
            return _Output(make or channels.Subpartition)
        case other:
            raise UserError(f"found handler {other!r}, expected input-channel, output-subpartition")


def _barrier(step: Step) -> Barrier:
    kind = OptionKind[step["opt"].upper()]
    timeout_ns = 1 if kind is OptionKind.TIMEOUTABLE else None
    return Barrier(step["checkpoint"], 0, kind, timeout_ns)


def _show(element: object, *, priority: bool) -> str:
    mark = "!" if priority else ""
    match element:
        case None:
            return "none"
        case Barrier():
            return f"barrier:{element.checkpoint}:{element.kind.name.lower()}{mark}"
        case Announcement():
            return f"announce:{element.barrier.checkpoint}@{element.sequence}{mark}"
        case EndOfPartition():
            return f"EndOfPartitionEvent{mark}"
        case _:
            return f"data:{element}"


def _call(effect: channels.NetworkEffect) -> Call:
    match effect:
        case channels.PersistInput():
            names = [element[0] for element in effect.buffers if isinstance(element, tuple)]
            return ["persist_in", effect.checkpoint, *names]
        case channels.PersistOutput():
            return ["persist_out", effect.checkpoint, *effect.buffers]
        case channels.OutputStateOpened():
            return ["future_out", effect.checkpoint]
        case channels.OutputStateKnown():
            return ["future_out_done", effect.checkpoint, *effect.buffers]
        case channels.OutputStateFailed():
            return ["future_out_failed", effect.checkpoint]
        case channels.ResumeSender():
            return ["resume_upstream"]


ADAPTER = Adapter(run=run, slot=_slot)
