"""Naive second versions of what reads and writes messages of the Airbyte protocol.

Source: airbytehq/airbyte protocol (`AirbyteMessage`), as docs/ordering.md tells it; not the core.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ckptsim.models.ordering import (
    CheckpointKey,
    CompleteRead,
    Count,
    Medium,
    RecordsRead,
    ReleaseStatistics,
    SendState,
    StateKind,
    StateRead,
    StreamDescriptor,
)
from ckptsim.models.ordering.wire import messages
from ckptsim.models.ordering.wire.json_text import Number, read_json, write_json
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import one_line

_REFUSED = "refused, and one line says where, what was found and what was expected"
_OTHERS = ("LOG", "SPEC", "CONNECTION_STATUS", "CATALOG", "CONTROL", "DESTINATION_CATALOG")


class _RefusedError(Exception):
    """The message is not as the protocol says."""


def _core_parse(text: str, medium: Medium, channel: int) -> Any:
    try:
        found = read_json(text)
        return messages.parse_message(found, medium=medium, size_bytes=7, channel=channel)
    except messages.WireError as error:
        return _refused(error)


def _refused(error: messages.WireError) -> str:
    says = str(error)
    begins = says.startswith(f"{error.path or 'message'}: found ")
    return _REFUSED if begins and one_line(says, ", expected ") else f"refused by {says!r}"


def _parsed(text: str, medium: Medium, channel: int) -> Any:
    try:
        return _meant(json.loads(text), medium, channel)
    except _RefusedError:
        return _REFUSED


def _need(value: Any, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _RefusedError
    return value


def _may(value: Any, kind: type) -> Any:
    return None if value is None else _need(value, kind)


def _whole(value: Any) -> int | None:
    number = None if value is None else _need(value, (int, float))
    if number is not None and (number != int(number) or abs(number) >= 10**18):
        raise _RefusedError
    return None if number is None else int(number)


def _stream(holder: Any) -> StreamDescriptor:
    found = _need(_need(holder, dict).get("stream_descriptor"), dict)
    return StreamDescriptor(_need(found.get("name"), str), _may(found.get("namespace"), str))


def _meant(message: Any, medium: Medium, channel: int) -> messages.Incoming:
    kind = _need(message, dict).get("type")
    sockets = medium is Medium.SOCKET
    if kind == "RECORD":
        record = _need(message.get("record"), dict)
        stream = StreamDescriptor(
            _need(record.get("stream"), str), _may(record.get("namespace"), str)
        )
        _need(record.get("data"), dict)
        identity = _may(record.get("partition_id"), str) if sockets else None
        event = RecordsRead(stream=stream, size_bytes=7, id=identity, channel=channel)
        return messages.Incoming(streams=(stream,), event=event)
    if kind == "STATE":
        return _state(message, _need(message.get("state"), dict), sockets=sockets)
    if kind == "TRACE":
        return _trace(_need(message.get("trace"), dict), channel)
    if kind in _OTHERS:
        return messages.Incoming()
    raise _RefusedError


def _state(message: Any, state: Any, *, sockets: bool) -> messages.Incoming:
    kind, stream = state.get("type"), None
    listed: list[StreamDescriptor] = []
    inner: list[tuple[StreamDescriptor, str | None]] = []
    if kind not in (None, "STREAM", "GLOBAL", "LEGACY"):
        raise _RefusedError
    index = _whole(state.get("id")) if sockets else None
    identity = _may(state.get("partition_id"), str) if sockets else None
    if kind == "STREAM":
        stream = _stream(state.get("stream"))
    elif kind == "GLOBAL" or isinstance(state.get("global"), dict):
        for entry in _need(_need(state.get("global"), dict).get("stream_states"), list):
            one = _stream(entry)
            if one in listed:
                raise _RefusedError
            listed.append(one)
            own = (entry.get("partition_id"), entry.get("id")) if sockets else (None, None)
            name, number = _may(own[0], str), _whole(own[1])
            if (name, number) != (None, None):
                inner.append((one, name if number is not None else None))
    else:
        _need(state.get("data"), (dict, list))
    counted = state.get("sourceStats")
    count = None if counted is None else _whole(_need(counted, dict).get("recordCount"))
    if count is not None and count < 0:
        raise _RefusedError
    whole = StateKind.SNAPSHOT if inner else StateKind.GLOBAL
    event = StateRead(
        kind=whole if stream is None else StateKind.STREAM,
        payload=read_json(json.dumps(message)),
        stream=stream,
        index=index,
        id=identity,
        source_count=count,
        inner=tuple(inner),
        listed=tuple(listed) if stream is None else None,
    )
    return messages.Incoming(streams=tuple(listed) if stream is None else (stream,), event=event)


def _trace(trace: Any, channel: int) -> messages.Incoming:
    kind = _need(trace.get("type"), str)
    if kind == "ERROR":
        error = trace.get("error")
        said = error.get("message") if isinstance(error, dict) else None
        return messages.Incoming(error=said if isinstance(said, str) else "no message")
    if kind != "STREAM_STATUS":
        return messages.Incoming()
    found = _need(trace.get("stream_status"), dict)
    stream, status = _stream(found), _need(found.get("status"), str)
    if status not in ("STARTED", "RUNNING", "COMPLETE", "INCOMPLETE"):
        raise _RefusedError
    event = CompleteRead(stream=stream, channel=channel) if status == "COMPLETE" else None
    return messages.Incoming(streams=(stream,), event=event, status=status)


# Written messages -----------------------------------------------------------------------------


def _core_written(effect: SendState, medium: Medium) -> str:
    return write_json(messages.render_state(effect, medium=medium))


def _written(effect: SendState, medium: Medium) -> str:
    message = json.loads(write_json(effect.payload))
    own, state = effect.statistics.destination, message["state"]
    stats = state.get("destinationStats")
    state["destinationStats"] = {
        **(stats if isinstance(stats, dict) else {}),
        "recordCount": float(own.records),
    }
    if own.rejected:
        state["destinationStats"]["rejectedRecordCount"] = float(own.rejected)
    _add(state, effect.statistics.total)
    if effect.scope is None and medium is Medium.SOCKET and isinstance(state.get("global"), dict):
        for entry in state["global"]["stream_states"]:
            counts = dict(effect.statistics.per_stream)
            _add(entry, counts.get(_stream(entry), Count()))
    return json.dumps(message, separators=(",", ":"))


def _add(holder: dict[str, Any], count: Count) -> None:
    holder |= {"committedRecordsCount": count.records, "committedBytesCount": count.size_bytes}
    if count.rejected:
        holder["rejectedRecordsCount"] = count.rejected


def _core_text(text: str) -> str:
    try:
        return write_json(read_json(text))
    except ValueError:
        return _REFUSED


def _text(text: str) -> str:
    return _REFUSED if "NaN" in text or "Infinity" in text or text == _DEEP else text


def _core_whole(text: str) -> int | None:
    return Number(text).whole()


def _number(text: str) -> int | None:
    """Return the value of a fraction of whole numbers, if it is one and has at most 18 digits."""
    digits, _, exponent = text.lower().partition("e")
    if len(exponent) > 18:
        return None  # beyond all bounds
    before, _, after = digits.partition(".")
    above, below = int(before + after) * 10 ** max(0, int(exponent or 0)), 10 ** len(after)
    below *= 10 ** max(0, -int(exponent or 0))
    return above // below if above % below == 0 and abs(above // below) < 10**18 else None


def _core_catalog(text: str) -> Any:
    try:
        return messages.parse_catalog(read_json(text))
    except messages.WireError as error:
        return _refused(error)


def _catalog(text: str) -> Any:
    try:
        found = []
        for entry in _need(_need(json.loads(text), dict).get("streams"), list):
            stream = _need(_need(entry, dict).get("stream"), dict)
            found.append(
                StreamDescriptor(_need(stream.get("name"), str), _may(stream.get("namespace"), str))
            )
    except _RefusedError:
        return _REFUSED
    return _REFUSED if len(set(found)) < len(found) else tuple(found)


# What is drawn --------------------------------------------------------------------------------


def _descriptor(pick: Pick) -> Any:
    found = {"name": pick.of(("a", "b", "b")), "namespace": pick.of((None, "n"))}
    return (
        found
        if not pick.one_in(20)
        else pick.of(({"namespace": "n"}, None, {"name": 3}, {"name": {}}))
    )


def _key(pick: Pick) -> dict[str, Any]:
    keys = {"id": pick.of((1, 2, 3.0)), "partition_id": "p"}
    if pick.one_in(3):
        keys.pop(pick.of(("id", "partition_id")))
    return keys if not pick.one_in(12) else {"id": pick.of(("x", 1.5)), "partition_id": 4}


def _draw_state(pick: Pick) -> dict[str, Any]:
    kind = pick.of(("STREAM", "GLOBAL", "GLOBAL", "LEGACY", None, "ODD"))
    state: dict[str, Any] = {"type": kind} | (_key(pick) if not pick.one_in(4) else {})
    if kind == "STREAM":
        state["stream"] = {"stream_descriptor": _descriptor(pick), "stream_state": {"at": 1.50}}
    elif kind == "GLOBAL" or pick.one_in(2):
        entries = [
            {"stream_descriptor": _descriptor(pick), **(_key(pick) if pick.one_in(2) else {})}
            for _ in range(pick.integer(0, 2))
        ]
        states = entries if not pick.one_in(10) else None
        state["global"] = {"shared_state": {}, "stream_states": states}
    else:
        state["data"] = pick.of(({}, [], None, "x"))
    if not pick.one_in(4):
        state["sourceStats"] = pick.of(({"recordCount": 4.0}, {"recordCount": -1}, {}, "x"))
    if pick.one_in(3):
        state["destinationStats"] = pick.of(({"more": 1}, None, 3))
    return {"type": "STATE", "state": state, "more": [1, "é", True, None]}


def _draw_message(pick: Pick) -> Any:
    kind = pick.integer(0, 5)
    if kind < 3:
        return _draw_state(pick)
    if kind == 3:
        record = {"stream": "a", "namespace": pick.of((None, "n")), "data": pick.of(({}, {}, 1))}
        return {"type": "RECORD", "record": record | (_key(pick) if pick.one_in(2) else {})}
    if kind == 4:
        status = {
            "stream_descriptor": _descriptor(pick),
            "status": pick.of(("COMPLETE", "RUNNING", "ODD", "ODD" * 20)),
        }
        trace = {
            "type": pick.of(("STREAM_STATUS", "STREAM_STATUS", "ERROR", "ESTIMATE")),
            "stream_status": status,
        }
        errors: tuple[Any, ...] = ({"message": "bad"}, {}, None)
        return {"type": "TRACE", "trace": trace | {"error": pick.of(errors)}}
    return pick.of(({"type": pick.of((*_OTHERS, "ODD"))}, [], {}))


def _draw_effect(pick: Pick) -> Sequence[Any]:
    while True:
        message, medium = _draw_state(pick), pick.of(tuple(Medium))
        parsed = _parsed(json.dumps(message), medium, 0)
        if parsed != _REFUSED:
            break
    event = parsed.event

    def count() -> Count:
        return Count(pick.integer(0, 9), pick.integer(0, 9), pick.of((0, 0, 2)))

    statistics = ReleaseStatistics(
        destination=count(),
        total=count(),
        per_stream=tuple((stream, count()) for stream in parsed.streams if not pick.one_in(4)),
    )
    effect = SendState(
        scope=event.stream,
        key=CheckpointKey(1, "p"),
        kind=event.kind,
        payload=event.payload,
        source_count=event.source_count,
        statistics=statistics,
    )
    return effect, medium


def _draw_catalog(pick: Pick) -> Sequence[Any]:
    streams = [{"stream": _descriptor(pick)} for _ in range(pick.integer(0, 3))]
    return (json.dumps(pick.of(({"streams": streams}, {"streams": streams}, {}, []))),)


_TEXTS = (
    '{"a":[1,2.50,{"b":null}],"c":"x,y","d":{}}',
    "[]",
    "[1E3,-0.0,true]",
    '{"e":[[],[[]]],"f":1}',
    "[NaN]",
    "-Infinity",
)
_DEEP = "[" * 50_000  # more than any reader follows
_NUMBERS = (
    *("4", "4.0", "4.5", "-3", "1e3", "15e-1", "20e-1", "1e17", "1e18", "999999999999999999"),
    "1e99999999999999999999",
)

CORES: Mapping[str, Callable[..., Any]] = {
    "parse_message": _core_parse,
    "render_state": _core_written,
    "write_json": _core_text,
    "whole": _core_whole,
    "parse_catalog": _core_catalog,
}
NAIVE: Mapping[str, Callable[..., Any]] = {
    "parse_message": _parsed,
    "render_state": _written,
    "write_json": _text,
    "whole": _number,
    "parse_catalog": _catalog,
}
DRAWS: Mapping[str, Callable[[Pick], Sequence[Any]]] = {
    "parse_message": lambda p: (json.dumps(_draw_message(p)), p.of(tuple(Medium)), 1),
    "render_state": _draw_effect,
    "write_json": lambda pick: (_DEEP if pick.one_in(60) else pick.of(_TEXTS),),
    "whole": lambda pick: (pick.of(_NUMBERS),),
    "parse_catalog": _draw_catalog,
}
