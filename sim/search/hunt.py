"""Search for a violation under many seeds, tie orders and random faults. Then shrink it.

A core that acknowledges too early loses nothing while everything goes well.  So where a run shows
no harm, a crash is tried right after what happens after its first violation: triggers, barriers,
acknowledgements, completions, commits, restores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

from ckptsim.scenarios import LINKS, Scenario, ScenarioError
from ckptsim.scenarios.files import document
from ckptsim.scenarios.job import Job, VertexKind
from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.scenarios.severity import Severity, severity_of
from ckptsim.sim.kernel import Entry
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search.shrink import ShrinkStopped, Shrunk, shrink
from ckptsim.sim.search.trial import Subject, Trial, trial
from ckptsim.sim.story import time_of

if TYPE_CHECKING:
    from ckptsim.sim.search.faults import FaultDraw


# So many crashes are tried, and no more when the runs with them have had so many events: a second
# or two.  Assumptions.
_TRIES = 12
_EVENTS_MAX = 100_000


def with_harm(subject: Subject, found: Trial, name: str) -> tuple[Subject, Trial, str]:
    """Return subject, trial and property with a crash that turns a broken rule into harm.

    Where none does, they are returned as they are. name: the property that the trial violates.

    The harm is the core's: with ours in its place the same crash does none.
    """
    crash = _crash_of(subject.scenario)
    if subject.is_ours or not found.violations or _harm(found, subject):
        return subject, found, name
    if crash is None or found.events > _EVENTS_MAX:
        return subject, found, name
    begin_ns = min(row.at_ns for row in found.violations)
    left = _EVENTS_MAX
    trace = subject.run(found.seed, found.ties, keep_trace=True).trace
    for at_ns in islice(_instants(trace, begin_ns), _TRIES):
        if left <= 0:
            break
        fault = crash(at_ns + 1)
        scenario = replace(subject.scenario, faults=(*subject.scenario.faults, fault))
        try:
            document.read(document.plain(scenario), source="a crash after a violation")
        except ScenarioError:
            return subject, found, name
        here = replace(subject, scenario=scenario)
        got = trial(here, found.seed, found.ties)
        left -= got.events
        harm = _harm(got, subject)
        if harm and not _violates(here.with_ours, found, harm):
            return here, got, harm
    return subject, found, name


def _instants(trace: Sequence[Entry], begin_ns: int) -> Iterator[int]:
    """Yield the instants from one on at which something happens, the first of each kind first."""
    kinds: dict[str, dict[int, None]] = {}
    for entry in trace:
        if time_of(entry) >= begin_ns:
            kinds.setdefault(str(entry[1]), {})[time_of(entry)] = None
    given: dict[int, None] = {}
    for row in zip_longest(*kinds.values()):
        fresh = sorted({at_ns for at_ns in row if at_ns is not None} - given.keys())
        given.update(dict.fromkeys(fresh))
        yield from fresh


def _harm(found: Trial, subject: Subject) -> str | None:
    """Return the first harm of a run that is not expected, None without any."""
    for row in found.violations:
        expected = row.property in subject.scenario.violates
        if severity_of(row.property) is Severity.DATA and not expected:
            return row.property
    return None


def _violates(subject: Subject, found: Trial, name: str) -> bool:
    again = trial(subject, found.seed, found.ties)
    return any(row.property == name for row in again.violations)


def _crash_of(scenario: Scenario) -> Callable[[int], Any] | None:
    """Return what makes a crash at an instant, None where a link has no such fault."""
    model = scenario.model
    if isinstance(model, Job):
        sinks = [vertex.name for vertex in model.vertices if vertex.kind is VertexKind.SINK]
        if not sinks:
            return None
        return lambda at_ns: CrashTask(vertex=sinks[-1], subtask=0, at_ns=at_ns)
    # Of the destination of a sync, of the process of a store.
    crash = LINKS[scenario.link].faults.get("crash_at")
    return None if crash is None else lambda at_ns: crash(at_ns=at_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A violation: the property, its trial, and the smallest scenario once it is shrunk."""

    property: str
    runs: int
    scenario: Scenario
    found: Trial
    shrunk: Shrunk


class HuntStopped(KeyboardInterrupt):
    """An interrupted hunt: the runs before, and the value found if it was shrinking."""

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

    faults: add up to that many random faults per seed, or the ones of a draw. Everything that is a
    hazard of released systems under them is passed over.  property_names: look for those only, be
    they expected or not.  seconds_max: for shrinking.  searched, shrunk: called with the number of
    runs after each of either phase. broken: with the find, before it is shrunk. Raises HuntStopped
    when it is interrupted.
    """
    # What draws faults brings all generators, which `run` does without.
    from ckptsim.sim.search.faults import FaultDraw  # noqa: PLC0415

    runs = 0
    draw = faults if isinstance(faults, FaultDraw) else FaultDraw(subject.scenario, most=faults)
    try:
        for number, seed in enumerate(seeds):
            here = replace(subject, scenario=draw.of_seed(seed))
            found = trial(here, seed, ties[number % len(ties)])
            runs = number + 1
            if searched is not None:
                searched(runs)
            if here.scenario is not subject.scenario and not property_names:
                found = without_hazards(here, found)
            name = _wanted(found, subject.scenario, property_names)
            if name is not None and draw.most and not property_names:
                here, found, name = with_harm(here, found, name)
            if name is not None:
                if broken is not None:
                    first = Shrunk(scenario=here.scenario, trial=found, trials=0, steps=0)
                    broken(_find(here, found, name, runs, first))
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


def _wanted(found: Trial, scenario: Scenario, names: Collection[str]) -> str | None:
    for row in found.violations:
        if row.property in names if names else row.property not in scenario.violates:
            return row.property
    return None


def without_hazards(subject: Subject, found: Trial) -> Trial:
    """Return a run without the violations that our own cores show under its faults, too."""
    from ckptsim.scenarios.generators.hazards import hazards  # noqa: PLC0415 - as above

    known = hazards(subject.scenario)
    broken = _broken(found, known)
    if broken and not subject.is_ours:
        broken = _broken(trial(subject.with_ours, found.seed, found.ties), known)
    kept = tuple(row for row in found.violations if not _is_one_of(row, broken))
    return replace(found, violations=kept)


def _broken(found: Trial, known: Iterable[str]) -> list[str]:
    return [name for name in known if any(_is_one_of(row, (name,)) for row in found.violations)]


def _is_one_of(row: ViolationRow, names: Iterable[str]) -> bool:
    """Return whether a violation is of a property, or a restart of a job says that it is."""
    text = f"{row.property}: {row.says}"
    return any(f"{name}:" in text for name in names)
