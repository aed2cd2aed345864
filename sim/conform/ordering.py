"""Vectors of the suite `ordering`: the destination's core, its mutants, and the source's core."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import Medium, Refusal, StreamDescriptor, make_core, source
from ckptsim.models.ordering.source import SourceCore
from ckptsim.sim.conform.destination import DestinationScript, stream_entries
from ckptsim.sim.conform.runner import (
    Adapter,
    Mismatch,
    Step,
    Vector,
    allowed_errors,
    compare,
    compare_error,
    named,
    place,
)
from ckptsim.sim.mutants.registry import find_mutant
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.protocols import SourceDoor


class SourceScript:
    """One vector: its source core and the log of messages."""

    def __init__(self, vector: Vector, make: Factory) -> None:
        config = vector["config"]
        self._vector = vector
        self._streams = stream_entries(config["streams"])
        self._keys = {descriptor: key for key, descriptor in self._streams.items()}
        self._is_global = bool(config.get("global", False))
        initial = config.get("initial") or {}
        shared = [state for key, state in initial.items() if key not in self._streams]
        self._core: SourceDoor = make(
            source.SourceParameters(
                medium=Medium[config["medium"]],
                streams=tuple(self._streams.values()),
                is_global=self._is_global,
                initial=tuple(
                    (stream, initial[key])
                    for key, stream in self._streams.items()
                    if key in initial
                ),
                initial_shared=shared[0] if shared else None,
            )
        )
        self._messages: list[source.EmitState] = []
        self._compared = 0

    def run(self) -> Mismatch | None:
        """Run all steps and compare the number of messages. Return the first difference."""
        for number, step in enumerate(self._vector["steps"], start=1):
            where = place(number, step)
            if step["op"] == "expect_src":
                found = self._compare_messages(where, step)
            else:
                found = compare_error(where, step, self._feed(self._event(step)))
            if found is not None:
                return found
        expected = self._vector["expect"].get("messages", len(self._messages))
        return compare("end, messages", expected, len(self._messages))

    def _event(self, step: Step) -> source.SourceEvent:
        kind = named(_EVENTS, step["op"])
        said = {field.name: step[field.name] for field in fields(kind) if field.name in step}
        if "feed" in said:
            said["feed"] = self._name(said["feed"])
        found: source.SourceEvent = kind(**said)
        return found

    def _name(self, key: str) -> source.Feed:
        """Return the feed of a name. A global source calls its shared feed as it likes."""
        if key in self._streams:
            return self._streams[key]
        return None if self._is_global else StreamDescriptor(key, "not in the catalog")

    def _feed(self, event: source.SourceEvent) -> str | None:
        try:
            effects = self._core.step(event)
        except ProtocolError as error:
            return error.kind
        kind = None
        for effect in effects:
            if isinstance(effect, source.EmitState):
                self._messages.append(effect)
            elif isinstance(effect, source.FailFeed):
                kind = Refusal.READER_FAILED
        return kind

    def _compare_messages(self, where: str, step: Step) -> Mismatch | None:
        """Compare the fields that the vector names of each message since the last comparison."""
        fresh = [self._as_fields(message) for message in self._messages[self._compared :]]
        self._compared = len(self._messages)
        found = [
            {name: fields.get(name) for name in expected}
            for expected, fields in zip(step["messages"], fresh, strict=False)
        ]
        found += fresh[len(found) :]
        return compare(where, step["messages"], found)

    def _as_fields(self, message: source.EmitState) -> dict[str, object]:
        return {
            "kind": message.kind.name.lower(),
            "stream": None if message.stream is None else self._keys[message.stream],
            "payload": message.payload,
            "count": message.count,
            "partition_id": message.partition_id,
            "index": message.index,
            "states": {self._keys[stream]: state for stream, state in message.states},
            "inner": {
                self._keys[stream]: {"index": index, "partition_id": partition_id}
                for stream, index, partition_id in message.inner
            },
        }


# The events of a source by the steps that bring them.
_EVENTS: dict[str, Any] = {
    "src_round": source.RoundStarted,
    "src_done": source.ReaderFinished,
    "src_fail": source.ReaderFailed,
    "src_checkpoint": source.CheckpointRequested,
}


DESTINATION_ENGINES = ("any", "cm")
# Steps that look into our core, and events that no host sends.
_LOOKS = ("expect_persisted", "expect_read", "expect_key", "expect_stream_done", "expect_result")
_NEVER_SENT = ("mark_succeeded", "mark_failed")


def _slot(vector: Vector) -> str | None:
    return "source" if vector["engine"] == "source" else "ordering"


def _skip_reason(vector: Vector, mutant: str | None) -> str | None:
    """Say why a vector is not run: it describes another design or a known defect."""
    engine, profile = vector["engine"], vector["profile"]
    if mutant is not None:
        fit = find_mutant(["suite ordering"], mutant)
        if profile != fit.profile:
            return f"profile {profile}; the mutant is of profile {fit.profile}"
        if engine not in fit.engines:
            return f"engine {engine}; the mutant is for {', '.join(fit.engines)}"
        return None
    if profile != "spec":
        return f"profile {profile} describes a known defect and is for mutants"
    if engine not in (*DESTINATION_ENGINES, "source"):
        return f"engine {engine} is another design; this core counts what it reads"
    return None


def _for_hosts(vector: Vector) -> tuple[Vector | None, tuple[str, ...]]:
    found = dict.fromkeys(step["op"] for step in vector["steps"])
    sent = tuple(name for name in found if name in _NEVER_SENT)
    if sent:
        return None, sent
    left = [(step, _left_out(step)) for step in vector["steps"]]
    names = dict.fromkeys(name for _, name in left if name is not None)
    return vector | {"steps": [step for step, name in left if name is None]}, tuple(names)


def _left_out(step: Step) -> str | None:
    """Name what no host asks by a step, None where one does."""
    if allowed_errors(step) == [Refusal.UNKNOWN_STREAM]:
        return f"{step['op']} of an {Refusal.UNKNOWN_STREAM}"
    return step["op"] if step["op"] in _LOOKS else None


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Run a vector on the destination's or the source's core, by its `engine`."""
    if vector["engine"] == "source":
        return SourceScript(vector, make or SourceCore).run()
    return DestinationScript(vector, make or make_core).run()


ADAPTER = Adapter(run=run, slot=_slot, skip_reason=_skip_reason, for_hosts=_for_hosts)
