"""JSON in and out as it was written, and messages that are refused with their place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models import ordering
from ckptsim.models.ordering import wire

NUMBERS = ("0", "-0", "1.0", "1e5", "1E-7", "0.10", "123456789012345678901234567890", "-2.50E+3")
VALUES = st.recursive(
    st.none() | st.booleans() | st.text() | st.sampled_from(NUMBERS).map(wire.Number),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(VALUES)
@settings(derandomize=True, database=None, deadline=None)
def test_json_survives_with_its_numbers(value: Any) -> None:
    """Everything that is written reads as the same value, every number spelt as before."""
    text = wire.write_json(value)
    assert wire.read_json(text) == value
    assert wire.write_json(wire.read_json(text)) == text


def test_deep_values_can_be_written() -> None:
    """Depth is no obstacle to writing."""
    value: Any = wire.Number("1")
    for _ in range(20_000):
        value = [value]
    assert wire.write_json(value) == "[" * 20_000 + "1" + "]" * 20_000


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("5", 5),
        ("5.0", 5),
        ("5e2", 500),
        ("50E-1", 5),
        ("-3", -3),
        ("0.0", 0),
        ("5.5", None),
        ("1E99999999999999999999", None),
        ("1e18", None),
        ("999999999999999999", 999999999999999999),
    ],
)
def test_whole_numbers_are_told_from_others(text: str, whole: int | None) -> None:
    """A count may be spelt as a floating number, if it is whole and of a size that can be."""
    assert wire.Number(text).whole() == whole


def parse(message: Any, medium: ordering.Medium = ordering.Medium.SOCKET) -> Any:
    return wire.parse_message(wire.read_json(json.dumps(message)), medium=medium, size_bytes=7)


def global_state(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    states = [{"stream_descriptor": {"name": e.pop("name")}, **e} for e in entries]
    return {
        "type": "STATE",
        "state": {"type": "GLOBAL", "global": {"stream_states": states}, **more},
    }


def test_a_record_brings_its_stream_size_and_partition() -> None:
    """A record's namespace belongs to its stream. On STDIO its partition is not looked at."""
    record = {"stream": "a", "namespace": "n", "data": {}, "partition_id": "p"}
    message = {"type": "RECORD", "record": record}
    stream = ordering.StreamDescriptor("a", "n")
    assert parse(message).event == ordering.RecordsRead(stream=stream, size_bytes=7, id="p")
    assert parse(message, ordering.Medium.STDIO).event == ordering.RecordsRead(
        stream=stream, size_bytes=7
    )


def test_a_global_state_with_keyed_entries_is_a_snapshot() -> None:
    """Entries that carry keys make a snapshot on SOCKET. On STDIO no one looks at them."""
    message = global_state(
        {"name": "a", "id": 1, "partition_id": "i"}, {"name": "b"}, id=3, partition_id="o"
    )
    event = parse(message).event
    assert isinstance(event, ordering.StateRead)
    a, b = ordering.StreamDescriptor("a"), ordering.StreamDescriptor("b")
    assert (event.kind, event.index, event.id) == (ordering.StateKind.SNAPSHOT, 3, "o")
    assert (event.inner, event.listed) == (((a, "i"),), (a, b))
    on_stdio = parse(message, ordering.Medium.STDIO).event
    assert (on_stdio.kind, on_stdio.index, on_stdio.inner) == (ordering.StateKind.GLOBAL, None, ())


def test_half_a_key_is_no_key() -> None:
    """An entry with an id but no partition, or the reverse, has an inner key that is missing."""
    for half in ({"id": 1}, {"partition_id": "i"}):
        event = parse(global_state({"name": "a", **half}, id=1, partition_id="o")).event
        assert event.inner == ((ordering.StreamDescriptor("a"), None),)


def test_stream_statuses_and_errors_are_read() -> None:
    """COMPLETE is an event, other statuses are noted, errors give their message."""
    status: dict[str, Any] = {"stream_descriptor": {"name": "a"}, "status": "COMPLETE"}
    trace = {"type": "STREAM_STATUS", "stream_status": status}
    assert parse({"type": "TRACE", "trace": trace}).event == ordering.CompleteRead(
        stream=ordering.StreamDescriptor("a")
    )
    status["status"] = "RUNNING"
    found = parse({"type": "TRACE", "trace": trace})
    assert (found.event, found.status) == (None, "RUNNING")
    error = {"type": "ERROR", "error": {"message": "it broke"}}
    assert parse({"type": "TRACE", "trace": error}).error == "it broke"
    assert parse({"type": "TRACE", "trace": {"type": "ERROR"}}).error == "no message"
    assert parse({"type": "TRACE", "trace": {"type": "ANALYTICS"}}).event is None
    assert parse({"type": "LOG"}).event is None


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"type": "STATE", "state": {"type": "GLOBAL"}}, "state.global: found nothing"),
        (global_state({"name": "a"}, {"name": "a"}), "expected each stream once"),
        (global_state({"name": "a", "id": "1"}), "stream_states[0].id: found '1'"),
        (global_state(id=1.5), "state.id: found 1.5, expected a whole number"),
        (global_state(partition_id=7), "state.partition_id: found 7, expected a text"),
        (global_state(sourceStats=[]), "state.sourceStats: found a list"),
        ({"type": "STATE", "state": {"data": "x" * 99}}, "expected the data of a legacy state"),
        ({"type": "TRACE", "trace": {}}, "trace.type: found nothing, expected a text"),
        (
            {
                "type": "TRACE",
                "trace": {
                    "type": "STREAM_STATUS",
                    "stream_status": {"stream_descriptor": {"name": "a"}, "status": "DONE"},
                },
            },
            "trace.stream_status.status: found 'DONE', expected one of STARTED",
        ),
        ({"type": "RECORD", "record": {"stream": 3, "data": {}}}, "record.stream: found 3"),
        ({"type": 5}, "type: found 5"),
        (None, "message: found nothing, expected an object"),
    ],
)
def test_a_bad_message_is_told_with_its_place(message: Any, says: str) -> None:
    """Where, the value found, and the value expected."""
    with pytest.raises(wire.WireError) as wrong:
        parse(message)
    assert says in str(wrong.value)


def test_a_released_state_carries_statistics() -> None:
    """Statistics are added beside everything that was there.

    Rejected counts only where there are some.
    """
    message = wire.read_json(
        '{"type":"STATE","state":{"destinationStats":{"recordCount":9.0,"more":1},'
        '"stream":{"stream_descriptor":{"name":"a"}},"type":"STREAM"}}'
    )
    effect = ordering.SendState(
        scope=ordering.StreamDescriptor("a"),
        key=ordering.CheckpointKey(1, "p"),
        kind=ordering.StateKind.STREAM,
        payload=message,
        source_count=3,
        statistics=ordering.ReleaseStatistics(
            destination=ordering.Count(2, 20, 1), total=ordering.Count(5, 50, 1)
        ),
    )
    assert wire.write_json(wire.render_state(effect, medium=ordering.Medium.SOCKET)) == (
        '{"type":"STATE","state":{"destinationStats":{"recordCount":2.0,"more":1,'
        '"rejectedRecordCount":1.0},"stream":{"stream_descriptor":{"name":"a"}},"type":"STREAM",'
        '"committedRecordsCount":5,"committedBytesCount":50,"rejectedRecordsCount":1}}'
    )


def test_a_catalog_lists_each_stream_once() -> None:
    """A configured catalog gives its streams in order. A repeated one is refused."""
    entry = {"stream": {"name": "a", "namespace": "n"}}
    assert wire.parse_catalog({"streams": [entry]}) == (ordering.StreamDescriptor("a", "n"),)
    with pytest.raises(wire.WireError, match="each stream once"):
        wire.parse_catalog({"streams": [entry, entry]})
    with pytest.raises(wire.WireError, match="streams: found nothing, expected a list"):
        wire.parse_catalog({})
