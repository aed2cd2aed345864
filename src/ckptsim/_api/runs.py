"""Runs from Python: once, many times against the properties, or in search of a violation."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeAlias

from ckptsim import scenarios
from ckptsim._api.ran import CheckReport, Find, Replay, RunResult, run_result
from ckptsim._api.scenario import Value, load, scenario_of, vary
from ckptsim.scenarios import UserError
from ckptsim.sim import search
from ckptsim.sim.answers.replaying import find_of, retell
from ckptsim.sim.judging import AS_USUAL, Judging
from ckptsim.sim.own_properties import Function
from ckptsim.sim.run_spec import prefer_processes
from ckptsim.sim.search import Subject
from ckptsim.sim.search.folder import is_find
from ckptsim.sim.search.stories import stories
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.resolve import read_cores, refuse_uncompared, resolve

Named: TypeAlias = scenarios.Scenario | str | Path
"""A scenario, the name of one in the library, or the path of its file."""

Cores: TypeAlias = Mapping[str, Factory | str] | Sequence[str] | str
"""Slot -> factory of a core, or what names one; or texts as `--core` has them."""

SEEDS_TO_CHECK = 100
SEEDS_TO_HUNT = 1000


def run(
    scenario: Named,
    *,
    seed: int = 0,
    ties: str = "structural",
    set: Mapping[str, Value] | None = None,
    core: Cores | None = None,
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
    set: options of the scenario, as of its method `with_`.
    core: slot -> a core of yours in place of ours, as its factory or as the text
    `package.module:factory` that names one; `ckptsim explain slots` says which slots there are and
    how their factories are called.  Texts such as `SLOT=package.module:factory` do as well.
    cores: an older name of `core`.  mutant: the name of a deliberately faulty core of ours.
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
    judging = _judging(ignore, properties, like_ours=like_ours)
    subject = _subject(scenario, set, core or cores, mutant, judging)
    if rules:
        from ckptsim.sim.rules.beside import HostDuties

        subject = replace(subject, watches=(HostDuties,))
    result = subject.run(seed, ties, keep_trace=keep_trace, began=prefer_processes)
    if result.violations:
        kept = result if keep_trace else subject.run(seed, ties, keep_trace=True)
        result.violations = stories(subject, kept)
    return run_result(result, subject)


def check(
    scenario: Named,
    *,
    seeds: int | range = SEEDS_TO_CHECK,
    ties: str | Sequence[str] = "random",
    set: Mapping[str, Value] | None = None,
    core: Cores | None = None,
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
    set, core, mutant, ignore, properties, like_ours: as of `run`.

    `report.passed` says whether it was fine; `report.unexpected` has the violating trials, by seed,
    each with rows that tell the story and the command that replays it.
    Raises UserError as `run` does, and for factories that other processes cannot import.
    """
    judging = _judging(ignore, properties, like_ours=like_ours)
    subject = _subject(scenario, set, core or cores, mutant, judging)
    if jobs > 1:
        _check_importable(subject)
    report = search.check(
        subject,
        _range(seeds),
        ties=_policies(ties),
        jobs=jobs,
        orders=orders,
        keep_going=keep_going,
        progress=progress,
    )
    held = {one.name: getattr(report, one.name) for one in fields(search.CheckReport)}
    return CheckReport(**held, subject=subject)


def hunt(
    scenario: Named,
    *,
    seeds: int | range = SEEDS_TO_HUNT,
    ties: str | Sequence[str] = ("random", "pct", "structural"),
    faults: int = 0,
    property_name: str | None = None,
    set: Mapping[str, Value] | None = None,
    core: Cores | None = None,
    cores: Cores | None = None,
    mutant: str | None = None,
    like_ours: bool = False,
    ignore: Sequence[str] = (),
    properties: Sequence[Function | str] = (),
    shrink_seconds: float = math.inf,
    progress: Callable[[int], None] | None = None,
) -> Find | None:
    """Search for a violation that the scenario does not expect; return it shrunk, or None.

    seeds, ties: as of `check`; set, core, mutant, like_ours: as of `run`.
    faults: add up to so many random faults per seed.
    property_name: look for the violation of this property only.  ignore, properties: as of `run`.
    shrink_seconds: after so many what is smallest by then has to do; the machine has a say in it.
    progress: called with the number of runs done, while searching.

    `find.shrunk.scenario` is the smallest scenario that breaks `find.property`, and
    `find.shrunk.trial` the run of it that does.
    Raises UserError as `run` does.
    """
    judging = _judging(ignore, properties, like_ours=like_ours)
    subject = _subject(scenario, set, core or cores, mutant, judging)
    find = search.hunt(
        subject,
        _range(seeds),
        ties=_policies(ties),
        faults=faults,
        property_names=() if property_name is None else (property_name,),
        seconds_max=shrink_seconds,
        searched=progress,
    )
    if find is None:
        return None
    held = {one.name: getattr(find, one.name) for one in fields(search.Find)}
    return Find(**held, subject=subject)


def replay(
    found: Find | CheckReport | RunResult | Named,
    *,
    seed: int = 0,
    ties: str = "structural",
    checkpoint: int | str | None = None,
    set: Mapping[str, Value] | None = None,
    core: Cores | None = None,
    mutant: str | None = None,
    allow_commands: bool = False,
) -> Replay:
    """Make a run again with its trace, and tell its story, or that of one checkpoint.

    found: what `hunt` found, a check (its first violating run), a run, the folder of a find, or a
    scenario, for which seed, ties, set, core and mutant are as of `run`.
    checkpoint: its number, or `SCOPE/NUMBER`.  allow_commands: start the commands and import the
    modules that a folder names and has in it, where you trust who made it.

    Raises UserError as `run` does, for a check without a violation, and for a checkpoint that the
    run has not.
    """
    kept = None
    match found:
        case Find():
            subject = replace(found.subject, scenario=found.shrunk.scenario)
            seed, ties = found.shrunk.trial.seed, found.shrunk.trial.ties
        case CheckReport():
            if not found.unexpected:
                raise UserError("replay: found a check without a violation, expected one with it")
            subject = found.subject
            seed, ties = found.unexpected[0].seed, found.unexpected[0].ties
        case RunResult():
            subject, seed, ties = found.subject, found.run.seed, found.run.ties
        case str() | Path() if is_find(Path(found)):
            kept, _ = find_of(Path(found), allowed=allow_commands)
            subject, seed, ties = kept.subject, kept.seed, kept.ties
        case _:
            subject = _subject(found, set, core, mutant)
    place = None if checkpoint is None else str(checkpoint)
    told = retell(subject, seed=seed, ties=ties, checkpoint=place, kept=kept)
    return Replay(result=run_result(told.result, told.subject), retold=told)


def _subject(
    scenario: Named,
    options: Mapping[str, Value] | None,
    cores: Cores | None,
    mutant: str | None,
    judging: Judging = AS_USUAL,
) -> Subject:
    named = scenario if isinstance(scenario, scenarios.Scenario) else load(scenario)
    varied = vary(named, options or {})
    found, origin = scenario_of(varied), varied.origin
    chosen = cores_of(found, cores)
    if judging.like_ours:
        choice = resolve(found.world, cores=chosen, mutant=mutant)
        refuse_uncompared([found.world], choice.factories)
    return Subject(
        scenario=found,
        cores=chosen,
        mutant=mutant,
        judging=judging,
        source=None if origin is None else origin.source,
        parameters=json.dumps(origin.parameters if origin else {}, sort_keys=True),
    )


def _judging(
    ignore: Sequence[str], properties: Sequence[Function | str], *, like_ours: bool
) -> Judging:
    return Judging(ignore=tuple(ignore), properties=tuple(properties), like_ours=like_ours)


def cores_of(scenario: scenarios.Scenario, cores: Cores | None) -> dict[str, Factory | str]:
    """Return slot -> core of what an argument `core` names.

    Raises UserError for texts that name no slot where the scenario has several.
    """
    if cores is None or isinstance(cores, Mapping):
        return dict(cores or {})
    texts = [cores] if isinstance(cores, str) else list(cores)
    return dict(read_cores(texts, (scenario.world,)))


def _check_importable(subject: Subject) -> None:
    """Raise UserError for a factory that cannot travel to other processes, such as a lambda."""
    judging = subject.judging
    found = [
        (f"cores: found {subject.names[slot]} for {slot!r}", core)
        for slot, core in subject.cores.items()
    ]
    found += [
        (f"properties: found {name}", function)
        for name, function in zip(judging.property_names, judging.properties, strict=True)
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
