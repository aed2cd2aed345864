"""Who waits for whom in an attempt, for the sentence that explains a stall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ckptsim.models.ordering import scope_text
from ckptsim.sim.kernel import Wait
from ckptsim.sim.sync.messages import RecordPacket, StateMessage

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.oracle.truth import SourceState

_CORE = "the core"


def waits(attempt: Attempt) -> Iterator[Wait]:
    """Return the waits of an attempt."""
    destination = attempt.destination
    for who in destination.memory.waiting:
        yield Wait(who, "memory for a state", _CORE)
    for blocked in destination.core.blocked():
        scope = scope_text(blocked.scope)
        states = attempt.truth.states.get(scope, [])
        what, whom = str(blocked), None
        if blocked.next_index <= len(states):
            state = states[blocked.next_index - 1]
            what, whom = _missing(attempt, state)
        yield Wait(_CORE, what, whom)
    for socket in attempt.sockets:
        name = socket.entity.name
        if socket.writers_count:
            yield Wait(f"the source at {name}", "room in the pipe", name)
        if next(socket.unread, None) is not None:
            yield Wait(name, "what is on its line or in its pipe to be taken")
        elif not (attempt.source.ended or attempt.source.crashed):
            yield Wait(name, "something to carry", "a reader of the source")
    if attempt.source.resources.waiting_count:
        yield Wait("a feed of the source", "a free socket", "another reader")
    for feed in attempt.source.rounds.awaited:
        yield Wait(f"feed {feed} of the source", "the end of its round", "the core of the source")
    if not destination.uploader.idle:
        yield Wait("the destination", "an upload", "the storage")


def _missing(attempt: Attempt, state: SourceState) -> tuple[str, str | None]:
    """Say what the next state of a scope is waited for with, and who has it."""
    name = f"state {state.scope}/{state.index}"
    if state.accepted_ns is None:
        return name, _holder_of_state(attempt, state)
    for partition in state.partitions:
        size = partition.high - partition.low
        if partition.read < size:
            what = f"{size - partition.read} records of {name} to arrive"
            return what, _holder_of_records(attempt, state)
        if partition.durable < size:
            return f"{size - partition.durable} records of {name} to become durable", None
    return f"{name} to be sent", None


def _holder_of_state(attempt: Attempt, state: SourceState) -> str | None:
    for socket in attempt.sockets:
        for message in socket.unread:
            if isinstance(message, StateMessage) and message.state is state:
                return socket.entity.name
    return "the source"


def _holder_of_records(attempt: Attempt, state: SourceState) -> str | None:
    for socket in attempt.sockets:
        for message in socket.unread:
            if isinstance(message, RecordPacket) and message.partition in state.partitions:
                return socket.entity.name
    return None
