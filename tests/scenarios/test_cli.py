"""The verbs `list` and `explain`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ckptsim._api.pages.topics import TOPICS
from ckptsim.scenarios import loads
from ckptsim.scenarios.catalogue import all_names, by_name
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import all_plans
from ckptsim.scenarios.spec import Link
from ckptsim.sim.cli import main
from tests.scenarios.conftest import any_scenario


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_list_has_name_link_and_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    """`list --json` has every scenario of the library with its name, link and sentence."""
    found = _json(capsys, "list")["scenarios"]
    assert isinstance(found, list)
    assert [item["name"] for item in found] == list(all_names())
    for item in found:
        assert set(item) == {"name", "link", "says"}
        assert item["link"] in LINKS
        assert item["says"]


def test_list_can_be_narrowed_to_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    """`list --link` shows the scenarios of one link, and refuses links that do not exist."""
    for link in LINKS:
        found = _json(capsys, "list", "--link", link)["scenarios"]
        assert isinstance(found, list)
        assert {item["link"] for item in found} <= {link}
    assert main(["list", "--link", "no_such_link"]) == 2
    assert "expected one of" in capsys.readouterr().err


def test_list_names_every_scenario_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    """`list LINK` as text shows every name. `list` fits a screen, with the counts."""
    assert main(["list"]) == 0
    whole = capsys.readouterr().out
    assert len(whole.splitlines()) < 24
    shown = []
    for link in LINKS:
        assert main(["list", link]) == 0
        names = {line.split(" ")[0] for line in capsys.readouterr().out.splitlines()}
        own = names & {*all_names()}
        shown += own
        assert re.search(rf"(?m)^{link} +{len(own)} ", whole), link
    assert sorted(shown) == sorted(all_names())


def test_explain_shows_every_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    """`explain SCENARIO` shows each parameter's key, value, bounds and origin."""
    name = any_scenario()
    found = _json(capsys, "explain", name)
    assert main(["explain", name]) == 0
    text = capsys.readouterr().out
    parameters = found["parameters"]
    assert isinstance(parameters, list)
    for parameter in parameters:
        assert parameter["says"]
        head, _, key = parameter["path"].rpartition(".")
        assert f"[{head}]" in text or not head
        assert f" {key} " in text or parameter["path"] in ("name", "link", "says")
    assert found["scenario_key"] in text


def test_explain_says_what_a_property_promises(capsys: pytest.CaptureFixture[str]) -> None:
    """A property comes with its sentence, its harm and its links, an old name with the new one."""
    assert main(["explain", "at_least_once_state"]) == 0
    text = capsys.readouterr().out
    assert "at_least_once_state is now at_least_once" in text
    assert "lost, duplicated" in text
    assert "barrier_protocol" in text
    assert main(["explain", "no_recor_lost"]) == 2
    assert 'did you mean "no_record_lost"?' in capsys.readouterr().err


def test_explained_toml_loads_to_the_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    """`explain --toml` prints a file that loads to an equal scenario."""
    for name in all_names():
        assert main(["explain", name, "--toml"]) == 0
        assert loads(capsys.readouterr().out, source=name) == by_name(name)


def test_explain_takes_changed_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--set` varies the scenario before it is explained. Wrong paths are the user's error."""
    file = tmp_path / "varied.toml"
    name = any_scenario()
    assert main(["explain", name, "--toml", "--set", "says=another sentence"]) == 0
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert _json(capsys, "explain", str(file))["says"] == "another sentence"
    assert main(["explain", name, "--set", "no.such=1", "--set", "bad"]) == 2
    assert "--set" in capsys.readouterr().err


def test_every_topic_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Every topic explains itself as text and as JSON, and is among those listed."""
    assert main(["explain"]) == 0
    listed = capsys.readouterr().out
    for name, (_, make) in TOPICS.items():
        assert name in listed
        assert main(["explain", name]) == 0
        assert capsys.readouterr().out.strip()
        page = make()
        assert page.text
        json.dumps(page.data, allow_nan=False)


def test_link_pages_say_all_there_is_to_know(link: Link) -> None:
    """A link's page has unit, meaning and origin of every parameter and fault."""
    page = TOPICS[link.name][1]()
    assert isinstance(page.data, dict)
    for parameter in page.data["parameters"]:
        head = parameter["path"].rpartition(".")[0]
        if head:
            assert parameter["says"], parameter
            assert parameter["source"].startswith(("Source: ", "assumption")), parameter
    for kind in link.faults:
        assert page.data["tables"][f"faults({kind})"].endswith(".")


def test_explain_shows_what_a_plan_varies(capsys: pytest.CaptureFixture[str]) -> None:
    """`explain PLAN` has the axes, the points and the number of runs of each plan."""
    for plan in all_plans():
        found = _json(capsys, "explain", plan.name)
        assert list(found["axes"]) == list(plan.axes)  # type: ignore[call-overload]
        assert main(["explain", plan.name]) == 0
        text = capsys.readouterr().out
        assert f"{found['runs']} runs" in text
        assert all(axis in text for axis in plan.axes)


def test_names_that_resemble_a_topic_or_scenario_are_suggested(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A misspelt topic gives exit code 2 and a suggestion."""
    assert main(["explain", "unitz"]) == 2
    assert 'did you mean "units"?' in capsys.readouterr().err
