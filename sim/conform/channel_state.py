"""Run the vectors of suite `channel_state`: one input channel or one output subpartition.

Data elements are the pair (name, sequence number). The queue is shown front first, elements of high
priority with an exclamation mark, elements of an input queue with their sequence number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ckptsim.models.barriers import channels
from ckptsim.models.barriers.barrier import Announcement, Barrier, EndOfPartition, OptionKind
from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.runner import Adapter, Mismatch, Step, Vector, compare_steps, named
from ckptsim.sim.slots import Factory

Call = list[Any]
Queue = Any
"""A receiver's or a sender's queue; they have little in common but `poll`."""

# What Flink throws where a core raises ProtocolError of this kind. All others are illegal states.
THROWN = {"no_such_element": "NoSuchElementException"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """One end of a channel: slot, default queue, calls of each step, and all that is looked at."""

    slot: str
    make: Callable[..., Queue]
    steps: Mapping[str, Callable[[Queue, Step, list[Call]], object]]
    observe: Callable[[Queue], dict[str, Any]]


def _start(channel: Queue, step: Step, calls: list[Call]) -> None:
    reason = channel.start(step["checkpoint"])
    if reason is not None:
        calls.append(["throw", "CheckpointException", reason.value])


def _observe_input(channel: Queue) -> dict[str, Any]:
    queue = [
        f"{_show(event, priority=True)}#{place}" for event, place in channel.priority_elements()
    ]
    for element, place in channel.normal_elements():
        name, number = element if isinstance(element, tuple) else (element, place)
        queue.append(f"{_show(name, priority=False)}#{number}")
    return {
        "queue": queue,
        "persister": channel.persister.status.name,
        "last_seen": channel.persister.last_seen,
        "last_barrier": channel.last_barrier,
    }


def _observe_output(queue: Queue) -> dict[str, Any]:
    shown = [_show(event, priority=True) for event in queue.priority_elements()]
    shown += [_show(element, priority=False) for element in queue.normal_elements()]
    return {
        "queue": shown,
        "blocked": queue.blocked,
        "backlog": queue.backlog,
        "next_seq": queue.next_sequence,
    }


_ENDS = {
    "input-channel": _End(
        slot="input_channel",
        make=channels.RemoteInputChannel,
        steps={
            "data": lambda channel, step, _: channel.arrive((step["id"], step["seq"])),
            "barrier": lambda channel, step, _: channel.arrive(_barrier(step)),
            "eop": lambda channel, *_: channel.arrive(EndOfPartition()),
            "started": _start,
            "stopped": lambda channel, step, _: channel.stop(step["checkpoint"]),
            "to_priority": lambda channel, step, _: channel.prioritize(step["seq"]),
            "resume": lambda channel, *_: channel.resume(),
        },
        observe=_observe_input,
    ),
    "output-subpartition": _End(
        slot="output_subpartition",
        make=channels.Subpartition,
        steps={
            "data": lambda queue, step, _: queue.add_data(step["id"]),
            "barrier": lambda queue, step, _: queue.add_barrier(_barrier(step)),
            "eop": lambda queue, *_: queue.finish(),
            "resume": lambda queue, *_: queue.resume(),
            "aligned_timeout": lambda queue, step, _: queue.time_out(step["checkpoint"]),
            "abort": lambda queue, step, _: queue.abort(step["checkpoint"]),
        },
        observe=_observe_output,
    ),
}


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Compare calls, queue and state after every step."""
    end = _end(vector)
    outbox: list[channels.NetworkEffect] = []
    queue = (make or end.make)(0, outbox)

    def take(step: Step, _expected: object) -> dict[str, Any]:
        outbox.clear()
        polled: dict[str, str] = {}
        calls: list[Call] = []
        try:
            if step["event"] == "poll":
                polled = {"polled": _polled(queue)}
            else:
                named(end.steps, step["event"])(queue, step, calls)
        except ProtocolError as error:
            calls = [["throw", THROWN.get(error.kind, "IllegalStateException")]]
        return end.observe(queue) | polled | {"calls": [*map(_call, outbox), *calls]}

    return compare_steps(vector, take)


def _polled(queue: Queue) -> str:
    marked = queue.has_priority and not getattr(queue, "blocked", False)
    element = queue.poll()
    return _show(element[0] if isinstance(element, tuple) else element, priority=marked)


def _end(vector: Vector) -> _End:
    found = _ENDS.get(vector["handler"])
    if found is None:
        expected = f"expected {', '.join(_ENDS)}"
        raise UserError(f"found handler {vector['handler']!r}, {expected}")
    return found


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


ADAPTER = Adapter(run=run, slot=lambda vector: _end(vector).slot)
