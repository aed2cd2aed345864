"""`ckptsim check`: many seeds and tie orders of one scenario against its properties."""

from __future__ import annotations

import argparse
import json
import time

from ckptsim.sim.answers.ran import check_document
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import add_likeness_argument, add_spark_arguments, positive, refuse
from ckptsim.sim.cli.places import output_file, output_folder
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.cli.runs.check_many import (
    UNBROKEN,
    Checked,
    check_all,
    late_text,
    names_of,
    write_junit,
)
from ckptsim.sim.cli.runs.explore import RUNS, run_explore
from ckptsim.sim.cli.subject import (
    add_subject_arguments,
    many_ties,
    setting_of,
    subject_of,
    table,
    violation_texts,
)
from ckptsim.sim.search import CheckReport, CheckStopped, Subject, check
from ckptsim.sim.search.check import EXHAUSTIVE

_OF_EXPLORING = ("runs", "seconds", "corpus", "last_failed", "master", "partitions", "conf")
_SEEDS = 100  # unless it is said how many

EXAMPLES = """examples:
  ckptsim check reference --seeds 1000
  ckptsim check all --seeds 5 --junit out/check.xml      every scenario of the library
  ckptsim check checkpoint_store --seeds 20              every scenario of a link
  ckptsim check reference --seeds 1000 --ties random,pct --jobs 2
  ckptsim check reference --seeds 1 --ties exhaustive --orders 5000
  ckptsim check reference --seeds 1000 --mutant no_ordering
  ckptsim check ordering --explore --seconds 15          scenarios are drawn, too
  ckptsim check ordering --explore --runs 2000 --jobs 2 --corpus out/corpus
  ckptsim check all --explore --runs 100000 --corpus out/corpus --master "local[2]"
  ckptsim check reference --seeds 200 --core ordering=my_package.my_module:make_core"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add_subject_arguments(parser)
    add_likeness_argument(parser)
    parser.add_argument("--seeds", type=positive, help=f"how many (default {_SEEDS})")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument(
        "--ties",
        type=many_ties,
        default=("random",),
        metavar="POLICY[,POLICY]",
        help="taken in turn: structural, random (default), pct, pct:DEPTH; or exhaustive alone",
    )
    parser.add_argument(
        "--orders",
        type=positive,
        default=1000,
        help="with exhaustive ties, at most so many orders per seed (default 1000)",
    )
    parser.add_argument("--jobs", type=positive, default=1, help="processes (default 1)")
    parser.add_argument(
        "--keep-going", action="store_true", help="do not stop at the first violation"
    )
    parser.add_argument(
        "--require-goals",
        action="store_true",
        help="fail when no run reached a situation that the scenario asks for",
    )
    parser.add_argument(
        "--after",
        metavar="SCENARIO",
        help="of all scenarios, or of a link's, leave out those up to this one",
    )
    parser.add_argument(
        "--junit", type=output_file, metavar="FILE", help="write the outcome as JUnit XML as well"
    )
    _add_explore_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_explore_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what only exploring has; it takes --first for its seed, --jobs and --keep-going."""
    parser.add_argument(
        "--explore",
        action="store_true",
        help="draw the scenarios of a link as well as seeds and ties; --first is the seed of it",
    )
    parser.add_argument(
        "--runs", type=positive, help=f"with --explore, how many (default {RUNS}, or as --seconds)"
    )
    parser.add_argument(
        "--seconds", type=positive, help="with --explore, end after so many seconds"
    )
    parser.add_argument(
        "--corpus",
        type=output_folder,
        metavar="DIR",
        help="with --explore, keep what reached something new there, and begin with what is there",
    )
    parser.add_argument(
        "--last-failed",
        action="store_true",
        help="with --explore, run again only what broke a property the last time",
    )
    add_spark_arguments(
        parser,
        master=None,
        says="with --explore, carry out the runs on this Spark master, such as local[2]",
    )


def run(arguments: argparse.Namespace) -> int:
    """Check the seeds, print the violations and what was reached."""
    if arguments.explore:
        return run_explore(arguments)
    given = {f"--{name.replace('_', '-')}": getattr(arguments, name) for name in _OF_EXPLORING}
    refuse(given, "without --explore, expected both")
    names = names_of(arguments.scenario, after=arguments.after)
    if names is not None:
        checked = check_all(
            names,
            lambda name: _checked(arguments, name)[1],
            as_json=arguments.json,
            junit=arguments.junit,
        )
    else:
        subject, found = _checked(arguments, arguments.scenario)
        checked = [found]
        if arguments.json:
            print(json.dumps(check_document(subject, found.report), indent=1))
        else:
            print(_text(subject, found.report))
        if arguments.junit is not None:
            write_junit(arguments.junit, checked)
    return EXIT_FINE if all(each.passed for each in checked) else EXIT_VIOLATED


def _checked(arguments: argparse.Namespace, name: str) -> tuple[Subject, Checked]:
    """Check one scenario as the arguments say."""
    subject = subject_of(argparse.Namespace(**vars(arguments) | {"scenario": name}))
    seeds = range(arguments.first, arguments.first + (arguments.seeds or _SEEDS))
    began = time.perf_counter()
    with ProgressBar(f"checking {name}") as bar:
        try:
            report = check(
                subject,
                seeds,
                ties=arguments.ties,
                jobs=arguments.jobs,
                orders=arguments.orders,
                keep_going=arguments.keep_going,
                progress=lambda done: bar(done=done, total=len(seeds)),
            )
        except CheckStopped as stop:
            if stop.report.unexpected and not arguments.json:
                print(_text(subject, stop.report))
            raise KeyboardInterrupt(_left_of(stop.report)) from stop
    missed = bool(arguments.require_goals and report.missed_goals)
    return subject, Checked(
        scenario=subject.scenario.name,
        link=subject.scenario.link,
        report=report,
        seconds=time.perf_counter() - began,
        missed=missed,
    )


def _left_of(report: CheckReport) -> str:
    """Say what an interrupted check has seen, and which arguments do the rest."""
    found = len(report.unexpected)
    broke = f"{found} of them broke a property" if found else "none broke a property unexpectedly"
    if report.ties == (EXHAUSTIVE,):
        return f"{report.runs} orders were tried, {broke}; the same command begins anew"
    # Policies are taken in turn: the rest begins with the first of them.
    done = min(report.runs, len(report.seeds))
    done -= done % len(report.ties)
    first, left = report.seeds.start + done, len(report.seeds) - done
    if left == 0:
        return f"all {done} seeds were checked, {broke}"
    rest = f"the same command with --first {first} --seeds {left} does the rest"
    return f"{report.runs} of {len(report.seeds)} seeds were checked, {broke}; {rest}"


def _text(subject: Subject, report: CheckReport) -> str:
    rows = (row for found in report.unexpected for row in found.violations)
    parts = violation_texts(row for row in rows if row.property not in report.expected)
    reached = [f"{name} in {runs}" for name, runs in report.goals.items() if runs]
    found = ", ".join(f"seed {trial.seed}" for trial in report.unexpected[:10])
    pairs: list[tuple[str, object]] = [
        ("scenario", f"{subject.scenario.name} ({subject.scenario.link})"),
        *setting_of(subject),
        ("runs", f"{report.runs}, of {len(report.seeds)} seed(s), {', '.join(report.ties)} ties"),
        ("outcomes", ", ".join(f"{count} {name}" for name, count in report.outcomes.items())),
        ("reached", ", ".join(reached) or "no rare situation"),
        ("not reached", ", ".join(report.missed_goals) or "nothing that the scenario asks for"),
        ("violations", f"{len(report.unexpected)} run(s): {found}" if found else "none"),
        ("digest", report.digest),
    ]
    if report.expected:
        broken = ", ".join(f"{name} in {runs}" for name, runs in report.expected.items())
        pairs.insert(-2, ("as expected", f"broke {broken}"))
    if report.ties == (EXHAUSTIVE,) and not report.unexpected:
        more = ", ".join(map(str, report.unexplored[:10]))
        pairs.append(("orders", f"more exist for seed {more}" if more else "all were tried"))
    if report.late:
        pairs.append(("too few seeds", late_text(report)))
    if report.unbroken:
        pairs.append(("FAILED", f"{UNBROKEN}: {', '.join(report.unbroken)}"))
    return "\n\n".join([*parts, table(pairs)])
