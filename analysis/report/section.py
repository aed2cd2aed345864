"""What the page shows of one sweep: the answer first, all else in folded parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ckptsim.analysis.answers import (
    CAUSED,
    Layout,
    answer,
    answering,
    compare,
    layout_of,
    series_of,
)
from ckptsim.analysis.figures.headline import headline, paired_differences, places_of
from ckptsim.analysis.figures.vector import inline
from ckptsim.analysis.report import tables
from ckptsim.analysis.report.pictures import (
    Picture,
    duration_pictures,
    metric_pictures,
    task_pictures,
)
from ckptsim.analysis.report.slowest import recovery_pictures, slowest_run
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.viewer import job_graph
from ckptsim.scenarios.files import document
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.planning import METRICS


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One number about a sweep. `bad` ones are marked."""

    value: str
    says: str
    bad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A part that is opened by a click: pictures, then tables, then broken properties."""

    name: str
    title: str
    pictures: Sequence[Picture] = ()
    tables: Sequence[tables.TitledTable] = ()
    violations: Sequence[dict[str, Any]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.pictures or self.violations or any(part.rows for part in self.tables))


def section(
    findings: Summaries, layout: Layout | None = None, cliffs: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what the template shows of one sweep.

    layout: how its answer is laid out. cliffs: the ones of the sweep in words, with their causes.
    """
    about = findings.about
    anchor = f"sweep-{about['plan']}"
    layout = layout or layout_of(findings.axes)
    found = answer(findings, layout)
    parts = [part for part in folded(findings) if not part.is_empty]
    return {
        "name": about["plan"],
        "anchor": anchor,
        "question": about.get("question") or f"{about['plan']}: {about['says']}",
        "sentences": (*found.sentences, *cliffs),
        "note": found.note,
        "figure": found.headline[0],
        "figure_of": found.headline[1],
        "graph": graph_of(findings),
        # The headline says it of the first metric.
        "brief": [*found.brief[1:2], *_with_cause(cliffs)] or [*found.brief, found.note][:1],
        "warnings": warnings(findings),
        "headline": shown(headlines(findings, layout), f"{anchor}-answer"),
        "says": about["says"],
        "scenario": about["scenario"],
        "program": about["program"],
        "cards": cards(findings),
        "folded": [
            {
                "id": f"{anchor}-{part.name}",
                "title": part.title,
                "figures": shown(part.pictures, f"{anchor}-{part.name}"),
                "tables": [table for table in part.tables if table.rows],
                "violations": part.violations,
            }
            for part in parts
        ],
    }


def _with_cause(cliffs: Sequence[str]) -> Sequence[str]:
    """Return the highest cliff, if possible one with a cause. Nothing without cliffs."""
    return sorted(cliffs, key=lambda text: CAUSED not in text)[:1]


def compared(one: Summaries, other: Summaries, where: str) -> dict[str, Any]:
    """Return what the template shows of one sweep against another. where: that one's directory."""
    about = one.about
    anchor = f"against-{about['plan']}"
    found = [compare(one, other, metric) for metric in answering(one)]
    drawn = [
        Picture(
            title="",
            caption=f"Each point minus the same point of {where}, paired by seed, with 95 % "
            "Student intervals. Filled marks differ from zero by more than noise.",
            figure=paired_differences(
                one_metric.table,
                list(one.axes),
                one_metric.metric,
                baseline=f"the same point of {where}",
            ),
            data=one_metric.table,
        )
        for one_metric in found
        if len(one_metric.table)
    ]
    missing = [
        f"{count:,} points are {place} only."
        for count, place in (
            (found[0].only_here if found else 0, "here"),
            (found[0].only_there if found else 0, f"in {where}"),
        )
        if count
    ]
    return {
        "name": f"{about['plan']} against {where}",
        "anchor": anchor,
        "question": f"Does {about['plan']} differ from {where}?",
        "sentences": [one_metric.sentence for one_metric in found],
        "note": "Points are compared in pairs by seed. " + " ".join(missing),
        "figure": "",
        "figure_of": "",
        "graph": None,
        "brief": [one_metric.sentence for one_metric in found[:1]],
        "warnings": [],
        "headline": shown(drawn, f"{anchor}-answer"),
        "says": f"program {about['program']} against program {other.about['program']}",
        "scenario": about["scenario"],
        "program": other.about["program"],
        "cards": [],
        "folded": [],
    }


def graph_of(findings: Summaries) -> dict[str, Any] | None:
    """Return the graph of the job that is swept, at its first point. None of other worlds."""
    point = findings.points[0]
    model = document.read(json.loads(point["document"]), source=point["source"]).model
    return job_graph(model) if isinstance(model, Job) else None


def headlines(findings: Summaries, layout: Layout) -> Iterator[Picture]:
    """Draw the metrics that answer the sweep's question."""
    for metric in answering(findings):
        series = series_of(findings, metric, layout)
        if layout.along is None or all(len(one.places) == 1 for one in series):
            continue
        names = {number: one.label for number, one in enumerate(series)}
        data = places_of(series, layout).rename(columns={"shown": layout.along})
        data = data.assign(series=data["series"].map(names), metric=metric)
        says = METRICS[metric].says
        lines = ", a line each of " + " and ".join(layout.others) if layout.others else ""
        repeated = any(place.mean.n > 1 for one in series for place in one.places)
        bars = "bars are 95 % intervals" if repeated else "of one seed"
        yield Picture(
            title="",
            caption=f"{says[:1].upper()}{says[1:]} along {layout.along}{lines}; {bars}. "
            "Point at a mark to read it.",
            figure=headline(series, metric, layout),
            data=data[["series", layout.along, "metric", "n", "mean", "low", "high"]],
        )


def shown(pictures: Sequence[Picture] | Iterator[Picture], prefix: str) -> list[dict[str, str]]:
    """Return what the template shows of pictures. The prefix distinguish their names."""
    found = []
    for number, picture in enumerate(pictures, start=1):
        name = f"{prefix}-figure-{number}"
        title = f"{picture.title}. {picture.caption}".removeprefix(". ")
        found.append(
            {
                "id": name,
                "title": picture.title,
                "caption": picture.caption,
                "svg": inline(picture.figure, name, title),
                "csv": as_csv(picture.data),
            }
        )
    return found


def as_csv(data: pd.DataFrame) -> str:
    """Return the data of a figure as text that may stand in a page."""
    text = data.to_csv(index=False, lineterminator="\n")
    return text.replace("</", "< /").replace("<!--", "< !--")


def folded(findings: Summaries) -> list[Folded]:
    """Return the folded parts in the order of the page."""
    return [
        Folded(
            name="durations",
            title="Checkpoint durations",
            pictures=list(duration_pictures(findings)),
            tables=[tables.points_part(findings)],
        ),
        Folded(
            name="metrics",
            title="Metrics, theory and differences between points",
            pictures=list(metric_pictures(findings)),
            tables=[tables.means_part(findings)],
        ),
        Folded(
            name="tasks",
            title="Tasks and back-pressure",
            pictures=list(task_pictures(findings)),
            tables=[tables.tasks_part(findings)],
        ),
        Folded(name="recoveries", title="Recoveries", pictures=list(recovery_pictures(findings))),
        Folded(
            name="slowest",
            title="The run with the slowest checkpoint",
            pictures=list(slowest_run(findings)),
            tables=[tables.outliers_part(findings)],
        ),
        Folded(
            name="properties",
            title="Properties, errors and situations",
            tables=[tables.errors_part(findings), tables.goals_part(findings)],
            violations=tables.violations_of(findings),
        ),
        Folded(name="parameters", title="Parameters", tables=[tables.parameters_part(findings)]),
    ]


def cards(findings: Summaries) -> list[Card]:
    """Return the numbers about a sweep. The ones of what went wrong only where something did."""
    outcomes = findings.outcomes
    runs, wanted = int(outcomes["runs"].sum()), int(findings.about["runs"])
    once = findings.latency.drop_duplicates(["scenario", "parameters"])
    unfinished = int((once["n"] - once["completed"]).sum())
    violations = [found for found in tables.violations_of(findings) if not found["declared"]]
    bad = {
        "runs gave up": int(outcomes["failed"].sum()),
        "runs stalled": int(outcomes["stalled"].sum()),
        "runs in error": int(outcomes["error"].sum()),
        "violations": sum(int(found["runs"]) for found in violations),
    }
    return [
        Card(value=f"{runs:,}", says="runs" if runs == wanted else f"runs of {wanted:,}"),
        Card(value=f"{len(findings.points):,}", says="points"),
        Card(value=f"{int(once['n'].sum()):,}", says="checkpoints"),
        Card(value=f"{unfinished:,}", says="of them not completed"),
        *(Card(value=f"{n:,}", says=says, bad=True) for says, n in bad.items() if n),
    ]


def warnings(findings: Summaries) -> list[str]:
    """Return what makes an answer doubtful: runs missing, in error, or with a broken property."""
    outcomes = findings.outcomes
    runs, wanted = int(outcomes["runs"].sum()), int(findings.about["runs"])
    found = []
    if runs < wanted:
        found.append(
            f"{wanted - runs:,} of {wanted:,} runs are missing: the sweep was interrupted."
        )
    errors = int(outcomes["error"].sum())
    if errors:
        found.append(f"{errors:,} of {runs:,} runs ended in an error and are in no figure.")
    broken = {v["property"] for v in tables.violations_of(findings) if not v["declared"]}
    if broken:
        found.append(f"Properties that did not hold: {', '.join(sorted(broken))}.")
    return found
