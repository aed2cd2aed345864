"""The command line as someone meets it who does not know it: help, names, completion, codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import ckptsim
from ckptsim._api import columns
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.sim.cli import main
from ckptsim.sim.cli.main import VERBS

Capture = pytest.CaptureFixture[str]


def test_the_version_is_told(capsys: Capture) -> None:
    """`--version` names the program's version."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"ckptsim {ckptsim.__version__} ")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_is_a_word_as_well(verb: str, capsys: Capture) -> None:
    """`help VERB` shows what `VERB --help` shows, and `help` alone the verbs."""
    words = [verb] if verb else []
    assert main(["help", *words]) == 0
    told = capsys.readouterr().out
    assert main([*words, "--help"]) == 0
    assert told == capsys.readouterr().out
    assert f"usage: ckptsim {verb}".strip() in told


def test_a_misspelt_verb_is_suggested(capsys: Capture) -> None:
    """The verb that was meant is named, and the list of all of them is left out."""
    assert main(["sweeep", "x"]) == 2
    said = capsys.readouterr().err
    assert 'did you mean "sweep"?' in said
    assert "measure-store" not in said


@pytest.mark.parametrize("verb", VERBS)
def test_a_wrong_option_shows_the_usage_of_its_verb(verb: str, capsys: Capture) -> None:
    """An unknown option, and a missing word, are named with the usage of the verb in question."""
    wrong = [["--no-such-option"]]
    if verb not in (
        "list",
        "explain",
        "measure-store",
        "demo",
        "schema",
        "doctor",
    ):  # these need no word
        wrong.append([])
    words = {"completion": ["bash"], "store": ["x.db"]}
    for rest in wrong:
        given = words.get(verb, ["x"]) if rest and verb not in ("list", "demo") else []
        assert main([verb, *given, *rest]) == 2
        captured = capsys.readouterr()
        assert captured.err.startswith(f"usage: ckptsim {verb} ")
        assert captured.out == ""


def test_a_misspelt_option_is_suggested(capsys: Capture) -> None:
    """The option that was meant is named."""
    assert main(["check", "reference", "--sedes=5"]) == 2
    assert 'did you mean "--seeds"?' in capsys.readouterr().err


def test_an_option_has_its_whole_name_and_its_place(capsys: Capture) -> None:
    """The beginning of an option's name is no option, and no option is ignored."""
    assert main(["check", "ordering", "--explore", "--runs", "1", "--seed", "7"]) == 2
    assert 'did you mean "--seeds"?' in capsys.readouterr().err
    assert main(["check", "ordering", "--explore", "--runs", "1", "--seeds", "7"]) == 2
    assert "--seeds: found together with --explore" in capsys.readouterr().err


def test_a_plan_is_no_scenario_and_a_scenario_no_plan(capsys: Capture) -> None:
    """Anyone who takes one for the other is reported what it is and which verb takes it."""
    assert main(["run", "upload_latency"]) == 2
    assert "a sweep plan: ckptsim sweep upload_latency" in capsys.readouterr().err
    assert main(["sweep", "reference"]) == 2
    assert "a scenario: ckptsim run reference" in capsys.readouterr().err


def test_the_list_is_searched_by_a_word_and_by_link(capsys: Capture) -> None:
    """A word selects scenarios and plans alike, a link the ones of it. `--link` alone the links."""
    assert main(["list", "SOCKETS", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    texts = [" ".join(map(str, each.values())).lower() for kind in found.values() for each in kind]
    assert len(texts) > 3
    assert all("sockets" in text for text in texts)
    assert found["plans"]
    assert main(["list", "--link", "checkpoint_store", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {each["link"] for each in found["scenarios"]} == {"checkpoint_store"}
    links = {each.name: each.link for each in all_scenarios()}
    assert {links[each["scenario"]] for each in found["plans"]} == {"checkpoint_store"}
    assert main(["list", "--link", "--json"]) == 0
    assert {each["name"] for each in json.loads(capsys.readouterr().out)["links"]} >= {"composed"}
    assert main(["list", "refernce"]) == 0
    assert "reference" in capsys.readouterr().out


def test_an_origin_is_told_once(capsys: Capture) -> None:
    """What several parameters have as their origin is once, under a number."""
    assert main(["explain", "reference"]) == 0
    told = capsys.readouterr().out
    assert told.count("assumption: size of a small sync") == 1
    assert told.count("[2]") > 5


def test_tables_fit_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no room is left beside the other columns the last one is below them."""
    monkeypatch.setattr(columns, "_columns", lambda: 40)
    rows = [("a_rather_long_parameter_name", "some value", "what it means, in several words")]
    lines = columns.aligned((), rows)
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(rows[0])


def test_the_replay_of_a_violation_ends_with_one(tmp_path: Path, capsys: Capture) -> None:
    """A story that ends in a broken property has code 1, one that is meant to break or not, 0."""
    out = ["--out", str(tmp_path)]
    broken = ["replay", "s08_rebootstrap_wiped", "--mutant", "never_wipes", *out]
    assert main(broken) == 1
    assert main([*broken, "--json"]) == 1
    assert main(["replay", "s08_rebootstrap_wiped", *out]) == 0
    assert main(["replay", "s08_rebootstrap_over_rows", *out]) == 0
    capsys.readouterr()


def test_conform_prints_no_count_before_an_error(tmp_path: Path, capsys: Capture) -> None:
    """Where lines are no vectors nothing is counted: the error is what there is to say."""
    path = tmp_path / "v.jsonl"
    path.write_text('{"suite": "no such"}\n')
    assert main(["conform", str(path)]) == 2
    assert capsys.readouterr().out == ""


def test_everything_is_checked_at_once(tmp_path: Path, capsys: Capture) -> None:
    """A link's scenarios are checked one by one, and a build reads the outcome as JUnit XML."""
    report = tmp_path / "new" / "check.xml"
    words = ["check", "checkpoint_store", "--seeds", "1", "--junit", str(report)]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    names = {each.name for each in all_scenarios() if each.link == "checkpoint_store"}
    assert {line.split()[0] for line in lines[:-1]} == names
    assert lines[-1] == f"{len(names)} passed, 0 failed"
    suite = ET.parse(report).getroot()
    assert {case.get("name") for case in suite} == names
    assert suite.get("failures") == "0"


def test_a_failed_check_is_a_failed_test_case(tmp_path: Path, capsys: Capture) -> None:
    """What broke, and the command that replays it, stand in the test case of the scenario."""
    report = tmp_path / "check.xml"
    words = ["check", "s08_rebootstrap_wiped", "--mutant", "never_wipes", "--seeds", "2"]
    assert main([*words, "--junit", str(report)]) == 1
    capsys.readouterr()
    suite = ET.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "reset_wipes_first" in (failure.text or "")
    assert "ckptsim replay" in (failure.text or "")
