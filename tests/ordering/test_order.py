"""`ckptsim order` on a real recording, in a pipe, and on bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ckptsim.sim.cli import main

RECORDING = Path(__file__).parents[1] / "data/airbyte/source_faker.jsonl"
ORDER = (sys.executable, "-m", "ckptsim", "order")


def record(stream: str, partition_id: str | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"stream": stream, "data": {"n": 1}, "emitted_at": 1}
    if partition_id is not None:
        message["partition_id"] = partition_id
    return {"type": "RECORD", "record": message}


def stream_state(stream: str, count: float | None, **more: Any) -> dict[str, Any]:
    state: dict[str, Any] = {
        "type": "STREAM",
        "stream": {"stream_descriptor": {"name": stream}, "stream_state": {"at": 1}},
    }
    if count is not None:
        state["sourceStats"] = {"recordCount": count}
    return {"type": "STATE", "state": {**state, **more}}


def status(stream: str, text: str) -> dict[str, Any]:
    found = {"stream_descriptor": {"name": stream}, "status": text}
    return {"type": "TRACE", "trace": {"type": "STREAM_STATUS", "stream_status": found}}


class Outcome:
    """What one call of the verb gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.err = err
        self.lines = out.splitlines()
        self.states = [json.loads(line)["state"] for line in self.lines]


@pytest.fixture
def order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the verb on messages (or lines) and options."""

    def run(messages: list[Any], *options: str) -> Outcome:
        path = tmp_path / "messages.jsonl"
        lines = [m if isinstance(m, str) else json.dumps(m) for m in messages]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        code = main(["order", str(path), *options])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.mark.parametrize("options", [(), ("--batch-records", "7", "--batch-delay", "50")])
def test_the_recording_comes_back_in_order_with_its_counts(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """All 21 states return unchanged, in order, each with the count of the records before it."""
    sent = [json.loads(line) for line in RECORDING.read_text().splitlines()]
    before = [message["state"] for message in sent if message["type"] == "STATE"]
    assert main(["order", str(RECORDING), *options]) == 0
    captured = capsys.readouterr()
    after = [json.loads(line)["state"] for line in captured.out.splitlines()]
    assert len(after) == len(before) == 21
    for stream in ("products", "users", "purchases"):
        mine = [s for s in before if s["stream"]["stream_descriptor"]["name"] == stream]
        theirs = [s for s in after if s["stream"]["stream_descriptor"]["name"] == stream]
        total = 0
        for was, now in zip(mine, theirs, strict=True):
            total += was["sourceStats"]["recordCount"]
            assert now["destinationStats"] == was["sourceStats"]
            assert now["committedRecordsCount"] == total
            added = {"destinationStats", "committedRecordsCount", "committedBytesCount"}
            assert {k: v for k, v in now.items() if k not in added} == was
    assert "900 records committed" in captured.err


def test_states_leave_before_the_input_ends() -> None:
    """In a pipe a state is written as soon as it may go, while the source still runs."""
    lines = [json.dumps(m) for m in (record("a"), stream_state("a", 1))]
    with subprocess.Popen(
        [*ORDER, "-", "--batch-records", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(("\n".join(lines) + "\n").encode())
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        assert first["state"]["committedRecordsCount"] == 1
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def test_everything_of_a_message_is_kept(order: Any) -> None:
    """Unknown properties, the order of keys and the spelling of numbers survive."""
    line = (
        '{"zeta":1E3,"type":"STATE","state":{"x":{"b":100.0,"a":-0.10,"c":[1e400,"\\u00e9\\ud800"]},'
        '"type":"STREAM","stream":{"stream_state":{"n":123456789012345678901234567890},'
        '"stream_descriptor":{"name":"a"}},"sourceStats":{"recordCount":0.0,"more":1.50}}}'
    )
    found = order([line])
    expected = line.replace(
        '"more":1.50}',
        '"more":1.50},"destinationStats":{"recordCount":0.0},'
        '"committedRecordsCount":0,"committedBytesCount":0',
    )
    assert found.code == 0
    assert found.lines == [expected]


def test_sockets_order_states_by_their_keys(order: Any) -> None:
    """On sockets states go by index, each after the records of its partition."""
    messages = [
        stream_state("a", 1, id=2, partition_id="p2"),
        record("a", "p1"),
        record("a", "p2"),
        stream_state("a", 1, id=1, partition_id="p1"),
        status("a", "COMPLETE"),
    ]
    found = order(messages, "--medium", "socket")
    assert found.code == 0
    assert [state["id"] for state in found.states] == [1, 2]
    assert [state["committedRecordsCount"] for state in found.states] == [1, 2]


def test_a_snapshot_gets_totals_per_stream(order: Any) -> None:
    """A global state on sockets gets the totals of each listed stream at its entry."""
    entries = [
        {"stream_descriptor": {"name": "a"}, "stream_state": {}, "id": 1, "partition_id": "i"},
        {"stream_descriptor": {"name": "b"}, "stream_state": {}},
    ]
    state = {
        "type": "GLOBAL",
        "global": {"shared_state": {}, "stream_states": entries},
        "sourceStats": {"recordCount": 2},
        "id": 1,
        "partition_id": "o",
    }
    messages = [record("a", "i"), record("a", "i"), {"type": "STATE", "state": state}]
    (found,) = order(messages, "--medium", "socket").states
    per_stream = [entry["committedRecordsCount"] for entry in found["global"]["stream_states"]]
    assert per_stream == [2, 0]
    assert found["committedRecordsCount"] == 2


@pytest.mark.parametrize("kind", ["LEGACY", None])
def test_legacy_states_cover_every_stream(order: Any, kind: str | None) -> None:
    """A legacy state, or one without a type, is handled like a global one."""
    state: dict[str, Any] = {"data": {"cursor": 1}, "sourceStats": {"recordCount": 2.0}}
    if kind is not None:
        state["type"] = kind
    found = order([record("a"), record("b"), {"type": "STATE", "state": state}])
    assert found.code == 0
    assert found.states[0]["destinationStats"] == {"recordCount": 2.0}


def test_a_stream_that_appears_late_joins_the_common_interval(order: Any) -> None:
    """A stream first seen after a global state counts its records to the next one."""
    state = {"type": "STATE", "state": {"data": {}}}
    found = order([record("a"), state, record("b"), state])
    assert found.code == 0
    counts = [state["destinationStats"]["recordCount"] for state in found.states]
    assert counts == [1.0, 1.0]


def test_unreleased_states_fail_with_scope_index_and_counts(order: Any) -> None:
    """At the end, states that cannot go are named with scope, index and both counts."""
    messages = [record("a", "p"), stream_state("a", 3, id=1, partition_id="p")]
    found = order([*messages, status("a", "COMPLETE")], "--medium", "socket")
    assert found.code == 1
    assert found.lines == []
    assert (
        "unflushed_states; stream a: state 1 (id p) waits for its count: the source sent 3 "
        "records, 1 are accounted for (1 unsent)" in found.err
    )


def test_a_missing_predecessor_is_named(order: Any) -> None:
    """A gap is reported as the index that never came."""
    messages = [record("a", "p"), stream_state("a", 1, id=2, partition_id="p")]
    found = order(messages, "--medium", "socket", "--json")
    (blocked,) = json.loads(found.err)["failure"]["blocked"]
    assert found.code == 1
    assert blocked["next_index"] == 1
    assert blocked["lowest_index"] == 2
    assert blocked["obstacle"] == "predecessor"


def test_a_stream_that_never_completed_fails_the_sync(order: Any) -> None:
    """With stream statuses in the input, a stream without COMPLETE is an error, states or not."""
    messages = [
        status("a", "STARTED"),
        record("a"),
        stream_state("a", 1),
        status("a", "INCOMPLETE"),
    ]
    found = order(messages)
    assert found.code == 1
    assert len(found.states) == 1
    assert "incomplete_streams; not COMPLETE: a" in found.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{nope", "line 2: found no JSON"),
        ('{"type":"NOPE"}', "line 2: type: found 'NOPE', expected one of RECORD, STATE"),
        ("[]", "line 2: message: found a list, expected an object"),
        ('{"type":"RECORD"}', "line 2: record: found nothing, expected an object"),
        ('{"type":"RECORD","record":{"data":{}}}', "record.stream: found nothing, expected a text"),
        ('{"type":"STATE","state":{"type":"STREAM"}}', "state.stream: found nothing"),
        ('{"type":"STATE","state":{"type":"ODD"}}', "state.type: found 'ODD'"),
        ('{"type":"STATE","state":{"data":{},"sourceStats":{"recordCount":1.5}}}', "found 1.5"),
        ('{"type":"STATE","state":{"data":{},"sourceStats":{"recordCount":-1}}}', "found -1"),
        (
            '{"type":"STATE","state":{"data":{},"sourceStats":{"recordCount":1E999999999}}}',
            "found 1E",
        ),
        ('{"type":"LOG","log":NaN}', "line 2: found no JSON (NaN is not JSON)"),
        ("[" * 100000, "line 2: found no JSON"),
    ],
)
def test_a_bad_line_is_named_with_its_number(order: Any, line: str, says: str) -> None:
    """A line that is not a message ends the run with code 2, its number and the value expected."""
    found = order([record("a"), line])
    assert found.code == 2
    assert says in found.err
    assert "Traceback" not in found.err


def test_a_refused_message_is_named_with_its_number(order: Any) -> None:
    """What the core refuses ends the run with code 2, the line's number and the rule's name."""
    state = stream_state("a", 0, id=1, partition_id="p")
    found = order([state, state], "--medium", "socket")
    assert found.code == 2
    assert "line 2: refused, stale_index" in found.err


def test_a_catalog_refuses_other_streams(order: Any, tmp_path: Path) -> None:
    """With a configured catalog a stream that it lacks is refused."""
    catalog = tmp_path / "catalog.json"
    catalog.write_text(json.dumps({"streams": [{"stream": {"name": "a"}}]}))
    assert order([record("a")], "--catalog", str(catalog)).code == 0
    found = order([record("b")], "--catalog", str(catalog))
    assert found.code == 2
    assert "line 1: refused, unknown_stream" in found.err


def test_files_that_cannot_be_read_are_the_users_to_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing input or a broken catalog ends with code 2 and its name."""
    assert main(["order", str(tmp_path / "none")]) == 2
    assert "none: cannot be read" in capsys.readouterr().err
    (tmp_path / "catalog.json").write_text("{}")
    assert main(["order", "-", "--catalog", str(tmp_path / "catalog.json")]) == 2
    assert "streams: found nothing, expected a list" in capsys.readouterr().err
