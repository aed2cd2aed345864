"""Every scenario of the library shows what it says, and what removes a safeguard shows too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.scenarios.store import PROPERTIES
from ckptsim.sim.mutants.store import MUTANTS
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import load_world, run_world
from tests.store.killed import KILLED_BY, SHOWN_BY_VECTORS

SCENARIOS = [each for each in all_scenarios() if each.link == "checkpoint_store"]
ROOT = Path(__file__).parent.parent.parent
TIES = ("structural", "random", "pct")


def _runs(scenario: Scenario, seeds: int, mutant: str | None = None) -> list[RunResult]:
    return [
        run_world(scenario, seed=seed, ties=TIES[seed % len(TIES)], mutant=mutant)
        for seed in range(seeds)
    ]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_scenario_shows_what_it_says(scenario: Scenario) -> None:
    """Exactly the declared properties fail, under any ties, and every goal is reached."""
    goals: Counter[str] = Counter()
    failed: set[str] = set()
    for result in _runs(scenario, 9):
        failed |= {row.property for row in result.violations}
        goals.update(result.goals)
        assert result.run.outcome in {"completed", "failed"}
        assert not scenario.violates or result.violations
    assert failed == set(scenario.violates)
    assert [goal for goal in scenario.goals if not goals[goal]] == []


@pytest.mark.parametrize("name", KILLED_BY)
def test_mutant_breaks_its_scenario(name: str) -> None:
    """A store without one safeguard breaks the property that it guards, and only then."""
    place, *wanted = KILLED_BY[name]
    scenario = by_name(place)
    failed = {row.property for run in _runs(scenario, 6, mutant=name) for row in run.violations}
    assert set(wanted) <= failed
    assert not set(wanted) & set(scenario.violates)


def test_every_property_can_fail() -> None:
    """No property is vacuous: a scenario or a mutant breaks it."""
    broken = {name for scenario in SCENARIOS for name in scenario.violates}
    broken |= {name for _, *wanted in KILLED_BY.values() for name in wanted}
    assert broken == set(PROPERTIES)


def test_every_mutant_is_shown_somewhere() -> None:
    """Each mutant breaks a scenario, or a vector where the world has no use for its safeguard."""
    assert set(KILLED_BY) | SHOWN_BY_VECTORS == set(MUTANTS)
    assert not set(KILLED_BY) & SHOWN_BY_VECTORS


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_runs_repeat_and_read_as_stories(scenario: Scenario) -> None:
    """The same seed and ties give the same digest, and every trace entry has its sentence."""
    vocabulary = load_world("checkpoint_store").VOCABULARY
    first = run_world(scenario, seed=3, ties="random", keep_trace=True)
    again = run_world(scenario, seed=3, ties="random")
    assert first.run.digest == again.run.digest
    for entry in first.trace:
        assert vocabulary[str(entry[1])].sentence(entry)


_PRINT_DIGESTS = """
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import load_world, run_world
from tests.store.killed import KILLED_BY, SHOWN_BY_VECTORS
for name in ("s14_versions_and_views_apart", "external_crashes", "group_outage"):
    print(run_world(by_name(name), seed=5, ties="pct").run.digest)
"""


def test_digests_do_not_depend_on_the_hash_seed() -> None:
    """Fresh interpreters under different hash seeds agree."""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _PRINT_DIGESTS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        ).stdout
        for seed in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].split()) == 3
