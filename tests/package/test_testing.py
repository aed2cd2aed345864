"""`ckptsim.testing`: its page's tests end as shown, failures replay, draws are valid."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ckptsim
from ckptsim import testing
from ckptsim.cores import ordering
from ckptsim.scenarios import LINKS, UserError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import document
from ckptsim.scenarios.generators import GENERATORS
from ckptsim.sim.cli import main
from ckptsim.testing import CoreConvicted, assert_survives, fault_plans, scenarios, workloads
from tests.pages import ROOT, assert_shown, files_of, sessions_of, text_of

PAGE = text_of("testing.md")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the page's files into a folder, in which its sessions run one after the other."""
    place = tmp_path_factory.mktemp("page")
    for name, text in files_of(PAGE).items():
        (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize("session", sessions_of(PAGE), ids=lambda session: session[0])
def test_a_session_of_the_page_ends_as_shown(folder, session) -> None:
    """Tests of the page pass and fail as their lines say, in the order of the page."""
    command, *shown = session
    program, *words = shlex.split(command)
    module = {"pytest": ["pytest", "-p", "no:cacheprovider"], "ckptsim": ["ckptsim"]}[program]
    if program == "pytest" and not entry_points(group="pytest11", name="ckptsim"):
        module += ["-p", "ckptsim.testing.plugin"]  # installed before the plugin was there
    paths = [str(ROOT / "src"), str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", *module, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    clean = shown[-1].split() == ["violations", "none"]
    assert done.returncode == (0 if clean else 1), done.stdout + done.stderr
    assert_shown(tuple(shown), done.stdout)


def test_a_failure_has_story_and_a_command_that_replays_it(tmp_path, capsys, monkeypatch) -> None:
    """The error's scenario file breaks the same property by the command that it names."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CoreConvicted) as caught:
        assert_survives("tests.package.own_core:Silent", "ordering", runs=50, out="found")
    error = caught.value
    assert f"core ordering=tests.package.own_core:Silent broke {error.row.property}: " in str(error)
    assert error.row.story
    assert len(str(error).splitlines()) > 5
    program, *words = shlex.split(error.row.replay)
    assert (program, words) == ("ckptsim", ["replay", str(error.folder)])
    assert main(words) == 1
    assert f"VIOLATED {error.row.property} at " in capsys.readouterr().out


def test_the_right_core_survives() -> None:
    """Runs and reached situations are reported. The same seed reaches the same."""
    first = assert_survives(ordering.make_core, "ordering", runs=40, seed=7)
    assert first == assert_survives(ordering.make_core, "ordering", runs=40, seed=7)
    assert first.runs == 40
    assert "attempt_restarted" in first.goals


@pytest.mark.parametrize(
    ("link", "slot", "says"),
    [
        ("orderin", None, "orderin"),
        ("alignment_timeout", None, "slot: found none, expected one of the slots of barriers"),
        ("reference", "handler", "found slot 'handler'"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, link, slot, says) -> None:
    """A link, scenario or slot that does not exist is the user's mistake, not the core's."""
    with pytest.raises(UserError, match=says):
        assert_survives(ordering.make_core, link, slot=slot, out=tmp_path)


@pytest.mark.parametrize("link", GENERATORS)
@given(st.data())
@settings(max_examples=20)
def test_what_is_drawn_is_a_scenario_of_the_link(link, data) -> None:
    """Scenarios survive being written and read. Workloads have no fault."""
    scenario = data.draw(scenarios(link))
    assert scenario.link in LINKS
    again = document.read(document.plain(scenario), source="a drawn one")
    assert (again.model, again.faults) == (scenario.model, scenario.faults)
    assert data.draw(workloads(link)).faults == ()


@pytest.mark.parametrize("name", ["reference", "external_crashes", "final_pair", "keyed_crash"])
@given(st.data())
@settings(max_examples=20)
def test_drawn_faults_fit_their_scenario(name, data) -> None:
    """A plan has no more faults than asked for, each valid for the scenario's model."""
    scenario = by_name(name)
    plan = data.draw(fault_plans(scenario, most=3))
    assert len(plan) <= 3
    plain = document.plain(scenario)
    for fault in plan:
        kinds = [kind for kind, made in LINKS[scenario.link].faults.items() if made is type(fault)]
        assert len(kinds) == 1
    assert plain == document.plain(by_name(name))


def test_links_without_generator_are_refused() -> None:
    """A link that cannot be drawn is named with those that can."""
    with pytest.raises(UserError, match="found 'nothing', expected one of ordering"):
        scenarios("nothing")


def test_the_names_are_those_that_type_checkers_see() -> None:
    """Everything that is imported late is what the block for type checkers and `__all__` say."""
    source = Path(testing.__file__).read_text("utf-8")
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module
        for node in blocks[0].body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {name: module for module, names in testing._HOMES.items() for name in names}
    assert seen == homes
    assert sorted(homes) == sorted(testing.__all__)
    assert all(getattr(ckptsim.testing, name) for name in homes)
