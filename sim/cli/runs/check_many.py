"""Checks of many scenarios in one command, and their outcome for a continuous build."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.links import LINKS
from ckptsim.sim.answers.columns import aligned
from ckptsim.sim.search import CheckReport
from ckptsim.sim.search.check import MORE_RUNS

ALL = "all"
UNBROKEN = f"should break and did not in {MORE_RUNS} more runs either"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One scenario that was checked: what came out, and the seconds that it took."""

    scenario: str
    link: str
    report: CheckReport
    seconds: float
    missed: bool

    @property
    def passed(self) -> bool:
        """Tell whether nothing unexpected broke and nothing required was missed."""
        return self.report.passed and not self.missed

    @property
    def why(self) -> str:
        """Say what is wrong; empty where nothing is."""
        found = [
            f"{row.property}: {row.says} (replay: {row.replay})"
            for trial in self.report.unexpected
            for row in trial.violations[:1]
        ]
        if self.report.unbroken:
            found.append(f"{UNBROKEN}: {', '.join(self.report.unbroken)}")
        if self.missed:
            found.append(f"not reached: {', '.join(self.report.missed_goals)}")
        return "\n".join(found)


def names_of(word: str, *, after: str | None = None) -> list[str] | None:
    """Return the scenarios that `all` or a link stands for, or None for another word.

    after: leave out those up to this one.
    Raises UserError where it is none of them.
    """
    if word != ALL and word not in LINKS:
        return None
    names = [each.name for each in all_scenarios() if word in (ALL, each.link)]
    if after is None:
        return names
    if after not in names:
        hint = suggestion(after, names)
        raise UserError(f"--after: found {after!r}, expected a scenario of {word}{hint}")
    return names[names.index(after) + 1 :]


def late_text(report: CheckReport) -> str:
    """Say which properties that should break need more seeds for it, and how many."""
    late = ", ".join(f"{name} breaks with {seeds}" for name, seeds in report.late.items())
    return f"no violation of what should break in {len(report.seeds)} seed(s): {late}"


def check_all(
    names: Sequence[str],
    check: Callable[[str], Checked],
    *,
    as_json: bool,
    junit: Path | None = None,
) -> list[Checked]:
    """Check every scenario, and print a line of each as soon as it is known.

    junit: where outcomes go as XML, also those before an interrupt.
    """
    done: list[Checked] = []
    try:
        for name in names:
            done.append(check(name))
            if not as_json:
                print(_line(done[-1]), flush=True)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(_left_of(names, done)) from stop
    finally:
        if junit is not None:
            write_junit(junit, done)
    failed = [each for each in done if not each.passed]
    if as_json:
        rows = [
            {
                "scenario": each.scenario,
                "link": each.link,
                "runs": each.report.runs,
                "seconds": each.seconds,
                "passed": each.passed,
                "why": each.why,
                "seeds_until_expected": each.report.late,
            }
            for each in done
        ]
        print(json.dumps({"scenarios": rows, "failed": len(failed)}, indent=1))
    else:
        print(f"{len(done) - len(failed)} passed, {len(failed)} failed")
    return done


def _line(found: Checked) -> str:
    """Return how one scenario came out, and below it what there is to say."""
    verdict = "ok" if found.passed else "FAILED"
    row = (found.scenario, found.link, f"{found.report.runs} runs", verdict)
    says = found.why.splitlines()
    if found.report.late:
        says.append(late_text(found.report))
    below = aligned((), [("  ", line) for line in says])
    return "\n".join([f"{row[0]:<44} {row[1]:<17} {row[2]:>10}  {row[3]}", *below])


def _left_of(names: Sequence[str], done: Sequence[Checked]) -> str:
    """Say which scenarios an interrupted check has seen, and which argument does the rest."""
    failed = sum(not each.passed for each in done)
    seen = f"{len(done)} of {len(names)} scenarios were checked, {failed} failed"
    if not done:
        return seen
    return f"{seen}; the same command with --after {done[-1].scenario} does the rest"


def write_junit(path: Path, checked: Iterable[Checked]) -> None:
    """Write outcomes as the XML that continuous builds read: a test case per scenario."""
    cases = list(checked)
    failed = sum(not each.passed for each in cases)
    suite = ET.Element(
        "testsuite",
        name="ckptsim check",
        tests=str(len(cases)),
        failures=str(failed),
        errors="0",
        time=f"{sum(each.seconds for each in cases):.3f}",
    )
    for each in cases:
        case = ET.SubElement(
            suite, "testcase", classname=each.link, name=each.scenario, time=f"{each.seconds:.3f}"
        )
        if not each.passed:
            failure = ET.SubElement(case, "failure", message=each.why.partition("\n")[0])
            failure.text = each.why
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
