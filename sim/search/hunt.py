"""Search for a violation under many seeds, tie orders and random faults; then shrink it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.hazards import hazards
from ckptsim.sim.search.faults import FaultDraw
from ckptsim.sim.search.shrink import ShrinkStopped, Shrunk, shrink
from ckptsim.sim.search.trial import Subject, Trial, trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A violation that was found: the property, the trial in which, and the smallest scenario.

    Before it is shrunk, that is the scenario of the trial.
    """

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
    property_names: Collection[str] = (),
    seconds_max: float = math.inf,
    searched: Callable[[int], None] | None = None,
    broken: Callable[[Find], None] | None = None,
    shrunk: Callable[[int], None] | None = None,
) -> Find | None:
    """Return the worst violation of the first run with one that is not expected, shrunk, or None.

    faults: add up to that many random faults per seed, or those of a draw; property_names: look for
    those only, be they expected or not.  seconds_max: for shrinking.  searched, shrunk: called with
    the number of runs after each of either phase; broken: with the find, before it is shrunk.
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
            name = _wanted(here, found, subject.scenario, property_names)
            if name is not None:
                if broken is not None:
                    broken(_find(here, found, name, runs, _as_found(here, found)))
                return _shrunk(here, found, name, runs, seconds_max=seconds_max, progress=shrunk)
    except HuntStopped:
        raise
    except KeyboardInterrupt as stop:
        raise HuntStopped(runs, None) from stop
    return None


def _shrunk(
    here: Subject,
    found: Trial,
    name: str,
    runs: int,
    *,
    seconds_max: float,
    progress: Callable[[int], None] | None,
) -> Find:
    try:
        smallest = shrink(
            here, found, property_name=name, seconds_max=seconds_max, progress=progress
        )
    except ShrinkStopped as stop:
        raise HuntStopped(runs, _find(here, found, name, runs, stop.shrunk)) from stop
    return _find(here, found, name, runs, smallest)


def _find(here: Subject, found: Trial, name: str, runs: int, smallest: Shrunk) -> Find:
    scenario = here.scenario
    return Find(property=name, runs=runs, scenario=scenario, found=found, shrunk=smallest)


def _as_found(here: Subject, found: Trial) -> Shrunk:
    return Shrunk(scenario=here.scenario, trial=found, trials=0, steps=0)


def _wanted(here: Subject, found: Trial, scenario: Scenario, names: Collection[str]) -> str | None:
    """Return the worst property that a run violates and that is looked for."""
    broken = [row.property for row in found.violations]
    if names:
        return next((name for name in broken if name in names), None)
    fresh = [name for name in broken if name not in scenario.violates]
    known = hazards(here.scenario) if here.scenario is not scenario else ()
    if any(name in known for name in fresh):
        # Drawn faults may lead into a hazard of a released system: our own cores break it, too.
        ours = trial(replace(here, cores={}, mutant=None), found.seed, found.ties)
        excused = [row.property for row in ours.violations if row.property in known]
        fresh = [name for name in fresh if name not in excused]
    return fresh[0] if fresh else None
