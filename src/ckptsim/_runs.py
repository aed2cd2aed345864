"""Runs from Python: once, many times against the properties, or in search of a violation."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ckptsim._scenarios import scenario_of
from ckptsim.scenarios import Scenario, UserError
from ckptsim.sim.own_properties import Function
from ckptsim.sim.rows import RunResult
from ckptsim.sim.search import CheckReport, Find, Subject
from ckptsim.sim.search import check as check_subject
from ckptsim.sim.search import hunt as hunt_subject
from ckptsim.sim.search.stories import stories
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.resolve import refuse_uncompared, resolve

# Slot -> factory of a core, or the text `package.module:factory` that names one.
Cores: TypeAlias = Mapping[str, Factory | str]

SEEDS_TO_CHECK = 100
SEEDS_TO_HUNT = 1000


def run(
    scenario: Scenario | str | Path,
    *,
    seed: int = 0,
    ties: str = "structural",
    cores: Cores | None = None,
    mutant: str | None = None,
    ignore: Sequence[str] = (),
    properties: Sequence[Function | str] = (),
    keep_trace: bool = False,
    rules: bool = False,
    like_ours: bool = False,
) -> RunResult:
    """Run a scenario once and return its rows; the same arguments give the same rows anywhere.

    scenario: one, or what `load` takes.  seed: of all random streams.
    ties: the order of simultaneous events, "structural", "random", "pct" or "pct:DEPTH"; all but
    the first are seeded by `seed`.
    cores: slot -> a core of yours in place of ours, as its factory or as the text
    `package.module:factory` that names one; `ckptsim explain slots` says which slots there are and
    how their factories are called.  mutant: the name of a deliberately faulty core of ours.
    ignore: names of properties that your protocol does not promise and that are not judged.
    properties: invariants of your own, which are judged as well: functions that get the
    `GroundTruth` of the run and return a sentence for a violation or None, or the text
    `package.module:function` that names one.
    keep_trace: keep the trace, a list of `(time_ns, kind, entity, *fields)` in the order in which
    things happened.
    rules: judge the hosts of cores by their duties as well, as exploring does.
    like_ours: let our core run beside each of yours or the mutant; the first difference is a
    violation.

    The result has one list of rows per table, in the order in which things happened; times are
    simulated ns since the start of the run, sizes are bytes (`ckptsim.sim.rows`).  A violated
    property is a row of `violations` with its story and the command that replays it, not an
    exception.
    Raises UserError for a scenario, ties, a core or a mutant that do not exist or do not fit.
    """
    subject = _subject(scenario, cores, mutant, ignore, properties, like_ours=like_ours)
    if rules:
        from ckptsim.sim.rules.beside import HostDuties  # noqa: PLC0415 - few runs need it

        subject = replace(subject, watches=(HostDuties,))
    result = subject.run(seed, ties, keep_trace=keep_trace)
    if result.violations:
        kept = result if keep_trace else subject.run(seed, ties, keep_trace=True)
        result.violations = stories(subject, kept)
    return result


def check(
    scenario: Scenario | str | Path,
    *,
    seeds: int | range = SEEDS_TO_CHECK,
    ties: str | Sequence[str] = "random",
    cores: Cores | None = None,
    mutant: str | None = None,
    like_ours: bool = False,
    ignore: Sequence[str] = (),
    properties: Sequence[Function | str] = (),
    jobs: int = 1,
    orders: int = 1000,
    keep_going: bool = False,
    progress: Callable[[int], None] | None = None,
) -> CheckReport:
    """Run a scenario under many seeds and tie orders against its properties.

    seeds: how many, from 0, or a range.  ties: policies that the seeds take in turn; "exhaustive"
    alone tries every order of simultaneous events, at most `orders` per seed.
    jobs: processes; the report does not depend on their number.
    keep_going: do not stop at the first violation.  progress: called with the number of runs done.
    cores, mutant, ignore, properties, like_ours: as of `run`.

    `report.passed` says whether it was fine; `report.unexpected` has the violating trials, by seed,
    each with rows that tell the story and the command that replays it.
    Raises UserError as `run` does, and for factories that other processes cannot import.
    """
    subject = _subject(scenario, cores, mutant, ignore, properties, like_ours=like_ours)
    if jobs > 1:
        _check_importable(subject)
    return check_subject(
        subject,
        _range(seeds),
        ties=_policies(ties),
        jobs=jobs,
        orders=orders,
        keep_going=keep_going,
        progress=progress,
    )


def hunt(
    scenario: Scenario | str | Path,
    *,
    seeds: int | range = SEEDS_TO_HUNT,
    ties: str | Sequence[str] = ("random", "pct", "structural"),
    faults: int = 0,
    property_name: str | None = None,
    cores: Cores | None = None,
    mutant: str | None = None,
    like_ours: bool = False,
    ignore: Sequence[str] = (),
    properties: Sequence[Function | str] = (),
    shrink_seconds: float = math.inf,
    progress: Callable[[int], None] | None = None,
) -> Find | None:
    """Search for a violation that the scenario does not expect; return it shrunk, or None.

    seeds, ties: as of `check`; cores, mutant, like_ours: as of `run`.
    faults: add up to so many random faults per seed.
    property_name: look for the violation of this property only.  ignore, properties: as of `run`.
    shrink_seconds: after so many what is smallest by then has to do; the machine has a say in it.
    progress: called with the number of runs done, while searching.

    `find.shrunk.scenario` is the smallest scenario that breaks `find.property`, and
    `find.shrunk.trial` the run of it that does.
    Raises UserError as `run` does.
    """
    return hunt_subject(
        _subject(scenario, cores, mutant, ignore, properties, like_ours=like_ours),
        _range(seeds),
        ties=_policies(ties),
        faults=faults,
        property_names=() if property_name is None else (property_name,),
        seconds_max=shrink_seconds,
        searched=progress,
    )


def _subject(
    scenario: Scenario | str | Path,
    cores: Cores | None,
    mutant: str | None,
    ignore: Sequence[str],
    properties: Sequence[Function | str],
    *,
    like_ours: bool,
) -> Subject:
    found = scenario_of(scenario)
    if like_ours:
        choice = resolve(found.world, cores=cores, mutant=mutant)
        refuse_uncompared([found.world], choice.factories)
    return Subject(
        scenario=found,
        cores=dict(cores or {}),
        mutant=mutant,
        like_ours=like_ours,
        ignore=tuple(ignore),
        properties=tuple(properties),
        source=None if isinstance(scenario, Scenario) else str(scenario),
    )


def _check_importable(subject: Subject) -> None:
    """Raise UserError for a factory that cannot travel to other processes, such as a lambda."""
    found = [
        (f"cores: found {subject.names[slot]} for {slot!r}", core)
        for slot, core in subject.cores.items()
    ]
    found += [
        (f"properties: found {name}", function)
        for name, function in zip(subject.property_names, subject.properties, strict=True)
    ]
    for where, function in found:
        try:
            pickle.dumps(function)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UserError(
                f"{where} with jobs > 1, expected a function that other processes can import "
                f"({error})"
            ) from error


def _range(seeds: int | range) -> range:
    return range(seeds) if isinstance(seeds, int) else seeds


def _policies(ties: str | Sequence[str]) -> tuple[str, ...]:
    return (ties,) if isinstance(ties, str) else tuple(ties)
