"""Pictures: each file follows the rules of its viewer."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.sim.export import diagrams, perfetto, pictures
from ckptsim.sim.export.diagrams import messages
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.story import Telling, tell
from ckptsim.sim.world import WORLDS, load_world, run_world

VOCABULARY = {
    "made": Telling("makes {index}; #1", "index", begins="way:index"),
    "got": Telling("gets {index}", "index", ends="way:index"),
    "work": Telling("works", begins="work"),
    "done": Telling("is done", ends="work"),
    "thanks": Telling("thanks {to}", "to"),
}
KINDS = [*VOCABULARY, "other"]


def _fields(kind: str, number: int) -> tuple[object, ...]:
    return {"made": (number,), "got": (number,), "thanks": (f"b[{number}]",)}.get(kind, ())


TRACES = st.lists(
    st.tuples(
        st.integers(0, 5000), st.sampled_from(KINDS), st.sampled_from("ab"), st.integers(0, 2)
    ),
    max_size=30,
).map(
    lambda rows: [
        (time, kind, f"{who}[{number}]" if who == "b" else who, *_fields(kind, number))
        for time, kind, who, number in sorted(rows, key=lambda row: row[0])
    ]
)


def _checkpoint(completed: int | None) -> CheckpointRow:
    return CheckpointRow(
        run_key="k",
        scope="users",
        checkpoint_id=1,
        attempt=1,
        kind="stream",
        status="pending" if completed is None else "completed",
        reason=None,
        triggered_ns=1,
        completed_ns=completed,
        duration_ns=None,
    )


FLOW_WITHOUT_SLICES = (
    '{"ph":"s","name":"m","cat":"m","id":1,"pid":1,"tid":1,"ts":1.0},'
    '{"ph":"f","bp":"e","name":"m","cat":"m","id":1,"pid":1,"tid":1,"ts":2.0}'
)


def validate_chrome_json(text: str) -> None:
    """Raise AssertionError unless the text follows the rules of the trace event format."""
    document = json.loads(text)
    assert set(document) == {"displayTimeUnit", "traceEvents"}
    assert document["displayTimeUnit"] in ("ms", "ns")
    open_spans: dict[tuple[object, ...], list[float]] = {}
    flows: dict[object, list[dict[str, object]]] = {}
    slices: set[tuple[int, int, float]] = set()
    counters: dict[str, object] = {}
    named: dict[tuple[int, int], str] = {}
    times: list[float] = []
    for event in document["traceEvents"]:
        phase = event["ph"]
        assert phase in "MibeCXsf"
        assert all(type(event[key]) is int for key in ("pid", "tid"))
        assert type(event["ts"]) is float
        if phase == "M":
            assert times == [], "metadata comes first"
            named[(event["pid"], event["tid"])] = event["name"]
            assert event["args"]
            continue
        assert (event["pid"], event["tid"]) in named
        times.append(event["ts"])
        if phase in "be":
            key = (event["cat"], event["id"], event["name"])
            if phase == "b":
                assert key not in open_spans
                open_spans[key] = [event["ts"]]
            else:
                open_spans[key].append(event["ts"])
        elif phase == "X":
            assert event["dur"] > 0
            slices.add((event["pid"], event["tid"], event["ts"]))
        elif phase in "sf":
            assert phase == "s" or event["bp"] == "e", "else it binds to the next slice"
            flows.setdefault(event["id"], []).append(event)
        elif phase == "C":
            assert all(type(value) is int and value >= 0 for value in event["args"].values())
            assert counters.get(event["name"]) != event["args"], "on change only"
            counters[event["name"]] = event["args"]
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert all(len(ends) == 2 and ends[0] <= ends[1] for ends in open_spans.values())
    for start, end in flows.values():
        assert (start["ph"], end["ph"]) == ("s", "f")
        assert start["ts"] <= end["ts"]
        assert (start["cat"], start["name"]) == (end["cat"], end["name"])
        for half in (start, end):
            assert (half["pid"], half["tid"], half["ts"]) in slices, "a flow joins slices"
    assert all(list(last.values()) == [0] for last in counters.values())


@given(TRACES, st.lists(st.sampled_from([None, 7, 9000]), max_size=2))
def test_perfetto_files_follow_the_format(trace, completed):
    """Numbers, names, order and closed spans are as the viewer wants them, twice the same bytes."""
    rows = [_checkpoint(end) for end in completed]
    text = perfetto.document(trace, VOCABULARY, rows)
    validate_chrome_json(text)
    assert perfetto.document(trace, VOCABULARY, rows) == text


def test_perfetto_times_are_exact_microseconds():
    """Nanoseconds are written with three digits, whatever their size."""
    trace = [(9_007_199_254_740_993_123, "work", "a")]
    assert '"ts":9007199254740993.123}' in perfetto.document(trace, VOCABULARY)


@pytest.mark.parametrize(
    "broken",
    [
        '{"traceEvents":[]}',
        '{"displayTimeUnit":"ns","traceEvents":[{"ph":"i","pid":1,"tid":1,"ts":1.0}]}',
        *(
            '{"displayTimeUnit":"ns","traceEvents":[{"ph":"M","name":"a","pid":1,"tid":1,"ts":0.0,'
            '"args":{"name":"a"}},' + event + "]}"
            for event in (
                '{"ph":"C","name":"c","pid":1,"tid":1,"ts":1.0,"args":{"count":1}}',
                '{"ph":"X","name":"x","pid":1,"tid":1,"ts":1.0,"dur":0}',
                FLOW_WITHOUT_SLICES,
            )
        ),
    ],
)
def test_the_validator_refuses_what_is_wrong(broken):
    """The validator is not one that lets everything pass."""
    with pytest.raises(AssertionError):
        validate_chrome_json(broken)


@given(TRACES)
def test_mermaid_names_are_declared_and_nothing_breaks_the_syntax(trace):
    """Every line is a participant, a note or an arrow between declared participants."""
    lines = diagrams.diagram(trace, VOCABULARY).splitlines()
    assert lines[0] == "sequenceDiagram"
    declared: list[str] = []
    for line in lines[1:]:
        if match := re.fullmatch(r"    participant (P\d+) as (\S.*)", line):
            declared.append(match[1])
            continue
        match = re.fullmatch(r"    (?:Note over (P\d+)|(P\d+)->>(P\d+)): (.+)", line)
        assert match, line
        assert all(name in declared for name in match.groups()[:3] if name)
        assert not re.sub(r"#\d+;", "", match[4]).count(";")


def test_mermaid_draws_messages_as_arrows():
    """A span that ends at another entity, and a `to`, are arrows. The rest out is said."""
    trace = [(1, "made", "a", 5), (2, "got", "b[0]", 5), (3, "thanks", "b[0]", "a")]
    lines = diagrams.diagram(trace, VOCABULARY).splitlines()
    assert "    P0->>P1: 0.000 ms gets 5" in lines
    assert "    P1->>P0: 0.000 ms thanks a" in lines
    long = [(n, "work", "a") for n in range(1000)]
    assert "750 further entries" in diagrams.diagram(long, VOCABULARY)


@given(TRACES)
def test_shiviz_clocks_are_causal(trace):
    """Each host counts its own entries from 1, and the end of a message knows its beginning."""
    text = diagrams.log(trace, VOCABULARY)
    pattern = diagrams.PATTERN.replace("(?<", "(?P<")
    found = [match.groupdict() for match in re.finditer(pattern, text)]
    assert len(found) == len(trace)
    own: dict[str, int] = {}
    for item in found:
        clock = json.loads(item["clock"])
        own[item["host"]] = own.get(item["host"], 0) + 1
        assert clock[item["host"]] == own[item["host"]]
        assert all(count <= own[host] for host, count in clock.items())


def test_shiviz_messages_merge_clocks():
    """The receiver's clock has the sender's entry in it."""
    text = diagrams.log([(1, "made", "a", 5), (2, "got", "b[0]", 5)], VOCABULARY)
    assert text.splitlines()[3] == 'b[0] {"a": 1, "b[0]": 1}'


def _some_of_each_link() -> list[str]:
    """Name the first two scenarios of each link of the chain."""
    chosen: dict[str, list[str]] = {link: [] for link in WORLDS}
    for scenario in all_scenarios():
        chosen[scenario.link].append(scenario.name)
    return ["reference", *(name for names in chosen.values() for name in names[:2])]


@pytest.mark.parametrize("name", _some_of_each_link())
def test_the_pictures_of_a_real_run_are_sound(name):
    """Every link's world says how its entries read, and is drawn by every writer."""
    scenario = by_name(name)
    result = run_world(scenario, seed=1, ties="random", keep_trace=True)
    vocabulary = load_world(scenario.link).VOCABULARY
    kinds = dict.fromkeys(str(entry[1]) for entry in result.trace)
    assert [kind for kind in kinds if kind not in vocabulary] == []
    assert sum(line.count for line in tell(result.trace, vocabulary)) == len(result.trace)
    files = pictures(result.trace, vocabulary, scenario, result)
    validate_chrome_json(files["trace.perfetto.json"])
    assert files["sequence.mmd"].startswith("sequenceDiagram\n")
    assert files["shiviz.log"].count("\n") == 2 * len(result.trace)


@pytest.mark.parametrize(
    "name", ["keyed_crash", "alignment_timeout", "pipeline_aligned", "pipeline_buffers"]
)
def test_barriers_are_arrows_between_tasks(name):
    """On both data planes barriers, triggers, acknowledgements and notifications are messages."""
    scenario = by_name(name)
    result = run_world(scenario, seed=0, keep_trace=True)
    found = messages(result.trace, scenario)
    kinds = {message.name.rpartition(" ")[0] for message in found}
    assert {"barrier", "trigger", "acknowledges"} <= kinds
    # On buffers no entry says that a task learns of a completion.
    assert ("notification" in kinds) == (name in ("keyed_crash", "pipeline_aligned"))
    for message in found:
        start, end = result.trace[message.start], result.trace[message.end]
        assert start[0] <= end[0]
        assert start[2] != end[2]
        if message.name.startswith("barrier"):
            assert start[3] == end[3] == int(message.name.split()[1])
    files = pictures(result.trace, load_world(scenario.world).VOCABULARY, scenario, result)
    assert re.search(r"    P\d+->>P\d+: barrier \d", files["sequence.mmd"])
    phases = {event["ph"] for event in json.loads(files["trace.perfetto.json"])["traceEvents"]}
    assert phases >= set("MXisfbeC") - set("e")


def test_every_barrier_of_buffers_has_its_sender():
    """Each barrier that a task takes from a channel comes from the task at its other end."""
    scenario = by_name("alignment_timeout")
    result = run_world(scenario, seed=0, keep_trace=True)
    ends = [message.end for message in messages(result.trace, scenario)]
    taken = [at for at, entry in enumerate(result.trace) if entry[1] == "barrier"]
    assert taken
    assert set(taken) <= set(ends)


def test_messages_of_a_real_run_are_arrows():
    """A sync's states go from readers to sockets and from the sender to the platform."""
    result = run_world(by_name("reference"), seed=1, keep_trace=True)
    text = diagrams.diagram(result.trace, load_world("ordering").VOCABULARY)
    assert text.count("->>") >= 10
