"""`ckptsim check --explore`: scenarios are drawn as well as seeds."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from ckptsim._api.runs.causes import pages_of_find
from ckptsim.scenarios import UserError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import alone_in, to_toml, written_whole
from ckptsim.scenarios.generators import GENERATORS, WITHIN_OTHERS
from ckptsim.scenarios.severity import severity_of
from ckptsim.sim.blame import CORE_RAISED
from ckptsim.sim.cli.ending import refusal_of
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import default_folder, refuse, spark_settings
from ckptsim.sim.cli.progress import ProgressBar, say
from ckptsim.sim.cli.subject import judging_of
from ckptsim.sim.cli.verbs.check import ALL, RUNS_TO_EXPLORE
from ckptsim.sim.cli.verbs.explored import (
    OUT,
    Found,
    Kept,
    OfLink,
    document_of,
    document_of_all,
    text_of,
    text_of_all,
)
from ckptsim.sim.job.buffers.compiled.jit import KERNEL
from ckptsim.sim.run_spec import CUTS
from ckptsim.sim.search import Subject, explore, shrink
from ckptsim.sim.search.explore.ends import RUN_ENDS
from ckptsim.sim.search.explore.explore import CarryOut, Progress
from ckptsim.sim.search.explore.run import SURVIVES
from ckptsim.sim.search.folder import SCENARIO, keep, slug
from ckptsim.sim.search.hunt import with_harm
from ckptsim.sim.search.shrink import Clock
from ckptsim.sim.search.trial import replay_of
from ckptsim.sim.slots.resolve import read_cores, refuse_uncompared, resolve, try_out

SHRINKING_RUNS_MAX = 300
# Shrinking gets the seconds that exploring had, and no fewer than these.
_LEAST_SECONDS = 10.0
# Violations that a plain run of the written scenario does not report as rows.
_OUTSIDE_OF_WORLDS = frozenset({CORE_RAISED, RUN_ENDS, SURVIVES})
Workers = Callable[[explore.Explorer], AbstractContextManager[CarryOut] | None]


def run_explore(arguments: argparse.Namespace) -> int:
    """Explore a link, or all that can be drawn. Print violations and reached goals."""
    _refuse_others(arguments)
    # Drawn jobs are too small to load the compiled kernel for, and one with a fault in it would
    # have to be compiled first.
    os.environ.setdefault(KERNEL, "python")
    chosen = [_with_cores(arguments, each) for each in _chosen(arguments)]
    every = [Kept(arguments.corpus, each, seed=arguments.first) for each in chosen]
    links: list[OfLink] = []
    documents: list[dict[str, Any]] = []
    with ExitStack() as stack:
        if arguments.corpus is not None:
            busy = "another process explores here; wait for it, or choose another --corpus"
            stack.enter_context(alone_in(arguments.corpus, busy=busy))
        workers = _workers(arguments, stack)
        for explorer, kept in zip(chosen, every, strict=True):
            one = _explored(arguments, explorer, kept, workers, share=len(chosen))
            links.append(one)
            documents.append(document_of(one))
            if not arguments.json:
                print(text_of(one, documents[-1]), flush=True)
            if one.found and not arguments.keep_going:
                break
    for kept in every:  # all of them: a command that was interrupted continues in its last link
        kept.finish()
    _print_all(documents, links, as_json=arguments.json, alone=len(chosen) == 1)
    refused = next((kept.refused for kept in every if kept.refused is not None), None)
    violated = any(one.found for one in links)
    if refused is not None and not violated:
        raise refused
    if refused is not None:
        says = refusal_of(refused, arguments) or str(refused)
        print(f"ckptsim check: {says}; the results are not kept", file=sys.stderr)
    return EXIT_VIOLATED if violated else EXIT_FINE


def _print_all(
    documents: list[dict[str, Any]], links: list[OfLink], *, as_json: bool, alone: bool
) -> None:
    if alone:
        if as_json:
            print(json.dumps(documents[0], indent=1))
        return
    whole = document_of_all(documents, links)
    print(json.dumps(whole, indent=1) if as_json else text_of_all(whole))


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
    refuse(given, "together with --explore, expected one of them alone")
    if arguments.master is not None and arguments.jobs > 1:
        raise UserError("--jobs: found together with --master, expected one of them alone")
    if arguments.master is None and (arguments.partitions or arguments.conf):
        raise UserError("--partitions, --conf: found without --master, expected both")


def _chosen(arguments: argparse.Namespace) -> list[explore.Explorer]:
    """Return the explored subject: every link, one, or what lies around one scenario."""
    word: str = arguments.scenario
    if word == ALL:
        return [explore.Explorer(link=link) for link in GENERATORS if link not in WITHIN_OTHERS]
    if word in GENERATORS:
        return [explore.Explorer(link=word)]
    scenario = by_name(word)
    return [explore.Explorer(link=scenario.link, scenario=scenario)]


def _with_cores(arguments: argparse.Namespace, explorer: explore.Explorer) -> explore.Explorer:
    cores = read_cores(arguments.core, explorer.worlds)
    choice = resolve(*explorer.worlds, cores=cores, mutant=arguments.mutant)
    try_out(cores)
    judging = judging_of(arguments, explorer.link)
    if judging.like_ours:
        refuse_uncompared(explorer.worlds, choice.factories)
    return replace(explorer, cores=cores, mutant=arguments.mutant, judging=judging)


def _workers(arguments: argparse.Namespace, stack: ExitStack) -> Workers:
    """Return what carries out an explorer's runs: Spark, or None for processes here."""
    if arguments.master is None:
        return lambda _: None
    from ckptsim.analysis.spark.session import spark_session
    from ckptsim.analysis.sweeps.exploring import rounds_on_spark

    settings = spark_settings(arguments)
    say(f"starting Spark on {arguments.master}")
    session = stack.enter_context(spark_session(arguments.master, settings=settings))
    return lambda explorer: rounds_on_spark(
        session.sparkContext, explorer, arguments.first, partitions=arguments.partitions
    )


def _explored(
    arguments: argparse.Namespace,
    explorer: explore.Explorer,
    kept: Kept,
    workers: Workers,
    *,
    share: int,
) -> OfLink:
    """Explore one link and shrink what broke. share: among how many the seconds are divided."""
    if arguments.last_failed:
        corpus = kept.failed()
        so_far = Progress(begun_with=len(corpus.entries))
    else:
        corpus, so_far = kept.begin()
    how = _budget(arguments, corpus, share=share)
    if how.runs is not None and so_far.report.runs > how.runs:
        so_far = Progress(begun_with=len(corpus.entries))
    began_at = so_far.report.runs

    def progress(report: explore.ExploreReport) -> None:
        if not arguments.last_failed:
            kept.save_sometimes(corpus, so_far)
        note = f"{len(report.covered)} reached, last new: {report.last_new[:40]}"
        bar(
            done=report.runs - began_at,
            total=None if how.runs is None else how.runs - began_at,
            note=note,
        )

    try:
        with ProgressBar(f"exploring {explorer.name}") as bar:
            report = explore.explore(
                explorer, how, corpus, so_far=so_far, workers=workers(explorer), progress=progress
            )
    except explore.ExploreStopped as stop:
        _keep_failures(kept, stop.report, last_failed=arguments.last_failed)
        if stop.report.violating and not arguments.json:
            one = OfLink(explorer=explorer, report=stop.report, found=[])
            print(text_of(one, document_of(one)))
        raise KeyboardInterrupt(_left_of(stop.report, kept)) from stop
    finally:
        if not arguments.last_failed:
            kept.save(corpus, so_far)
    found = [_shrunk(explorer, broken, how.seconds, kept) for broken in _one_of_each(report)]
    _keep_failures(kept, report, last_failed=arguments.last_failed)
    return OfLink(explorer=explorer, report=report, found=found, continued_at=began_at)


def _budget(
    arguments: argparse.Namespace, corpus: explore.Corpus, *, share: int
) -> explore.Exploring:
    seconds, runs = arguments.seconds, arguments.runs
    if arguments.last_failed:
        runs = len(corpus.entries)
    elif runs is None and seconds is None:
        runs = RUNS_TO_EXPLORE
    return explore.Exploring(
        seed=arguments.first,
        runs=runs,
        seconds=None if seconds is None else seconds / share,
        jobs=arguments.jobs,
        keep_going=arguments.keep_going or arguments.last_failed,
    )


def _keep_failures(kept: Kept, report: explore.ExploreReport, *, last_failed: bool) -> None:
    """Keep the choices of the runs that failed. Of none, where they were tried again."""
    if report.violating or (last_failed and report.runs):
        kept.save_failed(report)


def _left_of(report: explore.ExploreReport, kept: Kept) -> str:
    done = f"{report.runs} scenarios were run, {len(report.violating)} broke a property"
    if kept.corpus_file is None:
        return f"{done}; with --corpus DIR what they reached would be kept"
    if kept.goes_on:
        return f"{done}; the same command does the rest"
    return f"{done}; what reached something new is kept in {kept.corpus_file}, and is run first"


def _one_of_each(report: explore.ExploreReport) -> list[explore.Explored]:
    """Return a run of each property, by how bad its violation is: one is shrunk, not all."""
    first: dict[str, explore.Explored] = {}
    for broken in report.violating:
        first.setdefault(broken.trial.violations[0].property, broken)
    return sorted(first.values(), key=lambda one: severity_of(one.trial.violations[0].property))


def _shrunk(
    explorer: explore.Explorer, before: explore.Explored, seconds: float | None, kept: Kept
) -> Found:
    """Shrink a run within `seconds` (None: any time), write the scenario and tell its story."""
    clock = Clock(math.inf if seconds is None else max(seconds, _LEAST_SECONDS))
    name = before.trial.violations[0].property
    with ProgressBar("shrinking") as bar:
        subject, *_ = explorer.subject(before.choices)
        # Before anything is shrunk: in the smallest run there may be no time for harm.
        subject, found, name = with_harm(subject, before.trial, name)
        smallest = shrink(
            subject,
            found,
            property_name=name,
            trials_max=0 if name == RUN_ENDS else SHRINKING_RUNS_MAX,  # each takes its seconds
            progress=lambda done: bar(done=done, total=SHRINKING_RUNS_MAX),
            seconds_max=clock.left_s,
            run_seconds_max=math.inf if seconds is None else explore.RUN_SECONDS_MAX,
            run=explorer.trial if name in _OUTSIDE_OF_WORLDS else None,
        )
    subject, found = replace(subject, scenario=smallest.scenario), smallest.trial
    seed, ties, runs = found.seed, found.ties, smallest.trials
    if found.outcome not in CUTS:
        subject = replace(subject, cut_after=None)
    # What stays where the folder cannot be written.
    row = next(row for row in found.violations if row.property == name)
    row, file = replace(row, replay=""), None
    with kept.writing():
        folder = default_folder(OUT / f"{explorer.name}-{slug(name)}")
        if name in _OUTSIDE_OF_WORLDS:
            subject = _written(subject, name, folder / SCENARIO)
            row = replace(row, replay=replay_of(subject, seed, ties))
        else:
            row = keep(folder, subject, seed=seed, ties=ties, name=name, pages=pages_of_find)
        file = folder / SCENARIO
    return Found(row=row, before=before, seed=seed, ties=ties, shrinking_runs=runs, file=file)


def _written(subject: Subject, name: str, path: Path) -> Subject:
    says = f"a drawn scenario that breaks {name}"
    written = replace(subject, scenario=replace(subject.scenario, says=says), source=str(path))
    written_whole(path, to_toml(written.scenario))
    return written
