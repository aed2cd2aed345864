"""One self-contained HTML page from the tables of one or several sweeps."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim.analysis.findings import Findings, find, wants_spark
from ckptsim.analysis.report.pictures import Picture, pictures
from ckptsim.analysis.report.tables import parts, violations_of
from ckptsim.analysis.store import ABOUT, SweepStore
from ckptsim.scenarios.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One number at the head of a sweep; `bad` ones are marked."""

    value: str
    says: str
    bad: bool = False


def sweeps_in(directory: Path) -> list[SweepStore]:
    """Return the sweep in a directory, or those in its sub-directories by name.

    Raises UserError when there is none.
    """
    if (directory / ABOUT).is_file():
        return [SweepStore(directory)]
    found = sorted(path.parent for path in directory.glob(f"*/{ABOUT}"))
    if not found:
        raise UserError(f"{directory}: found no {ABOUT}, expected the directory of a sweep")
    return [SweepStore(path) for path in found]


def write_report(
    directory: Path,
    session: SparkSession | None = None,
    *,
    begins: Callable[[str], None] | None = None,
) -> Path:
    """Write the report of the sweeps in a directory there, and return its path.

    session: takes the sweeps that are too large to be summarised here soon.
    begins: is told the name of each sweep before it is aggregated.
    Raises UserError when the directory holds no sweep, or one without a run.
    """
    sections = []
    for store in sweeps_in(directory):
        if begins is not None:
            begins(str(store.about()["plan"]))
        findings = find(store, session if wants_spark(store) else None)
        sections.append(section(findings, pictures(findings)))
    names = ", ".join(one["name"] for one in sections)
    title = f"Sweep {names}" if len(sections) == 1 else "Sweeps of checkpoint protocols"
    path = directory / PAGE
    beside = path.with_suffix(".new")
    beside.write_text(page(title, sections), encoding="utf-8")
    beside.replace(path)
    return path


def page(title: str, sections: Sequence[dict[str, Any]]) -> str:
    """Return the page as HTML text."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    text = files("ckptsim.analysis").joinpath("templates/report.html").read_text(encoding="utf-8")
    template = environment.from_string(text)
    return template.render(title=title, sweeps=sections)


def section(findings: Findings, drawn: Sequence[Picture]) -> dict[str, Any]:
    """Return what the template shows of one sweep."""
    about = findings.about
    return {
        "name": about["plan"],
        "anchor": f"sweep-{about['plan']}",
        "says": about["says"],
        "scenario": about["scenario"],
        "axes": findings.axes,
        "program": about["program"],
        "cards": cards(findings),
        "figures": [
            {"title": one.title, "caption": one.caption, "source": _source(one.svg)}
            for one in drawn
        ],
        "tables": parts(findings),
        "violations": violations_of(findings),
    }


def _source(svg: str) -> str:
    return "data:image/svg+xml;base64," + b64encode(svg.encode()).decode()


def cards(findings: Findings) -> list[Card]:
    """Return the numbers at the head of a sweep."""
    outcomes = findings.outcomes
    runs, wanted = int(outcomes["runs"].sum()), int(findings.about["runs"])
    once = findings.latency.drop_duplicates(["scenario", "parameters"])
    unfinished = int((once["n"] - once["completed"]).sum())
    declared = {(v["property"], v["point"]) for v in violations_of(findings) if v["declared"]}
    broken = sum(
        int(v["runs"])
        for v in violations_of(findings)
        if (v["property"], v["point"]) not in declared
    )
    errors = int(outcomes["error"].sum())
    stalled = int(outcomes["stalled"].sum())
    return [
        Card(value=f"{runs:,}", says="runs" if runs == wanted else f"runs of {wanted:,}"),
        Card(value=f"{len(findings.points):,}", says="points"),
        Card(value=f"{int(once['n'].sum()):,}", says="checkpoints"),
        Card(value=f"{unfinished:,}", says="not completed"),
        Card(value=f"{int(outcomes['failed'].sum()):,}", says="runs gave up"),
        Card(value=f"{stalled:,}", says="runs stalled", bad=stalled > 0),
        Card(value=f"{errors:,}", says="runs in error", bad=errors > 0),
        Card(value=f"{broken:,}", says="violations", bad=broken > 0),
    ]
