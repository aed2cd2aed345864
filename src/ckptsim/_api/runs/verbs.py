"""Runs from Python: once, many times against the properties, or in search of a violation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ckptsim._api.runs.found import Find, Replay
from ckptsim._api.runs.ran import CheckReport, RunResult, extended, run_result
from ckptsim._api.scenario import Named, Value
from ckptsim._api.subject import Cores, check_importable, find_of, subject_of
from ckptsim.scenarios import UserError
from ckptsim.sim import search
from ckptsim.sim.export import pictures
from ckptsim.sim.judging import Judging
from ckptsim.sim.kernel import Environment
from ckptsim.sim.own_properties import Function
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.run_spec import prefer_processes
from ckptsim.sim.search import Subject
from ckptsim.sim.search.folder import Kept, is_find
from ckptsim.sim.search.stories import stories
from ckptsim.sim.story import Target, concerning, tell, tells_of
from ckptsim.sim.world import load_world

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
    """Run a scenario once and return its rows. The same arguments give the same rows anywhere.

    scenario: one, or what `load` takes.  seed: of all random streams.
    ties: the order of simultaneous events, "structural", "random", "pct" or "pct:DEPTH". All but
    the first are seeded by `seed`.
    set: options of the scenario, as of its method `with_`.
    core: slot -> a core of yours in place of ours, as its factory or as the text
    `package.module:factory` that names one. `ckptsim explain slots` says which slots there are and
    how their factories are called.  Texts such as `SLOT=package.module:factory` do as well.
    cores: an older name of `core`.  mutant: the name of a deliberately faulty core of ours.
    ignore: names of properties that your protocol does not promise and that are not judged.
    properties: invariants of your own, which are judged as well: functions that get the
    `GroundTruth` of the run and return a sentence for a violation or None, or the text
    `package.module:function` that names one.
    keep_trace: keep the trace, a list of `(time_ns, kind, entity, *fields)` in the order in which
    things happened.
    rules: judge the hosts of cores by their duties as well, as exploring does.
    like_ours: let our core run beside each of yours or the mutant. The first difference is a
    violation.

    The result has one list of rows per table, in the order in which things happened. Times are
    simulated ns since the start of the run, sizes are bytes (`ckptsim.sim.rows`).  A violated
    property is a row of `violations` with its story and the command that replays it, not an
    exception.
    Raises UserError for a scenario, ties, a core or a mutant that do not exist or do not fit.
    """
    judging = _judging(ignore, properties, like_ours=like_ours)
    subject = subject_of(scenario, set, core or cores, mutant, judging)
    if rules:
        from ckptsim.sim.rules.beside import HostDuties

        subject = replace(subject, watches=(HostDuties,))
    return ran(subject, seed, ties, keep_trace=keep_trace)


def ran(
    subject: Subject,
    seed: int,
    ties: str,
    *,
    keep_trace: bool = False,
    began: Callable[[Environment], None] = prefer_processes,
) -> RunResult:
    """Run a subject once, and tell the stories of its violations. began: takes the environment."""
    result = subject.run(seed, ties, keep_trace=keep_trace, began=began)
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

    seeds: how many, from 0, or a range.  ties: policies that the seeds take in turn. "exhaustive"
    alone tries every order of simultaneous events, at most `orders` per seed.
    jobs: processes. The report does not depend on their number.
    keep_going: do not stop at the first violation.  progress: called with the number of runs done.
    set, core, mutant, ignore, properties, like_ours: as of `run`.

    `report.passed` says whether it was fine. `report.unexpected` has the violating trials, by seed,
    each with rows that tell the story and the command that replays it.
    Raises UserError as `run` does, and for factories that other processes cannot import.
    """
    judging = _judging(ignore, properties, like_ours=like_ours)
    subject = subject_of(scenario, set, core or cores, mutant, judging)
    if jobs > 1:
        check_importable(subject)
    return checked(
        subject,
        _range(seeds),
        ties=_policies(ties),
        jobs=jobs,
        orders=orders,
        keep_going=keep_going,
        progress=progress,
    )


def checked(subject: Subject, seeds: range, **how: Any) -> CheckReport:
    """Check a subject. how: as of `ckptsim.sim.search.check`."""
    return extended(CheckReport, search.check(subject, seeds, **how), subject=subject)


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
    """Search for a violation that the scenario does not expect. Return it shrunk, or None.

    seeds, ties: as of `check`. set, core, mutant, like_ours: as of `run`.
    faults: add up to so many random faults per seed.
    property_name: look for the violation of this property only.  ignore, properties: as of `run`.
    shrink_seconds: after so many the smallest so far has to do. The machine has a say in it.
    progress: called with the number of runs done, while searching.

    `find.shrunk.scenario` is the smallest scenario that breaks `find.property`, and
    `find.shrunk.trial` the run of it that does.
    Raises UserError as `run` does.
    """
    judging = _judging(ignore, properties, like_ours=like_ours)
    subject = subject_of(scenario, set, core or cores, mutant, judging)
    find = search.hunt(
        subject,
        _range(seeds),
        ties=_policies(ties),
        faults=faults,
        property_names=() if property_name is None else (property_name,),
        seconds_max=shrink_seconds,
        searched=progress,
    )
    return None if find is None else extended(Find, find, subject=subject)


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
    """Make a run again with its trace, and tell its story, or the one of one checkpoint.

    found: what `hunt` found, a check (its first violating run), a run, the folder of a find, or a
    scenario. Other arguments are as of `run`.
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
            subject = subject_of(found, set, core, mutant)
    place = None if checkpoint is None else str(checkpoint)
    return retold(subject, seed=seed, ties=ties, checkpoint=place, kept=kept)


def retold(
    subject: Subject,
    *,
    seed: int,
    ties: str,
    checkpoint: str | None = None,
    kept: Kept | None = None,
) -> Replay:
    """Tell the story of a run or of `[SCOPE/]INDEX`. Raises UserError without that checkpoint."""
    from ckptsim.sim.rules.beside import HostDuties

    # Hosts are judged by their duties, so that what exploring found is found again.
    subject = replace(subject, watches=(HostDuties,))
    target = _target(checkpoint)
    result = subject.run(seed, ties, keep_trace=True, began=prefer_processes)
    vocabulary = load_world(subject.scenario.world).VOCABULARY
    entries = result.trace
    if target is not None:
        if not tells_of(entries, vocabulary, target):
            found = f"--checkpoint: found {str(target)!r}"
            raise UserError(f"{found}, expected {_known(result.checkpoints)}")
        entries = list(concerning(entries, vocabulary, target))
    files = pictures(entries, vocabulary, subject.scenario, result)
    result.violations = stories(subject, result)
    return Replay(
        result=run_result(result, subject),
        entries=entries,
        lines=tell(entries, vocabulary),
        files=files,
        target=target,
        kept=kept,
    )


def _known(rows: Sequence[CheckpointRow]) -> str:
    scopes: dict[str, list[int]] = {}
    for row in rows:
        scopes.setdefault(row.scope, []).append(row.checkpoint_id)
    ranges = [f"{scope}/{min(ids)} to {scope}/{max(ids)}" for scope, ids in scopes.items()]
    return f"one of this run: {', '.join(ranges)}" if ranges else "a run with checkpoints"


def _target(text: str | None) -> Target | None:
    if text is None:
        return None
    scope, slash, index = text.rpartition("/")
    if not (index.isascii() and index.isdigit()):
        raise UserError(f"--checkpoint: found {text!r}, expected INDEX or SCOPE/INDEX")
    return Target(int(index), scope if slash else None)


def _judging(
    ignore: Sequence[str], properties: Sequence[Function | str], *, like_ours: bool
) -> Judging:
    return Judging(ignore=tuple(ignore), properties=tuple(properties), like_ours=like_ours)


def _range(seeds: int | range) -> range:
    return range(seeds) if isinstance(seeds, int) else seeds


def _policies(ties: str | Sequence[str]) -> tuple[str, ...]:
    return (ties,) if isinstance(ties, str) else tuple(ties)
