"""Drive an ordering core by a vector's steps, with a platform that remembers the sent data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ckptsim.models import ordering
from ckptsim.models.core import ProtocolError
from ckptsim.sim.conform.runner import (
    Mismatch,
    Step,
    Vector,
    compare,
    compare_error,
    compare_fields,
    named,
    place,
)

WHOLE = "*"


class DestinationScript:
    """One vector: its core, the clock, the flush timer, the platform, and the log of sends."""

    def __init__(self, vector: Vector, make: Callable[[ordering.OrderingParameters], Any]) -> None:
        config = vector["config"]
        self._vector = vector
        self._make = make
        self._streams = stream_entries(config["streams"])
        self._keys = {descriptor: key for key, descriptor in self._streams.items()}
        self._parameters = ordering.OrderingParameters(
            medium=ordering.Medium[config["medium"]],
            streams=tuple(self._streams.values()),
            channels=config.get("channels", 1),
        )
        self._begin()
        self._sent: list[tuple[str, ordering.SendState]] = []
        self._compared = 0  # how many sends `expect_emitted` has looked at
        self._platform: dict[str, object] = {}
        self._failing_sends = 0
        self._clock_s = 0
        self._interval_s: int | None = config.get("flush_interval_s")

    def _begin(self) -> None:
        self._core = self._make(self._parameters)
        self._opened: list[str] = []
        # By stream: which of its intervals is open, and the id that the core passed each one with.
        self._interval: Counter[ordering.StreamDescriptor] = Counter()
        self._passed: dict[tuple[ordering.StreamDescriptor, int], str] = {}
        self._open_channels = list(range(self._parameters.channels))
        # Sends that the platform answers with the next flush.
        self._held: list[ordering.Effect] = []

    def run(self) -> Mismatch | None:
        """Run all steps and compare the outcome. Return the first difference, or None."""
        for number, step in enumerate(self._vector["steps"], start=1):
            where = place(number, step)
            found = self._expectation(where, step)
            if found is None and not step["op"].startswith("expect_"):
                found = compare_error(where, step, self._act(step))
            if found is not None:
                return found
        return self._compare_outcome()

    # Steps that do something. Each returns the kind of its error, or None.

    def _act(self, step: Step) -> str | None:
        match step["op"]:
            case "send_fails_next":
                self._failing_sends += step["count"]
            case "stop_timer":
                self._interval_s = None
            case "tick":
                return self._tick(step["seconds"])
            case "restart":
                self._begin()
            case _:
                return self._feed(self._event(step))
        return None

    def _feed(self, event: ordering.Event) -> str | None:
        """Give the core an event and carry out what it asks. Return the error's kind, or None."""
        failures = self._failing_sends
        try:
            effects = self._drive(event)
        except ProtocolError as error:
            return error.kind
        if isinstance(event, ordering.ChannelClosed):
            self._open_channels.remove(event.channel)
        if isinstance(event, ordering.StateRead):
            covered = self._streams.values() if event.stream is None else [event.stream]
            self._interval.update(covered)
        kind = ordering.Refusal.SEND_FAILED if self._failing_sends < failures else None
        for effect in effects:
            kind = self._carry_out(effect) or kind
        return kind

    def _drive(self, event: ordering.Event) -> list[ordering.Effect]:
        effects = self._core.step(event)
        flushes = isinstance(event, ordering.FlushRequested | ordering.FinishRequested)
        if flushes:
            effects, self._held = [*effects, *self._held], []
        others: list[ordering.Effect] = []
        while effects:
            following: list[ordering.Effect] = []
            for effect in effects:
                if not isinstance(effect, ordering.SendState):
                    others.append(effect)
                elif not flushes:
                    self._held.append(effect)
                else:
                    flushes = self._send(effect)
                    outcome = ordering.StateSent if flushes else ordering.SendFailed
                    following += self._core.step(
                        outcome(scope=effect.scope, index=effect.key.index)
                    )
            effects = following
        return others

    def _carry_out(self, effect: ordering.Effect) -> ordering.Refusal | None:
        match effect:
            case ordering.OpenStream():
                self._opened.append(self._keys[effect.stream])
            case ordering.PassRecords(stream=stream, id=identity):
                self._passed.setdefault((stream, self._interval[stream] + 1), identity)
            case ordering.ReportIncomplete():
                return ordering.Refusal.INCOMPLETE_STREAMS
            case ordering.FailSync():
                return effect.kind
            case _:
                pass  # what follows in the pipelines is the vector's own business
        return None

    def _send(self, effect: ordering.SendState) -> bool:
        if self._failing_sends > 0:
            self._failing_sends -= 1
            return False
        scope = WHOLE if effect.scope is None else self._keys[effect.scope]
        self._sent.append((scope, effect))
        self._platform[scope] = effect.payload
        return True

    def _tick(self, seconds: int) -> str | None:
        """Advance the clock. Flush at each multiple of the interval, and report the first error."""
        end = self._clock_s + seconds
        first: str | None = None
        if self._interval_s is not None:
            fired, due = self._clock_s // self._interval_s, end // self._interval_s
            for _ in range(int(due - fired)):
                kind = self._feed(ordering.FlushRequested())
                first = first or kind
        self._clock_s = end
        return first

    def _event(self, step: Step) -> ordering.Event:
        """Return the event that a step brings, with what the step says of its fields."""
        kind = named(_EVENTS, step["op"])
        said = {
            field.name: self._value(field.name, step)
            for field in fields(kind)
            if field.name == "channel" or _CALLED.get(field.name, field.name) in step
        }
        found: ordering.Event = kind(**said)
        return found

    def _value(self, name: str, step: Step) -> object:
        match name:
            case "stream":
                return self._stream(step["stream"])
            case "id":
                return self._id(step)
            case "channel":
                return self._channel(step)
            case "kind":
                return ordering.StateKind[step["kind"].upper()]
            case "level":
                return ordering.Level[step["level"].upper()]
            case "inner":
                ids = (step["inner"] or {}).items()
                return tuple((self._stream(key), identity) for key, identity in ids)
            case _:
                return step[_CALLED.get(name, name)]

    def _stream(self, key: str) -> ordering.StreamDescriptor:
        return self._streams.get(key) or ordering.StreamDescriptor(key, "not in the catalog")

    def _channel(self, step: Step) -> int:
        """Return the step's channel. A step that names none comes on the first open one."""
        first_open: int = min(self._open_channels, default=0)
        channel: int = step.get("channel", first_open)
        return channel

    def _scope(self, key: str) -> ordering.Scope:
        return None if key == WHOLE else self._stream(key)

    def _id(self, step: Step) -> str | None:
        identity = step.get("id")
        if isinstance(identity, dict):
            stream, number = self._stream(step["stream"]), identity["inferred"]
            found: str = self._passed.get((stream, number)) or self._core.inferred_id(
                stream, number
            )
            return found
        return identity

    # Steps that look. Each returns a difference, or None.

    def _expectation(self, where: str, step: Step) -> Mismatch | None:
        op = step["op"]
        if not op.startswith("expect_"):
            return None
        if op == "expect_emitted":
            return self._compare_emitted(where, step["states"])
        expected = step.get("value", step.get("count"))
        return compare(where, _expected(step, expected), self._found(step))

    def _found(self, step: Step) -> object:  # noqa: PLR0911 - one return per question
        core = self._core
        stream = self._stream(step["stream"]) if "stream" in step else ordering.StreamDescriptor("")
        match step["op"]:
            case "expect_pending":
                return core.pending_count()
            case "expect_head":
                return core.head(self._scope(step["scope"]))
            case "expect_persisted":
                return core.records_sufficient(stream, self._id(step) or "")
            case "expect_read":
                return core.records_read(stream, self._id(step))
            case "expect_key":
                return core.ordinal(stream)
            case "expect_opened":
                return self._opened
            case "expect_stream_done":
                return core.stream_done(stream)
            case "expect_result":
                return core.verdict(stream).name.lower()
            case "expect_resume":
                return self._platform.get(step["scope"])
            case op:
                raise ValueError(f"unknown op {op!r}")

    def _compare_emitted(self, where: str, expected: list[dict[str, Any]]) -> Mismatch | None:
        fresh = self._sent[self._compared :]
        self._compared = len(self._sent)
        scopes = dict.fromkeys([state["scope"] for state in expected] + [key for key, _ in fresh])
        for scope in scopes:
            wanted = [state for state in expected if state["scope"] == scope]
            sent = [effect for key, effect in fresh if key == scope]
            payloads = [effect.payload for effect in sent]
            found = compare(f"{where}, scope {scope}", [s["payload"] for s in wanted], payloads)
            for state, effect in zip(wanted, sent, strict=False):
                found = found or self._compare_fields(f"{where}, scope {scope}", state, effect)
            if found is not None:
                return found
        return None

    def _compare_fields(
        self, where: str, expected: dict[str, Any], effect: ordering.SendState
    ) -> Mismatch | None:
        statistics = effect.statistics
        found: dict[str, object] = {
            "index": effect.key.index,
            "id": effect.key.id,
            "source_count": effect.source_count,
            "dest_count": statistics.destination.records,
            "dest_rejected": statistics.destination.rejected,
            "total_records": statistics.total.records,
            "total_bytes": statistics.total.size_bytes,
            "total_rejected": statistics.total.rejected,
        }
        wanted = {name: value for name, value in expected.items() if name in found}
        if "id" in wanted:
            wanted["id"] = self._id({**expected, "stream": expected["scope"]})
        counts = {self._keys[stream]: count for stream, count in statistics.per_stream}
        for key, parts in expected.get("per_stream", {}).items():
            wanted[f"per_stream {key}"] = parts
            found[f"per_stream {key}"] = {name: _part(counts.get(key), name) for name in parts}
        return compare_fields(where, wanted, {name: found[name] for name in wanted})

    def _compare_outcome(self) -> Mismatch | None:
        expect = self._vector["expect"]
        emitted: dict[str, list[object]] = {}
        for scope, effect in self._sent:
            emitted.setdefault(scope, []).append(effect.payload)
        wanted = {scope: states for scope, states in expect["emitted"].items() if states}
        return compare("end, emitted", wanted, emitted) or compare(
            "end, pending", expect["pending"], self._core.pending_count()
        )


# The events of a host by the steps that bring them, and the fields that steps call otherwise.
_EVENTS: dict[str, Any] = {
    "record": ordering.RecordsRead,
    "persist": ordering.RecordsDurable,
    "state": ordering.StateRead,
    "flush": ordering.FlushRequested,
    "complete": ordering.CompleteRead,
    "close_channel": ordering.ChannelClosed,
    "finish": ordering.FinishRequested,
    "mark_succeeded": ordering.ProcessingSucceeded,
    "mark_failed": ordering.ProcessingFailed,
}
_CALLED = {"size_bytes": "bytes"}


def _expected(step: Step, value: object) -> object:
    """Return what a looking step expects, which is under the name of its question."""
    for name in ("index", "streams", "payload"):
        if name in step:
            return step[name]
    return value


def _part(count: ordering.Count | None, name: str) -> int | None:
    if count is None:
        return None
    return {"records": count.records, "bytes": count.size_bytes, "rejected": count.rejected}[name]


def stream_entries(entries: list[str | dict[str, str]]) -> dict[str, ordering.StreamDescriptor]:
    """Return the streams of a vector's catalog by the key that its steps use, in order."""
    return {
        entry if isinstance(entry, str) else entry["key"]: (
            ordering.StreamDescriptor(entry)
            if isinstance(entry, str)
            else ordering.StreamDescriptor(entry["name"], entry.get("namespace"))
        )
        for entry in entries
    }
