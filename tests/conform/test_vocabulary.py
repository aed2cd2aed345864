"""Vectors that do not speak the language of their suite are named, and the others still run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli import main
from ckptsim.sim.conform.runner import SUITES, run_file
from ckptsim.sim.conform.vocabulary import WORDS, VocabularyError, check

DATA = Path(__file__).parents[1] / "data"
Vector = dict[str, Any]

BARRIERS: Vector = {
    "suite": "barriers",
    "handler": "aligned",
    "channels": 1,
    "checkpoints_after_finish": True,
    "timers": "auto",
    "steps": [{"event": "eop", "channel": 0}],
    "expect": [{}],
}
STORE: Vector = {"suite": "checkpoint_store", "placement": "external", "steps": [], "expect": {}}
TASK: Vector = {"suite": "final_checkpoint", "task": "source", "steps": [], "expect": []}
GOOD: Vector = {
    "suite": "rescale",
    "name": "good",
    "kind": "old_subtasks",
    "mapper": "FULL",
    "old": 1,
    "new": 1,
    "old_of_new": [[0]],
}


@pytest.mark.parametrize("folder", ["vectors", "recorded"])
def test_every_vector_that_comes_along_speaks_its_language(folder: str) -> None:
    """The words take in all that is used. Every suite has words."""
    assert WORDS.keys() == SUITES.keys()
    for path in sorted((DATA / folder).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            check(json.loads(line))


@pytest.mark.parametrize(
    ("vector", "says"),
    [
        (
            BARRIERS | {"steps": [{"event": "dance"}]},
            "step 0: found event 'dance', expected one of data, barrier",
        ),
        (
            BARRIERS | {"steps": [{"event": "cancel", "channel": 0, "checkpoint": "1"}]},
            "step 0: found checkpoint '1', expected int",
        ),
        (BARRIERS | {"steps": [{"event": "eop"}]}, "step 0: found no channel, expected int"),
        (BARRIERS | {"steps": [7]}, "step 0: found 7, expected an object"),
        (BARRIERS | {"channels": True}, "found channels True, expected int"),
        (BARRIERS | {"timers": "wild"}, "found timers 'wild', expected one of auto, manual"),
        (BARRIERS | {"expect": []}, "found 0 entries in expect, expected 1"),
        (
            BARRIERS
            | {
                "steps": [
                    {"event": "barrier", "channel": 0, "checkpoint": 1, "ts": 0, "opt": "odd"}
                ]
            },
            "found opt 'odd', expected one of at_least_once",
        ),
        (STORE | {"expect": {"dta": {}}}, "expect: found dta, expected only errors"),
        (STORE | {"steps": [{"op": "lose", "what": "all"}]}, "found what 'all', expected one of"),
        (TASK | {"config": {"in_channel": 2}}, "config: found in_channel, expected only"),
        (TASK | {"variant": "both"}, "found variant 'both', expected one of flip, flink"),
        (GOOD | {"mapper": "WILD"}, "found mapper 'WILD', expected one of ARBITRARY"),
        (GOOD | {"kind": "wild"}, "found kind 'wild', expected one of old_subtasks"),
    ],
)
def test_what_has_no_word_is_named_with_the_words_there_are(vector: Vector, says: str) -> None:
    """The message says where, the value found and the value expected."""
    with pytest.raises(VocabularyError, match=says):
        check(vector)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"step": 1, "action": "finish_task"}, "expected the index of a step"),
        ({"step": 0, "id": 3}, "expected an action or a state"),
    ],
)
def test_an_expectation_that_would_go_unnoticed_is_refused(
    tmp_path: Path, entry: Vector, says: str
) -> None:
    """An expected entry that belongs to no step, or says nothing, is no silent pass."""
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps(TASK | {"steps": [{"event": "start"}], "expect": [entry]}))
    with pytest.raises(UserError, match=says):
        list(run_file(path))


def test_bad_lines_do_not_keep_the_good_ones_from_running(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that can be run is, the counts come last, each bad line is reported with its number."""
    odd, missing, good = tmp_path / "odd.jsonl", tmp_path / "none.jsonl", tmp_path / "good.jsonl"
    lines = ["no json", "", "[1]", '{"suite": ["x"]}', json.dumps(GOOD), '{"suite": "none"}']
    odd.write_text("\n".join(lines))
    good.write_text(json.dumps(GOOD) + "\n")
    assert main(["conform", str(odd), str(missing), str(good)]) == 2
    shown = capsys.readouterr()
    assert shown.out.splitlines()[-1] == "2 passed, 0 failed"
    for number, says in ((1, "no JSON"), (3, "a JSON object"), (4, "one of"), (6, "'none'")):
        assert any(
            f"odd.jsonl:{number}: " in line and says in line for line in shown.err.splitlines()
        )
    assert "none.jsonl: cannot be read" in shown.err


def test_many_bad_lines_are_told_in_short(tmp_path: Path) -> None:
    """A file that is something else altogether does not fill the screen."""
    path = tmp_path / "odd.jsonl"
    path.write_text("x\n" * 50)
    with pytest.raises(UserError, match="and 30 lines more") as error:
        list(run_file(path))
    assert len(str(error.value).splitlines()) == 21


def test_only_a_line_feed_ends_a_vector(tmp_path: Path) -> None:
    """A key may hold the separators that Unicode has besides."""
    path = tmp_path / "odd.jsonl"
    key = {"kind": "key_group", "key_type": "string", "key": "a\u2028b\x85"}
    vector = {"suite": "rescale", "java_hash": 3205096, "murmur": 0} | key
    path.write_text(json.dumps(vector, ensure_ascii=False), encoding="utf-8")
    (outcome,) = run_file(path)
    assert outcome.mismatch is not None
    assert outcome.mismatch.step in ("java_hash", "murmur")
