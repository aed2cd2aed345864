"""One digest per (scenario, seed, ties): in one process, in others, under any hash seed and Python.

Other Python versions are compared when the variable CKPTSIM_PYTHONS names interpreters, separated
by colons, that have the project's dependencies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.sim.search import Subject
from ckptsim.sim.search.trial import trial
from ckptsim.sim.world import WORLDS, run_world
from tests.determinism.digests import Run, digests

ROOT = Path(__file__).parents[2]
HASH_SEEDS = ("0", "1", "2", "random")
POLICIES = ("structural", "random", "pct", "pct:5")
OTHER_PYTHONS = [path for path in os.environ.get("CKPTSIM_PYTHONS", "").split(":") if path]
MUTANTS = ("arrival_order", "no_ordering", "gaps_tolerated", "no_source_count")


def _runs(per_link: int, seeds: int) -> list[Run]:
    """Choose scenarios of every link, the first ones by name, and vary seeds and ties."""
    runs: list[Run] = []
    for link in WORLDS:
        names = [scenario.name for scenario in all_scenarios() if scenario.link == link]
        for name in names[:per_link]:
            runs += [(name, seed, POLICIES[seed % len(POLICIES)], None) for seed in range(seeds)]
    return runs


@cache
def _here(runs: tuple[Run, ...]) -> list[str]:
    return digests(list(runs))


def elsewhere(
    runs: list[Run], *, hash_seed: str, python: str = sys.executable, times: int = 1
) -> list[str]:
    """Run in a fresh interpreter under a hash seed and return what it prints."""
    done = subprocess.run(
        [python, "-m", "tests.determinism.digests", json.dumps(runs), str(times)],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


def _differs_by_seed(scenario: Scenario) -> bool:
    return run_world(scenario, seed=3, ties="random").run.digest != (
        run_world(scenario, seed=4).run.digest
    )


@pytest.mark.parametrize("link", WORLDS)
def test_a_run_between_two_others_changes_nothing(link):
    """Run A, run B, run A again: nothing of one run is left for the next."""
    known = [scenario for scenario in all_scenarios() if scenario.link == link]
    a = next(one for one in known if _differs_by_seed(one))
    b = next(one for one in known if one is not a)
    first = run_world(a, seed=3, ties="random")
    between = run_world(b, seed=3, ties="random")
    assert run_world(a, seed=3, ties="random") == first
    assert len({run.run.digest for run in (first, between, run_world(a, seed=4))}) == 3


def test_keeping_the_trace_changes_nothing():
    """A run with its trace, for a story, is the run to be repeated."""
    subject = Subject(scenario=all_scenarios()[0])
    assert subject.run(5, "random", keep_trace=True).run == subject.run(5, "random").run


def test_seeds_and_ties_matter():
    """Different seeds give different runs, and so do different tie policies."""
    runs: list[Run] = [("reference", seed, "random", None) for seed in range(10)]
    runs += [("reference", 0, ties, None) for ties in ("structural", "pct")]
    assert len(set(digests(runs))) == len(runs)


@pytest.mark.parametrize("hash_seed", HASH_SEEDS)
def test_the_hash_seed_does_not_matter(hash_seed):
    """Every link's digests are the same in a fresh interpreter under any hash seed."""
    runs = _runs(per_link=3, seeds=2)
    assert elsewhere(runs, hash_seed=hash_seed) == _here(tuple(runs))


@pytest.mark.skipif(not OTHER_PYTHONS, reason="CKPTSIM_PYTHONS names no other interpreter")
@pytest.mark.parametrize("python", OTHER_PYTHONS)
def test_the_python_version_does_not_matter(python):
    """Every link's digests are the same on another version of Python."""
    runs = _runs(per_link=3, seeds=4)
    assert elsewhere(runs, python=python, hash_seed="1") == digests(runs)


@pytest.mark.long
def test_violating_and_odd_runs_repeat():
    """200 failing or odd runs, each 20 times, under three hash seeds and on every Python named."""
    odd = _odd_runs(200)
    assert len(odd) == 200
    expected = digests(odd) * 20
    for python in (sys.executable, *OTHER_PYTHONS):
        for hash_seed in ("0", "1", "2"):
            assert elsewhere(odd, python=python, hash_seed=hash_seed, times=20) == expected


def _odd_runs(count: int) -> list[Run]:
    """Return runs of mutants and of our core that violate a property or do not complete."""
    odd: list[Run] = []
    scenarios = [scenario for scenario in all_scenarios() if scenario.link == "ordering"]
    for seed in range(1000):
        scenario = scenarios[seed % len(scenarios)]
        for mutant in (None, MUTANTS[seed % len(MUTANTS)]):
            ties = POLICIES[seed % len(POLICIES)]
            found = trial(Subject(scenario=scenario, mutant=mutant), seed, ties)
            if found.digest and (found.violations or found.outcome != "completed"):
                odd.append((scenario.name, seed, ties, mutant))
                if len(odd) == count:
                    return odd
    return odd
