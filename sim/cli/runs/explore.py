"""`ckptsim check --explore`: scenarios are drawn as well as seeds."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ckptsim.scenarios import UserError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import to_toml
from ckptsim.scenarios.generators import GENERATORS, WITHIN_OTHERS
from ckptsim.sim.blame import CORE_RAISED
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.cli.runs.check_many import ALL
from ckptsim.sim.cli.subject import ran_with, table, violation_text
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search import Subject, shrink
from ckptsim.sim.search.explore import (
    Corpus,
    Explored,
    Explorer,
    ExploreReport,
    ExploreStopped,
    Exploring,
    explore,
    fewer,
)
from ckptsim.sim.search.explore.branches import branches_by_file
from ckptsim.sim.search.explore.corpus import load, save
from ckptsim.sim.search.explore.run import RUN_ENDS, SURVIVES
from ckptsim.sim.search.folder import SCENARIO, keep
from ckptsim.sim.search.trial import replay_of
from ckptsim.sim.slots.resolve import read_cores, resolve, try_out

RUNS = 1000
SHRINKING_RUNS_MAX = 300
OUT = Path("out", "explore")
# Violations that a plain run of the written scenario does not report as rows.
_OUTSIDE_OF_WORLDS = frozenset({CORE_RAISED, RUN_ENDS, SURVIVES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A violation, shrunk and written: its row, its run before, and the scenario in its folder."""

    row: ViolationRow
    before: Explored
    seed: int
    ties: str
    shrinking_runs: int
    file: Path


def run_explore(arguments: argparse.Namespace) -> int:
    """Explore a link, or all that can be drawn; print what broke and what was reached."""
    _refuse_others(arguments)
    chosen = _chosen(arguments)
    documents: list[dict[str, Any]] = []
    for each in chosen:
        explorer = _with_cores(arguments, each)
        corpus_file, failed_file = _files(arguments, explorer.name)
        report = _explored(arguments, explorer, corpus_file, failed_file, share=len(chosen))
        found = [_shrunk(explorer, broken) for broken in report.violating]
        _keep_failures(failed_file, report, last_failed=arguments.last_failed)
        documents.append(_document(explorer, report, found))
        if not arguments.json:
            print(_text(explorer, report, found), flush=True)
        if found and not arguments.keep_going:
            break
    if arguments.json:
        print(json.dumps(documents[0] if len(chosen) == 1 else {"links": documents}, indent=1))
    return EXIT_VIOLATED if any(one["violations"] for one in documents) else EXIT_FINE


def _refuse_others(arguments: argparse.Namespace) -> None:
    """Raise UserError for an argument of `check` that means nothing where scenarios are drawn."""
    given = {
        "--seeds": arguments.seeds,
        "--set": arguments.set,
        "--costs": arguments.costs,
        "--after": arguments.after,
        "--junit": arguments.junit,
        "--require-goals": arguments.require_goals,
    }
    for name, value in given.items():
        if value:
            raise UserError(f"{name}: found together with --explore, expected one of them alone")


def _chosen(arguments: argparse.Namespace) -> list[Explorer]:
    """Return what is explored: every link, one, or what lies around one scenario."""
    word: str = arguments.scenario
    if word == ALL:
        return [Explorer(link=link) for link in GENERATORS if link not in WITHIN_OTHERS]
    if word in GENERATORS:
        return [Explorer(link=word)]
    scenario = by_name(word)
    return [Explorer(link=scenario.link, scenario=scenario)]


def _with_cores(arguments: argparse.Namespace, explorer: Explorer) -> Explorer:
    subject, *_ = explorer.subject(())
    world = subject.scenario.world
    cores = read_cores(arguments.core, (world,))
    resolve(world, cores=cores, mutant=arguments.mutant)
    try_out(cores)
    return replace(explorer, cores=cores, mutant=arguments.mutant)


def _files(arguments: argparse.Namespace, name: str) -> tuple[Path | None, Path]:
    """Return where the corpus is kept, if it is, and where the runs that failed are."""
    folder: Path | None = arguments.corpus
    corpus = None if folder is None else folder / f"{name}.jsonl"
    return corpus, (folder or OUT) / f"{name}.failed.jsonl"


def _explored(
    arguments: argparse.Namespace,
    explorer: Explorer,
    corpus_file: Path | None,
    failed_file: Path,
    *,
    share: int,
) -> ExploreReport:
    """Explore one link; share: among how many the seconds are divided."""
    corpus = Corpus() if corpus_file is None else Corpus(load(corpus_file))
    if arguments.last_failed:
        corpus = Corpus(load(failed_file))
        if not corpus.entries:
            return ExploreReport()
    seconds, runs = arguments.seconds, arguments.runs
    if arguments.last_failed:
        runs = len(corpus.entries)
    elif runs is None and seconds is None:
        runs = RUNS
    how = Exploring(
        seed=arguments.first,
        runs=runs,
        seconds=None if seconds is None else seconds / share,
        jobs=arguments.jobs,
        keep_going=arguments.keep_going or arguments.last_failed,
    )
    try:
        with ProgressBar(f"exploring {explorer.name}") as bar:
            return explore(
                explorer,
                how,
                corpus,
                progress=lambda report: bar(
                    done=report.runs,
                    total=runs,
                    note=f"{len(report.covered)} reached, last new: {report.last_new[:40]}",
                ),
            )
    except ExploreStopped as stop:
        _keep_failures(failed_file, stop.report, last_failed=arguments.last_failed)
        if stop.report.violating and not arguments.json:
            print(_text(explorer, stop.report, []))
        raise KeyboardInterrupt(_left_of(stop.report, corpus_file)) from stop
    finally:
        if corpus_file is not None and not arguments.last_failed:
            save(corpus_file, corpus.entries)


def _keep_failures(path: Path, report: ExploreReport, *, last_failed: bool) -> None:
    """Write the lists of choices of the runs that failed; of none, where they were tried again."""
    if report.violating or (last_failed and report.runs):
        save(path, [each.choices for each in report.violating])


def _left_of(report: ExploreReport, corpus_file: Path | None) -> str:
    done = f"{report.runs} scenarios were run, {len(report.violating)} broke a property"
    if corpus_file is None:
        return f"{done}; with --corpus DIR what they reached would be kept"
    return f"{done}; what reached something new is kept in {corpus_file}, and the next run uses it"


def _shrunk(explorer: Explorer, before: Explored) -> Found:
    """Shrink a run by its choices, then by its document; write the scenario and tell its story."""
    name = before.trial.violations[0].property
    with ProgressBar("shrinking") as bar:
        first = fewer(
            explorer,
            before,
            property_name=name,
            progress=lambda done: bar(done=done, total=SHRINKING_RUNS_MAX),
        )
        subject, seed, ties, _ = explorer.subject(first.found.choices)
        found, runs = first.found.trial, first.runs
        if name not in _OUTSIDE_OF_WORLDS:
            left = SHRINKING_RUNS_MAX - runs
            smallest = shrink(
                subject,
                found,
                property_name=name,
                trials_max=left,
                progress=lambda done: bar(done=first.runs + done, total=SHRINKING_RUNS_MAX),
            )
            subject = replace(subject, scenario=smallest.scenario)
            seed, ties, runs = smallest.trial.seed, smallest.trial.ties, runs + smallest.trials
    folder = OUT / f"{explorer.name}-{name}"
    if name in _OUTSIDE_OF_WORLDS:
        subject = _written(subject, name, folder / SCENARIO)
        row = next(row for row in found.violations if row.property == name)
        row = replace(row, replay=replay_of(subject, seed, ties))
    else:
        row = keep(folder, subject, seed=seed, ties=ties, name=name)
    file = folder / SCENARIO
    return Found(row=row, before=before, seed=seed, ties=ties, shrinking_runs=runs, file=file)


def _written(subject: Subject, name: str, path: Path) -> Subject:
    """Write the scenario, and return it as the command line gets it from there."""
    says = f"a drawn scenario that breaks {name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    written = replace(subject, scenario=replace(subject.scenario, says=says), source=str(path))
    path.write_text(to_toml(written.scenario), encoding="utf-8")
    return written


def _document(explorer: Explorer, report: ExploreReport, found: list[Found]) -> dict[str, Any]:
    files = branches_by_file(report.covered)
    cores = Subject(scenario=explorer.subject(())[0].scenario, cores=explorer.cores).names
    return {
        "link": explorer.link,
        "scenario": None if explorer.scenario is None else explorer.scenario.name,
        "cores": cores,
        "mutant": explorer.mutant,
        "runs": report.runs,
        "seconds": round(report.seconds, 3),
        "events": report.events,
        "passed": not report.violating,
        "outcomes": report.outcomes,
        "violations": [
            asdict(each.row)
            | {
                "run": each.before.number,
                "seed": each.seed,
                "ties": each.ties,
                "shrinking_runs": each.shrinking_runs,
                "file": str(each.file),
            }
            for each in found
        ],
        "hazards": report.hazards,
        "goals": report.goals,
        "coverage": {
            "reached": len(report.covered),
            "last_new": report.last_new,
            "last_new_run": report.covered.get(report.last_new),
            "branches": sum(count - len(missing) for count, missing in files.values()),
            "branches_of": sum(count for count, _ in files.values()),
            "missing": {path: missing for path, (_, missing) in files.items() if missing},
        },
        "digest": report.digest,
    }


def _text(explorer: Explorer, report: ExploreReport, found: list[Found]) -> str:
    document = _document(explorer, report, found)
    coverage = document["coverage"]
    reached = [name for name, runs in report.goals.items() if runs]
    missed = [name for name, runs in report.goals.items() if not runs]
    rate = report.runs / report.seconds if report.seconds else 0.0
    new = f"{coverage['last_new']} in run {coverage['last_new_run']}" if report.covered else "none"
    pairs: list[tuple[str, object]] = [
        ("explored", explorer.name),
        *ran_with(document["cores"], explorer.mutant),
        ("runs", f"{report.runs} in {report.seconds:.1f} s, {rate:.0f} per second"),
        ("outcomes", ", ".join(f"{count} {name}" for name, count in report.outcomes.items())),
        ("core branches", f"{coverage['branches']} of {coverage['branches_of']}"),
        ("last new", new),
        ("goals", f"{len(reached)} of {len(report.goals)} reached"),
        ("not reached", ", ".join(missed) or "none"),
        ("violations", f"{len(report.violating)} run(s)" if report.violating else "none"),
        ("digest", report.digest),
    ]
    if report.hazards:
        known = ", ".join(f"{name} in {runs}" for name, runs in report.hazards.items())
        pairs.insert(-2, ("hazards", f"known ones of released systems: {known}"))
    pairs += [
        ("written", f"{each.file.parent}, shrunk in {each.shrinking_runs} runs") for each in found
    ]
    return "\n\n".join([*(violation_text(each.row) for each in found), table(pairs)])
