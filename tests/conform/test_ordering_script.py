"""The vocabulary of the ordering vectors: every step, and that a wrong expectation is noticed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckptsim.models.ordering import OrderingCore, OrderingParameters
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli import main
from ckptsim.sim.conform.ordering import ADAPTER
from ckptsim.sim.conform.runner import run_file

VECTORS = Path(__file__).parents[1] / "data/vectors/ordering.jsonl"
Vector = dict[str, Any]


def make_own_core(parameters: OrderingParameters) -> OrderingCore:
    """Build the core that `--core` names in a test."""
    return OrderingCore(parameters)


def vector(*steps: dict[str, Any], emitted: Any = None, pending: int = 0, **config: Any) -> Vector:
    return {
        "suite": "ordering",
        "name": "own",
        "engine": "cm",
        "profile": "spec",
        "config": {"medium": "SOCKET", "streams": ["s1", "s2"], **config},
        "steps": list(steps),
        "expect": {"emitted": emitted or {}, "pending": pending},
    }


def records(identity: str | None, count: int, stream: str = "s1") -> dict[str, Any]:
    step = {"op": "record", "stream": stream, "count": count, "bytes": count}
    return step if identity is None else {**step, "id": identity}


def durable(identity: Any, count: int, stream: str = "s1", **more: Any) -> dict[str, Any]:
    step = {"op": "persist", "stream": stream, "id": identity, "count": count, "bytes": count}
    return {**step, **more}


def state(index: int, identity: str, count: int, **more: Any) -> dict[str, Any]:
    return {
        "op": "state",
        "kind": "stream",
        "stream": "s1",
        "index": index,
        "id": identity,
        "source_count": count,
        "payload": f"m{index}",
        **more,
    }


def went(*payloads: str, **fields: Any) -> dict[str, Any]:
    states = [{"scope": "s1", "payload": payload, **fields} for payload in payloads]
    return {"op": "expect_emitted", "states": states}


FLUSH = {"op": "flush"}
TIMER = vector(
    state(1, "p", 0),
    {"op": "tick", "seconds": 29},
    went(),
    {"op": "tick", "seconds": 1},
    went("m1"),
    state(2, "q", 0),
    {"op": "send_fails_next", "count": 1},
    {"op": "tick", "seconds": 30, "error": "send_failed"},
    {"op": "expect_head", "scope": "s1", "index": 2},
    {"op": "restart"},
    {"op": "expect_head", "scope": "s1", "index": None},
    state(1, "r", 0),
    {"op": "tick", "seconds": 29},
    went(),
    {"op": "tick", "seconds": 31},
    went("m1"),
    {"op": "stop_timer"},
    state(2, "s", 0),
    {"op": "tick", "seconds": 600},
    went(),
    {"op": "expect_pending", "count": 1},
    {"op": "expect_resume", "scope": "s1", "payload": "m1"},
    emitted={"s1": ["m1", "m1"]},
    pending=1,
    flush_interval_s=30,
)
QUESTIONS = vector(
    {"op": "expect_opened", "streams": []},
    records("p", 2, "s2"),
    records("q", 1),
    records("q", 1),
    {"op": "expect_opened", "streams": ["s2", "s1"]},
    {"op": "expect_read", "stream": "s1", "count": 2},
    {"op": "expect_read", "stream": "s1", "count": 0, "id": "p"},
    durable("q", 3, error="over_count"),
    durable("q", 1, rejected=1),
    {"op": "expect_persisted", "stream": "s1", "id": "q", "value": True},
    state(1, "q", 2),
    FLUSH,
    went(
        "m1",
        index=1,
        id="q",
        source_count=2,
        dest_count=1,
        dest_rejected=1,
        total_records=1,
        total_bytes=1,
        total_rejected=1,
    ),
    {"op": "expect_stream_done", "stream": "s1", "value": False},
    {"op": "complete", "stream": "s1", "channel": 0},
    {"op": "mark_succeeded", "stream": "s1", "error": ["not_closed", "stream_closed"]},
    {"op": "close_channel", "channel": 0, "error": "incomplete_streams"},
    {"op": "close_channel", "channel": 0, "error": "already_closed"},
    records("q", 1) | {"error": "stream_closed"},
    {"op": "mark_succeeded", "stream": "s1"},
    {"op": "mark_failed", "stream": "s2"},
    {"op": "expect_result", "stream": "s1", "value": "succeeded"},
    {"op": "expect_result", "stream": "s2", "value": "failed"},
    {"op": "finish", "error": "incomplete_streams"},
    emitted={"s1": ["m1"]},
)
FINISH = vector(
    {"op": "complete", "stream": "s1", "channel": 0},
    state(1, "p", 0),
    state(2, "q", 1),
    {"op": "send_fails_next", "count": 1},
    {"op": "finish", "error": "send_failed"},
    {"op": "finish", "error": "unflushed_states"},
    went("m1"),
    emitted={"s1": ["m1"]},
    pending=1,
    streams=["s1"],
)
STDIO = vector(
    {"op": "expect_key", "stream": "s1", "index": 1},
    records("ignored", 2),
    {"op": "state", "kind": "global", "payload": "g1", "index": 9, "id": "ignored"},
    {"op": "expect_key", "stream": "s2", "index": 2},
    {"op": "state", "kind": "snapshot", "payload": "x", "error": "missing_checkpoint_key"},
    durable({"inferred": 1}, 2),
    FLUSH,
    {
        "op": "expect_emitted",
        "states": [
            {
                "scope": "*",
                "payload": "g1",
                "id": {"inferred": 1},
                "dest_count": 2,
                "per_stream": {"s1": {"records": 2, "bytes": 2, "rejected": 0}},
            }
        ],
    },
    {"op": "expect_resume", "scope": "*", "payload": "g1"},
    {"op": "expect_resume", "scope": "s1", "payload": None},
    emitted={"*": ["g1"]},
    medium="STDIO",
)
OWN = {"timer": TIMER, "questions": QUESTIONS, "finish": FINISH, "stdio": STDIO}


@pytest.mark.parametrize("name", OWN)
def test_every_step_of_the_vocabulary_works(name: str) -> None:
    """Vectors that use the steps which the published ones lack pass as well."""
    assert ADAPTER.run(OWN[name], None) is None


def spoilt(original: Vector) -> Iterator[tuple[str, Vector]]:
    """Yield copies of a vector, each with one expectation made wrong."""
    for number, step in enumerate(original["steps"]):
        for name, value in step.items():
            if name == "error":
                wrong: Any = None
            elif not step["op"].startswith("expect_") or name in ("op", "stream", "scope", "id"):
                continue
            else:
                wrong = another(value)
            changed = copy.deepcopy(original)
            changed["steps"][number][name] = wrong
            yield f"step {number + 1} {name}", changed
    changed = copy.deepcopy(original)
    for name in original["expect"]:
        changed["expect"] = {**original["expect"], name: another(original["expect"][name])}
        yield f"expect {name}", copy.deepcopy(changed)


def another(value: Any) -> Any:
    """Return a value that differs from the given one."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case list() if value and isinstance(value[-1], dict):
            last = {
                name: v if name in ("scope", "kind") else another(v)
                for name, v in value[-1].items()
            }
            return [*value[:-1], last]
        case list():
            return [*value, {"scope": "s1", "payload": "never", "kind": "stream"}]
        case dict():
            return {name: another(v) for name, v in value.items()} or {"s1": ["never"]}
        case _:
            return "never"


def runnable() -> list[Vector]:
    vectors = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    return [v for v in vectors if ADAPTER.skip_reason(v, None) is None] + list(OWN.values())


def test_a_wrong_expectation_is_noticed() -> None:
    """Whatever single expectation of a vector is made wrong, the vector fails."""
    tried = 0
    for original in runnable():
        for what, changed in spoilt(original):
            assert ADAPTER.run(changed, None) is not None, (original["name"], what)
            tried += 1
    assert tried > 300


def test_a_missing_error_is_noticed() -> None:
    """A step that must fail and does not is a difference, as is a wrong kind of error."""
    for error in ("stale_index", ["invalid_index", "over_count"]):
        changed = vector(state(1, "p", 0) | {"error": error}, pending=1)
        found = ADAPTER.run(changed, None)
        assert found is not None
        assert found.found == "no error"
    found = ADAPTER.run(vector(state(0, "p", 0) | {"error": "stale_index"}), None)
    assert found is not None
    assert (found.expected, found.found) == ("stale_index", "invalid_index")


def test_unknown_steps_are_the_users_to_mend(tmp_path: Path) -> None:
    """A vector with a step that the vocabulary lacks is named, not skipped."""
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps(vector({"op": "dance"})))
    with pytest.raises(UserError, match="dance"):
        list(run_file(path))


def test_a_core_of_ones_own_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    """`--core` runs the destination's vectors on any factory, and asks it what hosts ask."""
    named = "tests.conform.test_ordering_script:make_own_core"
    assert main(["conform", str(VECTORS), "--core", named]) == 0
    told = capsys.readouterr().out
    assert "skipped sm_mark_succeeded: no host does mark_succeeded" in told
    assert "since no host asks it: expect_persisted, expect_stream_done, expect_key" in told
    assert "skipped src_in_order_readers: it is about slot source; not ours are: ordering" in told
    assert "62 passed, 0 failed, 18 skipped" in told


def test_a_misspelt_mutant_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown mutant is the user's to mend, and the known ones are listed."""
    assert main(["conform", str(VECTORS), "--mutant", "gap_tolerated"]) == 2
    assert "gaps_tolerated" in capsys.readouterr().err


CORES = Path(__file__).parents[1] / "data/field/cores"
EAGER = """
from ckptsim.cores import ordering as o
from right_plain import Right


class Eager(Right):
    def step(self, event):
        effects = super().step(event)
        if isinstance(event, o.RecordsDurable | o.StateRead):
            self.again = True
            effects += self.advance()
        return effects
"""


@pytest.mark.parametrize(
    ("core", "code"),
    [("right_plain:Right", 0), ("eager_core:Eager", 0), ("wrong_fifo:TrueFifo", 1)],
)
def test_vectors_ask_of_a_core_what_hosts_ask(monkeypatch, tmp_path, core: str, code: int) -> None:
    """A right one may repeat a failed send at once and send before a flush, a wrong one fails."""
    (tmp_path / "eager_core.py").write_text(EAGER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(CORES)
    assert main(["conform", str(VECTORS), "--core", f"ordering={core}"]) == code
