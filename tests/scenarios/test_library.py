"""The library: every scenario loads, is named as its file, and says what it is."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim._api.pages.topics import TOPICS
from ckptsim.scenarios import LINKS, Scenario, ScenarioError, scenario_key
from ckptsim.scenarios.catalogue import LIBRARY, PLANS, all_names, all_scenarios, by_name, shelf
from ckptsim.scenarios.dialect import Many, Nested, OneOf, schema
from ckptsim.scenarios.files.document import entries
from ckptsim.scenarios.spec import Link
from ckptsim.scenarios.sync import Outcome
from ckptsim.sim.search import Subject, check


def test_files_bear_their_names() -> None:
    """A scenario's name is its file's, and no two files of different folders share one."""
    names = all_names()
    assert [by_name(name).name for name in names] == list(names)
    assert len(shelf(LIBRARY)) == len(names)


def test_a_name_means_one_thing() -> None:
    """No scenario, sweep plan or topic has the name of another."""
    names = [*shelf(LIBRARY), *shelf(PLANS), *TOPICS]
    assert len(set(names)) == len(names)


def test_every_link_has_scenarios(link: Link) -> None:
    """Each link of the registry can be tried at once: the library has scenarios of it."""
    assert any(scenario.link == link.name for scenario in all_scenarios())


def test_every_kind_of_fault_has_a_scenario(link: Link) -> None:
    """Some scenario of a link, or of one with the same faults, shows each kind of fault."""
    alike = [one.name for one in LINKS.values() if one.faults is link.faults]
    shown = {type(one) for each in all_scenarios() if each.link in alike for one in each.faults}
    assert [kind for kind, table in link.faults.items() if table not in shown] == []


def test_no_two_scenarios_are_the_same() -> None:
    """Each scenario of the library has a key and a sentence of its own."""
    found = all_scenarios()
    assert len({scenario_key(scenario) for scenario in found}) == len(found)
    assert len({scenario.says for scenario in found}) == len(found)


def test_misspelt_names_are_suggested() -> None:
    """A name that resembles a scenario's is answered with that scenario's name."""
    name = all_names()[0]
    with pytest.raises(ScenarioError) as caught:
        by_name(name[:-1] + "_")
    assert f'did you mean "{name}"?' in str(caught.value)


def test_declarations_are_sound(link: Link) -> None:
    """Every parameter is declared with its unit in its name and a default within its bounds."""
    waiting = [link.model, *link.faults.values()]
    seen: list[type] = []
    assert entries(link)
    while waiting:
        table = waiting.pop()
        if table in seen:
            continue
        seen.append(table)
        for entry in schema(table):
            kind = entry.kind.item if isinstance(entry.kind, Many) else entry.kind
            if isinstance(kind, Nested):
                waiting.append(kind.table)
            elif isinstance(kind, OneOf):
                waiting.extend(kind.tables.values())
    assert len(seen) > len(link.faults)


TIES = ("random", "structural", "pct")
SEEDS = {"ordering": 12, "checkpoint_store": 9}
# Links with runs that end whatever fails, but where a property breaks or a model says so.
ENDS = ("ordering", "barriers", "composed")


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_a_scenario_shows_what_it_says(scenario: Scenario) -> None:
    """What must breaks and nothing else, every goal is reached, runs repeat and end as they do."""
    seeds = range(SEEDS.get(scenario.link, 6))
    subject = Subject(scenario=scenario, source=scenario.name)
    report = check(subject, seeds, ties=TIES, keep_going=True)
    assert [(each.seed, each.ties, each.violations) for each in report.unexpected] == []
    assert (report.unbroken, report.late, report.missed_goals) == ([], {}, [])
    model: Any = scenario.model
    may_fail = scenario.violates or getattr(model, "outcome", None) is Outcome.ANY
    if scenario.link in ENDS and not may_fail:
        assert report.outcomes == {"completed": report.runs}
    if scenario.link == "checkpoint_store":
        assert report.outcomes.keys() <= {"completed", "failed"}
        assert not scenario.violates or report.runs in report.expected.values()


def test_a_recording_is_no_scenario_yet() -> None:
    """Who names a recording where a scenario is due reads which command makes one of it."""
    with pytest.raises(ScenarioError) as caught:
        by_name("orders")
    assert "ckptsim import orders --out orders.toml" in str(caught.value)
