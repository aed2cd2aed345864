"""The command line of `why`: scenarios, recordings, finds, JSON and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.cli.main import main
from ckptsim.sim.search import Subject
from ckptsim.sim.search.folder import keep
from tests.pages import assert_shown, sessions_of, text_of


def test_the_page_shows_what_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command of the page about causes prints what the page shows."""
    monkeypatch.setenv("COLUMNS", "120")
    sessions = sessions_of(text_of("why.md"))
    assert sessions
    for command, *shown in sessions:
        assert main(command.split()[1:]) == 0
        assert_shown(tuple(shown), capsys.readouterr().out)


def test_the_page_s_python_names_the_cause(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python of the page about causes prints subtask, phase and share."""
    [block] = re.findall(r"```python\n(.*?)```", text_of("why.md"), re.DOTALL)
    exec(block, {})
    assert capsys.readouterr().out.startswith("slow start_delay 0.9")


def test_json_has_cause_path_and_remedies(capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` has the cause, the path step by step, and each remedy with its effect."""
    assert main(["why", "expiring_uploads", "expired", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cause"].keys() == {"vertex", "subtask", "phase", "share"}
    assert (found["cause"]["vertex"], found["cause"]["phase"]) == ("operator", "async")
    assert {"vertex", "subtask", "phase", "from_ns", "until_ns"} <= found["path"][0].keys()
    assert {"says", "change", "duration_ns"} == found["remedies"][0].keys()


def test_a_recording_says_only_what_its_answers_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """A recording has no remedies, and says what its answers lack."""
    assert main(["why", "orders", "17", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cause"]["vertex"], found["cause"]["phase"]) == ("enrich", "start_delay")
    assert found["remedies"] == []
    assert "The answers name neither" in found["says"][-1]
    assert main(["why", "orders", "3"]) == 0
    assert "no parts of subtasks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["orders", "999"], r"found 999, expected one of \d+ to \d+"),
        (["orders", "recovery", "1"], "REST answers hold no instants of a recovery"),
        (["expiring_uploads", "sometime"], "target: found 'sometime', expected"),
        (["no_such_thing"], "expected a name that `ckptsim list` shows"),
    ],
)
def test_bad_input_is_refused(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything that is not there is the user's error, with the present state."""
    assert main(["why", *words]) == 2
    assert re.search(says, capsys.readouterr().err)


def test_a_find_has_its_violation_and_what_led_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder of a find says what broke, after what, and how to repeat it."""
    subject = Subject(scenario=by_name("quickstart"), mutant="arrival_order", source="quickstart")
    result = subject.run(0, "structural")
    name = result.violations[0].property
    keep(tmp_path, subject, seed=0, ties="structural", name=name, beside=False)
    assert main(["why", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{name} does not hold")
    assert lines[-1].startswith("Repeat it: ckptsim replay")
    assert len(lines) <= 6


def test_a_clean_check_says_why_checkpoints_were_slow_and_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A check without violations names the cause of the slowest checkpoint and of each failure."""
    assert main(["check", "expiring_uploads", "--seeds", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["causes"]
    assert {each["cause"]["phase"] for each in found} == {"async"}
    says = [re.sub(r"[\d.]+ \w+", "T", each["says"][0].split(" ", 2)[2]) for each in found]
    assert says == [
        "took T; T is usual.",
        "expired after its time-out of T.",
        "failed after T: CHECKPOINT_ASYNC_EXCEPTION.",
    ]
    assert main(["check", "expiring_uploads", "--seeds", "3"]) == 0
    shown = capsys.readouterr().out
    assert "not completed: 6 expired (CHECKPOINT_EXPIRED), 8 aborted" in shown
    assert shown.count(" (async).") == 3


def test_a_check_says_where_a_violation_begins(capsys: pytest.CaptureFixture[str]) -> None:
    """The cause of a violation is the first event that a run with our core has otherwise."""
    assert main(["check", "quickstart", "--seeds", "3", "--mutant", "arrival_order", "--json"]) == 1
    [found] = json.loads(capsys.readouterr().out)["causes"]
    assert "Where it begins: " in found["says"][1]
    assert "; with our core in slot ordering: " in found["says"][1]
    assert main(["check", "quickstart", "--seeds", "3", "--mutant", "arrival_order"]) == 1
    assert "seed 0: Where it begins: " in capsys.readouterr().out
