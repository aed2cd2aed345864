"""`check`: many seeds and tie orders of one scenario, of a link, or of all, and drawn scenarios."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from ckptsim._api.columns import aligned
from ckptsim._api.runs.ran import UNBROKEN, CheckReport, extended
from ckptsim._api.runs.verbs import SEEDS_TO_CHECK, checked
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.links import LINKS
from ckptsim.sim.cli.options import (
    FIRST,
    LIKE_OURS,
    SUBJECT,
    Verb,
    flag,
    json_of,
    many_ties,
    option,
    output_file,
    output_folder,
    positive,
    refuse,
    spark,
)
from ckptsim.sim.cli.printing import document_text
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.cli.subject import subject_of
from ckptsim.sim.search import CheckStopped
from ckptsim.sim.search.check import EXHAUSTIVE

ALL = "all"
RUNS_TO_EXPLORE = 1000
_OF_EXPLORING = ("runs", "seconds", "corpus", "last_failed", "master", "partitions", "conf")


def _check(arguments: argparse.Namespace) -> int:
    if arguments.explore:
        from ckptsim.sim.cli.verbs.explore import run_explore

        return run_explore(arguments)
    given = {f"--{name.replace('_', '-')}": getattr(arguments, name) for name in _OF_EXPLORING}
    refuse(given, "without --explore, expected both")
    names = _names_of(arguments.scenario, after=arguments.after)
    if names is not None:
        every = _check_all(names, arguments)
    else:
        every = [_checked(arguments, arguments.scenario)]
        report = every[0].report
        print(document_text(report.to_dict()) if arguments.json else report.text)
        if arguments.junit is not None:
            _write_junit(arguments.junit, every)
    return int(not all(each.passed for each in every))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """One scenario that was checked, and the seconds that it took. missed: a goal that must be."""

    scenario: str
    link: str
    report: CheckReport
    seconds: float
    missed: bool

    @property
    def passed(self) -> bool:
        return self.report.passed and not self.missed

    @property
    def why(self) -> str:
        """The sentences on the problem. Empty where nothing is."""
        found = [
            f"{row.property}: {row.says} (replay: {row.replay})"
            for trial in self.report.unexpected
            for row in trial.violations[:1]
        ]
        found += self.report.causes if found else []
        if self.report.unbroken:
            found.append(f"{UNBROKEN}: {', '.join(self.report.unbroken)}")
        if self.missed:
            found.append(f"not reached: {', '.join(self.report.missed_goals)}")
        return "\n".join(found)

    @property
    def line(self) -> str:
        verdict = "ok" if self.passed else "FAILED"
        says = self.why.splitlines() + ([self.report.late_text] if self.report.late else [])
        below = aligned((), [("  ", line) for line in says])
        runs = f"{self.report.runs} runs"
        return "\n".join([f"{self.scenario:<44} {self.link:<17} {runs:>10}  {verdict}", *below])

    @property
    def document(self) -> dict[str, object]:
        """What `--json` prints of one of several scenarios."""
        return {
            "scenario": self.scenario,
            "link": self.link,
            "runs": self.report.runs,
            "seconds": self.seconds,
            "passed": self.passed,
            "why": self.why,
            "seeds_until_expected": self.report.late,
        }


def _checked(arguments: argparse.Namespace, name: str) -> _Checked:
    subject = subject_of(argparse.Namespace(**vars(arguments) | {"scenario": name}))
    seeds = range(arguments.first, arguments.first + (arguments.seeds or SEEDS_TO_CHECK))
    began = time.perf_counter()
    with ProgressBar(f"checking {name}") as bar:
        try:
            report = checked(
                subject,
                seeds,
                ties=arguments.ties,
                jobs=arguments.jobs,
                orders=arguments.orders,
                keep_going=arguments.keep_going,
                progress=lambda done: bar(done=done, total=len(seeds)),
            )
        except CheckStopped as stop:
            so_far = extended(CheckReport, stop.report, subject=subject)
            if so_far.unexpected and not arguments.json:
                print(so_far.text)
            raise KeyboardInterrupt(_left_of_seeds(so_far)) from stop
    return _Checked(
        scenario=subject.scenario.name,
        link=subject.scenario.link,
        report=report,
        seconds=time.perf_counter() - began,
        missed=bool(arguments.require_goals and report.missed_goals),
    )


def _left_of_seeds(report: CheckReport) -> str:
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


# Many scenarios ----------------------------------------------------------------------------------


def _names_of(word: str, *, after: str | None) -> list[str] | None:
    """Return the scenarios of `all` or a link after a name, or None. Raises UserError."""
    if word != ALL and word not in LINKS:
        return None
    names = [each.name for each in all_scenarios() if word in (ALL, each.link)]
    if after is None:
        return names
    if after not in names:
        hint = suggestion(after, names)
        raise UserError(f"--after: found {after!r}, expected a scenario of {word}{hint}")
    return names[names.index(after) + 1 :]


def _check_all(names: Sequence[str], arguments: argparse.Namespace) -> list[_Checked]:
    done: list[_Checked] = []
    try:
        for name in names:
            done.append(_checked(arguments, name))
            if not arguments.json:
                print(done[-1].line, flush=True)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(_left_of(names, done)) from stop
    finally:
        if arguments.junit is not None:
            _write_junit(arguments.junit, done)
    failed = _failed(done)
    if arguments.json:
        print(document_text({"scenarios": [each.document for each in done], "failed": failed}))
    else:
        print(f"{len(done) - failed} passed, {failed} failed")
    return done


def _failed(done: Iterable[_Checked]) -> int:
    return sum(not each.passed for each in done)


def _left_of(names: Sequence[str], done: Sequence[_Checked]) -> str:
    seen = f"{len(done)} of {len(names)} scenarios were checked, {_failed(done)} failed"
    if not done:
        return seen
    return f"{seen}; the same command with --after {done[-1].scenario} does the rest"


def _write_junit(path: Path, cases: Sequence[_Checked]) -> None:
    """Write outcomes as the XML that continuous builds read: a test case per scenario."""
    about = {"name": "ckptsim check", "tests": str(len(cases)), "failures": str(_failed(cases))}
    seconds = f"{sum(each.seconds for each in cases):.3f}"
    suite = ET.Element("testsuite", about, errors="0", time=seconds)
    for each in cases:
        named = {"classname": each.link, "name": each.scenario, "time": f"{each.seconds:.3f}"}
        case = ET.SubElement(suite, "testcase", named)
        if not each.passed:
            failure = ET.SubElement(case, "failure", message=each.why.partition("\n")[0])
            failure.text = each.why
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


VERBS = {
    "check": Verb(
        run=_check,
        options=(
            *SUBJECT,
            LIKE_OURS,
            option("--seeds", f"how many (default {SEEDS_TO_CHECK})", type_=positive),
            FIRST,
            option(
                "--ties",
                "taken in turn: structural, random (default), pct, pct:DEPTH; or exhaustive alone",
                "POLICY[,POLICY]",
                many_ties,
                default=("random",),
            ),
            option(
                "--orders",
                "with exhaustive ties, at most so many orders per seed (default 1000)",
                type_=positive,
                default=1000,
            ),
            option("--jobs", "processes (default 1)", type_=positive, default=1),
            flag("--keep-going", "do not stop at the first violation"),
            flag(
                "--require-goals", "fail when no run reached a situation that the scenario asks for"
            ),
            option(
                "--after",
                "of all scenarios, or of a link's, leave out those up to this one",
                "SCENARIO",
            ),
            option("--junit", "write the outcome as JUnit XML as well", "FILE", output_file),
            # Exploring takes --first for its seed, --jobs and --keep-going, too.
            flag(
                "--explore",
                "draw the scenarios of a link as well as seeds and ties; --first is the seed of it",
            ),
            option(
                "--runs",
                f"with --explore, how many (default {RUNS_TO_EXPLORE}, or as --seconds)",
                type_=positive,
            ),
            option("--seconds", "with --explore, end after so many seconds", type_=positive),
            option(
                "--corpus",
                "with --explore, keep what reached something new there, and begin with what is "
                "there",
                "DIR",
                output_folder,
            ),
            flag(
                "--last-failed",
                "with --explore, run again only what broke a property the last time",
            ),
            *spark(None, "with --explore, carry out the runs on this Spark master: local[2]"),
            json_of("the report"),
        ),
        examples="""examples:
  ckptsim check reference --seeds 1000
  ckptsim check all --seeds 5 --junit out/check.xml      every scenario of the library
  ckptsim check checkpoint_store --seeds 20              every scenario of a link
  ckptsim check reference --seeds 1000 --ties random,pct --jobs 2
  ckptsim check reference --seeds 1 --ties exhaustive --orders 5000
  ckptsim check reference --seeds 1000 --mutant no_ordering
  ckptsim check ordering --explore --seconds 15          scenarios are drawn, too
  ckptsim check ordering --explore --runs 2000 --jobs 2 --corpus out/corpus
  ckptsim check all --explore --runs 100000 --corpus out/corpus --master "local[2]"
  ckptsim check reference --seeds 200 --core ordering=my_package.my_module:make_core""",
    )
}
