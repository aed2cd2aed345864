"""Airbyte protocol messages in and out, with every number as it was written.

A destination returns messages that are not its own: `100.0`, `1E3` or a number of forty digits must
leave as they came, which floating point does not grant.  Keys keep their order.

The message of a state goes through untouched except for what a destination adds to it: the
statistics of this state (`destinationStats`) and the running totals (`committedRecordsCount`, ...),
the latter on sockets also at each stream of a global state.

Source: airbytehq/airbyte protocol (`AirbyteMessage`). Bulk load CDK, `CheckpointMessage` and
`DestinationMessageFactory` for the fields beyond it: `id`, `partition_id` and the totals.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from ckptsim.models.ordering.events import CompleteRead, Event, RecordsRead, SendState, StateRead
from ckptsim.models.ordering.terms import CheckpointId, Count, Medium, StateKind, StreamDescriptor

Json = object  # str, Number, bool, None, list[Json] or dict[str, Json]


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()

    def whole(self) -> int | None:
        """Return the value if it is a whole number of at most 18 digits, else None."""
        try:
            value = Decimal(self)
        except InvalidOperation:  # an exponent beyond all bounds
            return None
        if value.adjusted() > 17 or value != value.to_integral_value():
            return None
        return int(value)


def read_json(text: str) -> Json:
    """Return the value of a JSON text. Raises ValueError, also for `NaN` and `Infinity`."""
    try:
        value: Json = json.loads(
            text, parse_int=Number, parse_float=Number, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


class _Written(str):
    """Text that is written as it is."""

    __slots__ = ()


def write_json(value: Json) -> str:
    """Return a value of `read_json` as compact JSON, to any depth."""
    written: list[str] = []
    todo: list[Json] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, (Number, _Written)):
            written.append(item)
        elif isinstance(item, dict):
            todo.extend(reversed(_object_tokens(item)))
        elif isinstance(item, list):
            todo.extend(reversed(_list_tokens(item)))
        else:
            written.append(json.dumps(item))
    return "".join(written)


def _object_tokens(value: dict[str, Json]) -> list[Json]:
    tokens: list[Json] = [_Written("{")]
    for number, (key, item) in enumerate(value.items()):
        tokens += [_Written(f"{',' if number else ''}{json.dumps(key)}:"), item]
    return [*tokens, _Written("}")]


def _list_tokens(value: list[Json]) -> list[Json]:
    tokens: list[Json] = [_Written("[")]
    for number, item in enumerate(value):
        tokens += [_Written("," if number else ""), item]
    return [*tokens, _Written("]")]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# What a message may be. Those that concern no destination are passed over.
PASSED_OVER = ("LOG", "SPEC", "CONNECTION_STATUS", "CATALOG", "CONTROL", "DESTINATION_CATALOG")
MESSAGE_TYPES = ("RECORD", "STATE", "TRACE", *PASSED_OVER)
STATE_TYPES = ("STREAM", "GLOBAL", "LEGACY")
STREAM_STATUSES = ("STARTED", "RUNNING", "COMPLETE", "INCOMPLETE")


# The streams of a global state that carry a key of their own, with its id.
InnerKeys = tuple[tuple[StreamDescriptor, CheckpointId | None], ...]


class WireError(ValueError):
    """A message is not as the protocol says: where, the value found, the value expected."""

    def __init__(self, path: str, found: Json, expected: str) -> None:
        self.path = path
        super().__init__(f"{path or 'message'}: found {_literal(found)}, expected {expected}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """What a message means: the streams that it names, and its event, status or error, if any."""

    streams: tuple[StreamDescriptor, ...] = ()
    event: Event | None = None
    status: str | None = None
    error: str | None = None


def parse_message(message: Json, *, medium: Medium, size_bytes: int, channel: int = 0) -> Incoming:
    """Return what a message means. message: of `read_json`. Raises WireError for no message."""
    found = _object(message, "")
    kind = found.get("type")
    match kind:
        case "RECORD":
            return _record(_member(found, "", "record"), medium, size_bytes, channel)
        case "STATE":
            return _state(found, _member(found, "", "state"), medium)
        case "TRACE":
            return _trace(_member(found, "", "trace"), channel)
        case _ if kind in PASSED_OVER:
            return Incoming()
        case _:
            raise WireError("type", kind, f"one of {', '.join(MESSAGE_TYPES)}")


def render_state(effect: SendState, *, medium: Medium) -> Json:
    """Return the message of a released state: the one that came, with statistics and totals."""
    message = _object(effect.payload, "")
    statistics = effect.statistics
    state = dict(_member(message, "", "state"))
    before = state.get("destinationStats")
    own: dict[str, Json] = dict(before) if isinstance(before, dict) else {}
    own["recordCount"] = Number(f"{statistics.destination.records}.0")
    if statistics.destination.rejected > 0:
        own["rejectedRecordCount"] = Number(f"{statistics.destination.rejected}.0")
    state["destinationStats"] = own
    state.update(_totals(statistics.total))
    if effect.scope is None and medium is Medium.SOCKET and isinstance(state.get("global"), dict):
        per_stream = dict(statistics.per_stream)
        whole = dict(_member(state, "state", "global"))
        path = "state.global.stream_states"
        whole["stream_states"] = [
            {**entry, **_totals(per_stream.get(_descriptor(entry, where), Count()))}
            for where, entry in _entries(whole, path)
        ]
        state["global"] = whole
    return {**message, "state": state}


def parse_catalog(catalog: Json) -> tuple[StreamDescriptor, ...]:
    """Return the streams of a configured catalog, in its order. Raises WireError."""
    entries = _object(catalog, "").get("streams")
    if not isinstance(entries, list):
        raise WireError("streams", entries, "a list")
    streams: dict[StreamDescriptor, None] = {}
    for number, entry in enumerate(entries):
        where = f"streams[{number}]"
        found = _member(_object(entry, where), where, "stream")
        path = f"{where}.stream"
        stream = StreamDescriptor(
            _text(found, path, "name"), _optional_text(found, path, "namespace")
        )
        if stream in streams:
            raise WireError(path, str(stream), "each stream once")
        streams[stream] = None
    return tuple(streams)


def _totals(count: Count) -> dict[str, Json]:
    totals: dict[str, Json] = {
        "committedRecordsCount": Number(count.records),
        "committedBytesCount": Number(count.size_bytes),
    }
    if count.rejected > 0:
        totals["rejectedRecordsCount"] = Number(count.rejected)
    return totals


def _record(record: dict[str, Json], medium: Medium, size_bytes: int, channel: int) -> Incoming:
    stream = StreamDescriptor(
        _text(record, "record", "stream"), _optional_text(record, "record", "namespace")
    )
    _member(record, "record", "data")
    event = RecordsRead(
        stream=stream,
        size_bytes=size_bytes,
        id=_partition_id(record, "record", medium),
        channel=channel,
    )
    return Incoming(streams=(stream,), event=event)


def _state(message: dict[str, Json], state: dict[str, Json], medium: Medium) -> Incoming:
    kind = state.get("type")
    if kind is not None and kind not in STATE_TYPES:
        raise WireError("state.type", kind, f"one of {', '.join(STATE_TYPES)} or nothing")
    index = _whole(state, "state", "id") if medium is Medium.SOCKET else None
    identity = _partition_id(state, "state", medium)
    stream: StreamDescriptor | None = None
    listed: tuple[StreamDescriptor, ...] = ()
    inner: InnerKeys = ()
    if kind == "STREAM":
        stream = _descriptor(_member(state, "state", "stream"), "state.stream")
    elif kind == "GLOBAL" or isinstance(state.get("global"), dict):
        listed, inner = _stream_states(_member(state, "state", "global"), medium)
    elif not isinstance(state.get("data"), (dict, list)):
        raise WireError("state.data", state.get("data"), "the data of a legacy state")
    event = StateRead(
        kind=_kind(stream, inner),
        payload=message,
        stream=stream,
        index=index,
        id=identity,
        source_count=_source_count(state),
        inner=inner,
        listed=listed if stream is None else None,
    )
    return Incoming(streams=(stream,) if stream is not None else listed, event=event)


def _kind(stream: StreamDescriptor | None, inner: tuple[object, ...]) -> StateKind:
    if stream is not None:
        return StateKind.STREAM
    return StateKind.SNAPSHOT if inner else StateKind.GLOBAL


def _stream_states(
    whole: dict[str, Json], medium: Medium
) -> tuple[tuple[StreamDescriptor, ...], tuple[tuple[StreamDescriptor, CheckpointId | None], ...]]:
    """Return the streams that a global state lists, and the keys of those that carry their own."""
    listed: dict[StreamDescriptor, None] = {}
    inner: dict[StreamDescriptor, CheckpointId | None] = {}
    for where, entry in _entries(whole, "state.global.stream_states"):
        stream = _descriptor(entry, where)
        if stream in listed:
            raise WireError(f"{where}.stream_descriptor", str(stream), "each stream once")
        listed[stream] = None
        identity = _partition_id(entry, where, medium)
        index = _whole(entry, where, "id") if medium is Medium.SOCKET else None
        if identity is not None or index is not None:
            inner[stream] = identity if index is not None else None
    return tuple(listed), tuple(inner.items())


def _entries(whole: dict[str, Json], path: str) -> list[tuple[str, dict[str, Json]]]:
    """Return the entries of a global state, each with its path."""
    entries = whole.get("stream_states")
    if not isinstance(entries, list):
        raise WireError(path, entries, "a list")
    paths = [f"{path}[{number}]" for number in range(len(entries))]
    return [(where, _object(entry, where)) for where, entry in zip(paths, entries, strict=True)]


def _trace(trace: dict[str, Json], channel: int) -> Incoming:
    kind = _text(trace, "trace", "type")
    if kind == "ERROR":
        error = trace.get("error")
        message = error.get("message") if isinstance(error, dict) else None
        return Incoming(error=message if isinstance(message, str) else "no message")
    if kind != "STREAM_STATUS":
        return Incoming()
    path = "trace.stream_status"
    found = _member(trace, "trace", "stream_status")
    stream = _descriptor(found, path)
    status = _text(found, path, "status")
    if status not in STREAM_STATUSES:
        raise WireError(f"{path}.status", status, f"one of {', '.join(STREAM_STATUSES)}")
    complete = CompleteRead(stream=stream, channel=channel) if status == "COMPLETE" else None
    return Incoming(streams=(stream,), event=complete, status=status)


def _descriptor(holder: dict[str, Json], path: str) -> StreamDescriptor:
    found = _member(holder, path, "stream_descriptor")
    path = f"{path}.stream_descriptor"
    return StreamDescriptor(_text(found, path, "name"), _optional_text(found, path, "namespace"))


def _source_count(state: dict[str, Json]) -> int | None:
    statistics = state.get("sourceStats")
    if statistics is None:
        return None
    path = "state.sourceStats"
    count = _whole(_object(statistics, path), path, "recordCount")
    if count is not None and count < 0:
        raise WireError(f"{path}.recordCount", Number(count), "a count")
    return count


def _partition_id(holder: dict[str, Json], path: str, medium: Medium) -> CheckpointId | None:
    """Return the partition id on SOCKET. On STDIO no one looks at it."""
    return _optional_text(holder, path, "partition_id") if medium is Medium.SOCKET else None


def _whole(holder: dict[str, Json], path: str, name: str) -> int | None:
    found = holder.get(name)
    if found is None:
        return None
    value = found.whole() if isinstance(found, Number) else None
    if value is None:
        raise WireError(f"{path}.{name}", found, "a whole number")
    return value


def _text(holder: dict[str, Json], path: str, name: str) -> str:
    found = _optional_text(holder, path, name)
    if found is None:
        raise WireError(f"{path}.{name}", None, "a text")
    return found


def _optional_text(holder: dict[str, Json], path: str, name: str) -> str | None:
    found = holder.get(name)
    if found is not None and (isinstance(found, Number) or not isinstance(found, str)):
        raise WireError(f"{path}.{name}", found, "a text")
    return found


def _member(holder: dict[str, Json], path: str, name: str) -> dict[str, Json]:
    return _object(holder.get(name), f"{path}.{name}" if path else name)


def _object(value: Json, path: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise WireError(path, value, "an object")
    return value


def _literal(value: Json) -> str:
    """Return a short literal of the value found."""
    if value is None:
        return "nothing"
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
