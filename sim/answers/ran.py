"""The answers of `run`, `check` and `hunt` as documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.rows import CheckpointRow, RunResult
from ckptsim.sim.search import CheckReport, Find, Subject


def run_document(subject: Subject, result: RunResult) -> dict[str, Any]:
    """Return what `run --json` prints: the run, what it ran with, and the rows of all tables."""
    run = asdict(result.run)
    return {
        "digest": run["digest"],
        "run_key": run["run_key"],
        "replay": run["replay"],
        **setting_document(subject),
        "driver": result.driver,
        "run": run,
        "goals": result.goals,
        "violations": [asdict(row) for row in result.violations],
        "checkpoints": [asdict(row) for row in result.checkpoints],
        "task_checkpoints": [asdict(row) for row in result.task_checkpoints],
        "tasks": [asdict(row) for row in result.tasks],
        "releases": [asdict(row) for row in result.releases],
        "recoveries": [asdict(row) for row in result.recoveries],
        "figures": [asdict(row) for row in result.figures],
    }


def check_document(subject: Subject, report: CheckReport) -> dict[str, Any]:
    """Return what `check --json` prints."""
    return {
        "scenario": subject.scenario.name,
        **setting_document(subject),
        "first": report.seeds.start,
        "seeds": len(report.seeds),
        "ties": list(report.ties),
        "runs": report.runs,
        "events": report.events,
        "passed": report.passed,
        "outcomes": report.outcomes,
        "goals": report.goals,
        "missed_goals": report.missed_goals,
        "unexplored_seeds": report.unexplored,
        "expected_violations": report.expected,
        "seeds_until_expected": report.late,
        "violations": [
            {"seed": found.seed, "ties": found.ties} | asdict(row)
            for found in report.unexpected
            for row in found.violations
        ],
        "first_violating_seed": report.unexpected[0].seed if report.unexpected else None,
        "digest": report.digest,
    }


def find_document(find: Find, subject: Subject) -> dict[str, Any]:
    """Return what `hunt --json` prints of a find, without the folder that it writes."""
    return setting_document(subject) | {
        "found": find.property,
        "runs": find.runs,
        "seed": find.shrunk.trial.seed,
        "ties": find.shrunk.trial.ties,
        "decisions": find.shrunk.decisions,
        "faults_before": len(find.scenario.faults),
        "faults_after": len(find.shrunk.scenario.faults),
        "shrinking_runs": find.shrunk.trials,
        "also_violated": others(find),
    }


def others(find: Find) -> list[str]:
    """Return what the run that was found has violated as well, the worst first."""
    return [row.property for row in find.found.violations if row.property != find.property]


def setting_document(subject: Subject) -> dict[str, object]:
    """Return what was not as it is by default, for a document: cores, and what was judged."""
    return {
        "cores": subject.names,
        "mutant": subject.mutant,
        "ignored": list(subject.judging.ignore),
        "properties": subject.judging.property_names,
    }


def checkpoints_text(completed: int, rows: Iterable[CheckpointRow]) -> str:
    """Return how many checkpoints ended in each way, and how long completed ones took."""
    durations = sorted(
        row.duration_ns for row in rows if row.status == "completed" and row.duration_ns is not None
    )
    text = f"{completed} completed"
    other: dict[str, int] = {}
    for row in rows:
        if row.status != "completed":
            other[row.status] = other.get(row.status, 0) + 1
    text += "".join(f", {count} {status}" for status, count in other.items())
    if durations:
        median, last = durations[(len(durations) - 1) // 2], durations[-1]
        text += f"; median {duration_text(median)}, longest {duration_text(last)}"
        text += f" (n = {len(durations)})"
    return text
