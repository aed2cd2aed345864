"""Search for a violation under many seeds, tie orders and random faults; then shrink it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ckptsim.scenarios import Scenario
from ckptsim.sim.search.faults import FaultDraw, without_hazards
from ckptsim.sim.search.shrink import ShrinkStopped, Shrunk, shrink
from ckptsim.sim.search.trial import Subject, Trial, trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A violation that was found: the property, the trial in which, and the smallest scenario."""

    property: str
    runs: int
    scenario: Scenario
    found: Trial
    shrunk: Shrunk


class HuntStopped(KeyboardInterrupt):
    """An interrupted hunt: the runs before, and what was found if it was shrinking."""

    def __init__(self, runs: int, find: Find | None) -> None:
        super().__init__()
        self.runs = runs
        self.find = find


def hunt(
    subject: Subject,
    seeds: range,
    *,
    ties: Sequence[str] = ("random", "pct", "structural"),
    faults: int | FaultDraw = 0,
    property_name: str | None = None,
    searched: Callable[[int], None] | None = None,
    shrunk: Callable[[int], None] | None = None,
) -> Find | None:
    """Return the first violation that the scenario does not expect, shrunk, or None.

    faults: add up to that many random faults per seed, or those of a draw; what is a hazard of
    released systems under them is passed over.  property_name: look for that one only, be it
    expected or not.  searched, shrunk: called with the number of runs after each of either phase.
    Raises HuntStopped when it is interrupted.
    """
    runs = 0
    draw = faults if isinstance(faults, FaultDraw) else FaultDraw(subject.scenario, most=faults)
    try:
        for number, seed in enumerate(seeds):
            here = replace(subject, scenario=draw.of_seed(seed))
            found = trial(here, seed, ties[number % len(ties)])
            runs = number + 1
            if searched is not None:
                searched(runs)
            if here.scenario is not subject.scenario and property_name is None:
                found = without_hazards(here, found)
            name = _wanted(found, subject.scenario, property_name)
            if name is not None:
                return _shrunk(here, found, name, runs=runs, progress=shrunk)
    except HuntStopped:
        raise
    except KeyboardInterrupt as stop:
        raise HuntStopped(runs, None) from stop
    return None


def _shrunk(
    here: Subject,
    found: Trial,
    name: str,
    *,
    runs: int,
    progress: Callable[[int], None] | None,
) -> Find:
    def find(smallest: Shrunk) -> Find:
        scenario = here.scenario
        return Find(property=name, runs=runs, scenario=scenario, found=found, shrunk=smallest)

    try:
        return find(shrink(here, found, property_name=name, progress=progress))
    except ShrinkStopped as stop:
        raise HuntStopped(runs, find(stop.shrunk)) from stop


def _wanted(found: Trial, scenario: Scenario, property_name: str | None) -> str | None:
    for row in found.violations:
        if property_name is None and row.property not in scenario.violates:
            return row.property
        if row.property == property_name:
            return row.property
    return None
