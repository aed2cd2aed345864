"""Scenarios written back: files, JSON and keys."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.scenarios import Scenario, canonical_json, loads, scenario_key
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.dialect import OneOf
from ckptsim.scenarios.files import from_json, to_toml, write
from ckptsim.scenarios.files.document import to_json
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link
from tests.scenarios.loader import toy
from tests.scenarios.loader.strategies import tables, typed

ALL = [(scenario, LINKS) for scenario in all_scenarios()] + [(toy.EXAMPLE, toy.LINKS)]


@st.composite
def scenarios(draw: st.DrawFn, link: Link) -> Scenario:
    """Draw a scenario of a link with a valid model and faults."""
    model = draw(tables(link.model))
    faults = draw(st.lists(typed(OneOf(tables=link.faults)), max_size=3))
    kept = tuple(fault for fault in faults if not _inside(fault, model))
    return Scenario(name="drawn", link=link.name, says="drawn", model=model, faults=kept)


def _inside(fault: object, model: object) -> list[object]:
    return fault.problems_in(model) if hasattr(fault, "problems_in") else []


@pytest.mark.parametrize(("scenario", "links"), ALL, ids=[s.name for s, _ in ALL])
def test_library_scenarios_survive_writing(scenario: Scenario, links: dict[str, Link]) -> None:
    """A scenario written as a file or as JSON loads to an equal scenario with the same key."""
    again = loads(to_toml(scenario, links=links), source="again", links=links)
    assert again == scenario
    assert from_json(to_json(scenario, links), links) == scenario
    assert scenario_key(again, links) == scenario_key(scenario, links)


@settings(max_examples=150)
@given(scenario=scenarios(toy.LINK))
def test_any_scenario_survives_writing(scenario: Scenario) -> None:
    """Whatever its parameters, a scenario written as a file loads to an equal scenario."""
    text = to_toml(scenario, links=toy.LINKS)
    assert loads(text, source="again", links=toy.LINKS) == scenario


def test_files_hold_nothing_at_its_default() -> None:
    """A written file has the head, and of the rest only what differs from the defaults."""
    plain = replace(toy.EXAMPLE, model=toy.Toy(), faults=(), goals=(), violates=())
    assert tomllib.loads(to_toml(plain, links=toy.LINKS)) == {
        "name": "example",
        "link": "toy",
        "says": "everything at once",
    }
    varied = replace(plain, model=toy.Toy(timer=toy.Timer(interval_ns=1_500_000_000)))
    found = tomllib.loads(to_toml(varied, links=toy.LINKS))
    assert found["toy"] == {"timer": {"interval": "1500 ms"}}


def test_the_key_follows_all_that_decides_a_run() -> None:
    """The key changes with every parameter, fault and goal, but not with the description."""
    key = scenario_key(toy.EXAMPLE, toy.LINKS)
    assert scenario_key(replace(toy.EXAMPLE, says="other words"), toy.LINKS) == key
    others = [
        replace(toy.EXAMPLE, name="other"),
        replace(toy.EXAMPLE, model=toy.Toy()),
        replace(toy.EXAMPLE, faults=()),
        replace(toy.EXAMPLE, faults=tuple(reversed(toy.EXAMPLE.faults))),
        replace(toy.EXAMPLE, violates=()),
    ]
    keys = [scenario_key(other, toy.LINKS) for other in others]
    assert len({key, *keys}) == len(others) + 1


def test_the_key_is_pinned() -> None:
    """The canonical form and its hash do not change unnoticed: stored results are found by them."""
    plain = replace(toy.EXAMPLE, model=toy.Toy(), faults=(), goals=(), violates=())
    assert canonical_json(plain, toy.LINKS).startswith('{"faults":[],"goals":[],"link":"toy",')
    assert scenario_key(plain, toy.LINKS) == PINNED


PINNED = "be9848a580f0647472ff00d06f82eb89"


@pytest.mark.parametrize("hash_seed", ["0", "1", "2"])
def test_the_key_does_not_depend_on_the_hash_seed(hash_seed: str) -> None:
    """Keys are the same in a fresh interpreter under any hash seed."""
    program = (
        "from ckptsim.scenarios import scenario_key;"
        "from ckptsim.scenarios.catalogue import all_scenarios;"
        "from tests.scenarios.loader import toy;"
        "print(scenario_key(toy.EXAMPLE, toy.LINKS), *map(scenario_key, all_scenarios()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    here = [scenario_key(toy.EXAMPLE, toy.LINKS), *map(scenario_key, all_scenarios())]
    assert done.stdout.split() == here


def test_awkward_texts_survive_writing() -> None:
    """Quotes, escapes and odd keys are written so that TOML reads them back."""
    odd = {"a b": 'quote " and \\ and \t and \x7f', "": 1, "nested": {"é": [1e22, 1e-7, -0.0]}}
    assert tomllib.loads(write(odd)) == odd
