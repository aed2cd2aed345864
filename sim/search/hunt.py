"""Search for a violation under many seeds, tie orders and random faults; then shrink it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ckptsim.scenarios import Scenario
from ckptsim.sim.search.faults import with_random_faults
from ckptsim.sim.search.shrink import Shrunk, shrink
from ckptsim.sim.search.trial import Subject, Trial, trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A violation that was found: the property, the trial in which, and the smallest scenario."""

    property: str
    runs: int
    scenario: Scenario
    found: Trial
    shrunk: Shrunk


def hunt(
    subject: Subject,
    seeds: range,
    *,
    ties: Sequence[str] = ("random", "pct", "structural"),
    faults: int = 0,
    property_name: str | None = None,
    searched: Callable[[int], None] | None = None,
    shrunk: Callable[[int], None] | None = None,
) -> Find | None:
    """Return the first violation that the scenario does not expect, shrunk, or None.

    faults: add up to that many random faults per seed; property_name: look for that one only, be it
    expected or not.  searched, shrunk: called with the number of runs after each of either phase.
    """
    for number, seed in enumerate(seeds):
        scenario = subject.scenario
        if faults:
            scenario = with_random_faults(scenario, seed=seed, count=faults)
        here = replace(subject, scenario=scenario)
        found = trial(here, seed, ties[number % len(ties)])
        if searched is not None:
            searched(number + 1)
        name = _wanted(found, subject.scenario, property_name)
        if name is None:
            continue
        smallest = shrink(here, found, property_name=name, progress=shrunk)
        return Find(property=name, runs=number + 1, scenario=scenario, found=found, shrunk=smallest)
    return None


def _wanted(found: Trial, scenario: Scenario, property_name: str | None) -> str | None:
    for row in found.violations:
        if property_name is None and row.property not in scenario.violates:
            return row.property
        if row.property == property_name:
            return row.property
    return None
