"""Checks of many scenarios in one command, and their outcome for a continuous build."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.links import LINKS
from ckptsim.sim.cli.columns import aligned
from ckptsim.sim.search import CheckReport

ALL = "all"


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
            found.append(f"expected to break and did not: {', '.join(self.report.unbroken)}")
        if self.missed:
            found.append(f"not reached: {', '.join(self.report.missed_goals)}")
        return "\n".join(found)


def names_of(word: str) -> list[str] | None:
    """Return the scenarios that `all` or a link stands for, or None for another word."""
    if word == ALL:
        return [scenario.name for scenario in all_scenarios()]
    if word in LINKS:
        return [scenario.name for scenario in all_scenarios() if scenario.link == word]
    return None


def check_all(
    names: Iterable[str], check: Callable[[str], Checked], *, as_json: bool
) -> list[Checked]:
    """Check every scenario, and print a line of each as soon as it is known."""
    done: list[Checked] = []
    for name in names:
        found = check(name)
        done.append(found)
        if not as_json:
            verdict = "ok" if found.passed else "FAILED"
            row = (found.scenario, found.link, f"{found.report.runs} runs", verdict)
            print(f"{row[0]:<44} {row[1]:<17} {row[2]:>10}  {row[3]}", flush=True)
            if not found.passed:
                print("\n".join(aligned((), [("  ", line) for line in found.why.splitlines()])))
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
            }
            for each in done
        ]
        print(json.dumps({"scenarios": rows, "failed": len(failed)}, indent=1))
    else:
        print(f"{len(done) - len(failed)} passed, {len(failed)} failed")
    return done


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
