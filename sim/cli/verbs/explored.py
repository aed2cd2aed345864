"""What an exploration has shown, as a document and as text, of one link and of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ckptsim._api.columns import setting_of, table, violation_texts
from ckptsim._api.runs.ran import setting_document
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search.explore import Explored, Explorer, ExploreReport
from ckptsim.sim.why.find import why_violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A violation, shrunk and written: its row, its run before, and the scenario in its folder."""

    row: ViolationRow
    before: Explored
    seed: int
    ties: str
    shrinking_runs: int
    file: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfLink:
    """What came of one link, or of what lies around one scenario.

    continued_at: the run at which an interrupted exploration went on. 0 where none did.
    """

    explorer: Explorer
    report: ExploreReport
    found: Sequence[Found]
    continued_at: int = 0


def document_of(one: OfLink) -> dict[str, Any]:
    """Return what `--json` prints of one link."""
    explorer, report = one.explorer, one.report
    subject, *_ = explorer.subject(())
    return {
        "link": explorer.link,
        "scenario": None if explorer.scenario is None else explorer.scenario.name,
        **setting_document(subject),
        "runs": report.runs,
        "continued_at": one.continued_at,
        "seconds": round(report.seconds, 3),
        "events": report.events,
        "passed": not report.violating,
        "outcomes": report.outcomes,
        "violations": [
            asdict(each.row)
            | {
                "run": each.before.number,
                "because": why_violation(each.row, "").because,
                "seed": each.seed,
                "ties": each.ties,
                "shrinking_runs": each.shrinking_runs,
                "file": None if each.file is None else str(each.file),
            }
            for each in one.found
        ],
        "hazards": report.hazards,
        "listed": report.listed,
        "goals": report.goals,
        "coverage": {
            "reached": len(report.covered),
            "last_new": report.last_new,
            "last_new_run": report.covered.get(report.last_new),
        },
        "digest": report.digest,
    }


def document_of_all(documents: Sequence[dict[str, Any]], links: Sequence[OfLink]) -> dict[str, Any]:
    """Return what `--json` prints of all links. In `coverage` is what any of them reached."""
    names = ("outcomes", "hazards", "listed", "goals")
    sums = {name: dict(_sum(one[name] for one in documents)) for name in names}
    return {
        "runs": sum(one["runs"] for one in documents),
        "seconds": round(sum(one["seconds"] for one in documents), 3),
        "events": sum(one["events"] for one in documents),
        "passed": all(one["passed"] for one in documents),
        "violations": [each for one in documents for each in one["violations"]],
        **sums,
        "coverage": {"reached": len({name for one in links for name in one.report.covered})},
        "links": documents,
    }


def _sum(counts: Iterable[dict[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in counts:
        found.update(each)
    return found


def text_of(one: OfLink, document: dict[str, Any]) -> str:
    """Return the text of one link."""
    report, coverage = one.report, document["coverage"]
    reached = [name for name, runs in report.goals.items() if runs]
    missed = [name for name, runs in report.goals.items() if not runs]
    rate = report.runs / report.seconds if report.seconds else 0.0
    new = f"{coverage['last_new']} in run {coverage['last_new_run']}" if report.covered else "none"
    began = f", continued at {one.continued_at}" if one.continued_at else ""
    pairs: list[tuple[str, object]] = [
        ("explored", one.explorer.name),
        *setting_of(one.explorer.subject(())[0]),
        ("runs", f"{report.runs} in {report.seconds:.1f} s, {rate:.0f} per second{began}"),
        ("outcomes", ", ".join(f"{count} {name}" for name, count in report.outcomes.items())),
        ("reached", f"{coverage['reached']} situations"),
        ("last new", new),
        ("goals", f"{len(reached)} of {len(report.goals)} reached"),
        ("not reached", ", ".join(missed) or "none"),
        ("violations", f"{len(report.violating)} run(s)" if report.violating else "none"),
        ("digest", report.digest),
    ]
    if report.hazards:
        known = ", ".join(f"{name} in {runs}" for name, runs in report.hazards.items())
        pairs.insert(-2, ("hazards", f"known ones of released systems: {known}"))
    if report.listed:
        text = ", ".join(f"{name} in {runs}" for name, runs in report.listed.items())
        pairs.insert(-2, ("listed", f"broken by scenarios of the library that say so: {text}"))
    pairs += [
        ("written", f"{each.file.parent}, shrunk in {each.shrinking_runs} runs")
        for each in one.found
        if each.file is not None
    ]
    pairs += [("cause", why_violation(each.row, "").because) for each in one.found]
    return "\n\n".join([*violation_texts(each.row for each in one.found), table(pairs)])


def text_of_all(document: dict[str, Any]) -> str:
    """Return the text after the links: how much all of them reached together."""
    return table(
        [
            ("explored", "all"),
            ("runs", f"{document['runs']} in {document['seconds']:.1f} s"),
            ("reached", f"{document['coverage']['reached']} situations"),
        ]
    )
