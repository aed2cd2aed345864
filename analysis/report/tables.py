"""The tables of a report: points, means, outliers, errors, parameters, violations."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import pandas as pd

from ckptsim.analysis.figures.replications import METRICS
from ckptsim.analysis.figures.style import in_unit, point_label, shown_value, time_unit
from ckptsim.analysis.findings import Findings

Kind = Literal["text", "number", "command"]
SHOWN_QUANTILES = (0.5, 0.95, 0.99)
ROWS_MAX = 60
FOLDED_ROWS = 12  # a longer table of tasks is opened by a click


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading and how its cells are set."""

    name: str
    kind: Kind = "number"


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row as texts; a marked row is set off."""

    cells: tuple[str, ...]
    marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A table with a title and a sentence; a folded one is opened by a click."""

    title: str
    says: str
    columns: tuple[Column, ...]
    rows: list[Row]
    folded: bool = False


def parts(findings: Findings) -> list[Part]:
    """Return the tables of one sweep, without those that would be empty."""
    every = (
        points_part(findings),
        tasks_part(findings),
        outliers_part(findings),
        errors_part(findings),
        means_part(findings),
        goals_part(findings),
        parameters_part(findings),
    )
    return [part for part in every if part.rows]


Record = Mapping[str, Any]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as mappings from column to value."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def label(findings: Findings, row: Record) -> str:
    """Return a point in words: its swept parameters, after its scenario if there are several."""
    text = point_label(row["parameters"], findings.axes)
    several = len({point["scenario"] for point in findings.points}) > 1
    if not several:
        return text
    scenario = str(row["scenario"])
    return scenario if set(findings.axes) <= {"scenario"} else f"{scenario}: {text}"


def shown_ns(value: float | None) -> str:
    """Return a time with its unit; a dash for none."""
    if value is None or math.isnan(value):
        return "-"
    return in_unit(value, time_unit([value]))


def key_of(row: Record) -> tuple[str, str]:
    """Return what tells points apart."""
    return row["scenario"], row["parameters"]


def points_part(findings: Findings) -> Part:
    """Return one row per point: how its runs ended and how long its checkpoints took."""
    outcomes = {key_of(row): row for row in records(findings.outcomes)}
    rows = []
    for key, group in groupby(records(findings.latency), key_of):
        quantiles = {row["probability"]: row for row in group}
        first, ended = quantiles[0.5], outcomes[key]
        rows.append(
            Row(
                (
                    label(findings, first),
                    f"{ended['runs']:,}",
                    f"{ended['failed'] + ended['stalled'] + ended['error']:,}",
                    f"{first['n']:,}",
                    f"{first['n'] - first['completed']:,}",
                    *(shown_ns(quantiles[p]["latency_ns"]) for p in SHOWN_QUANTILES),
                )
            )
        )
    heads = ("runs", "not completed", "checkpoints", "unfinished")
    shown = tuple(Column(f"{100 * p:g} %") for p in SHOWN_QUANTILES)
    return Part(
        title="Points",
        says="Checkpoint latency at each point: exact percentiles over all its checkpoints, "
        "the unfinished ones as censored; a dash where too few completed to know.",
        columns=(Column("point", "text"), *(Column(name) for name in heads), *shown),
        rows=rows[:ROWS_MAX],
    )


def tasks_part(findings: Findings) -> Part:
    """Return how the tasks of each point spent their time, and what waited around them."""
    rows, said = [], ""
    for row in records(findings.tasks):
        point = label(findings, row)
        ratios = (row["busy_ratio"], row["backpressured_ratio"], row["idle_ratio"])
        queues = (row["input_queue_buffers_mean"], row["output_queue_buffers_mean"])
        rows.append(
            Row(
                (
                    "" if point == said else point,
                    str(row["task"]),
                    f"{row['subtasks']:,}",
                    counted(row["records_per_s"]),
                    *(f"{100 * ratio:.1f}" for ratio in ratios),
                    *(f"{queue:.1f}" for queue in queues),
                )
            )
        )
        said = point
    heads = ("subtasks", "records/s", "busy [%]", "back-pressured [%]", "idle [%]")
    return Part(
        title="Tasks",
        says="How the subtasks of each task spent their time, and how many buffers waited before "
        "and behind each, in the mean over subtasks and runs.",
        columns=(
            Column("point", "text"),
            Column("task", "text"),
            *(Column(name) for name in (*heads, "buffers before", "buffers behind")),
        ),
        rows=rows[:ROWS_MAX],
        folded=len(rows) > FOLDED_ROWS,
    )


def outliers_part(findings: Findings) -> Part:
    """Return the slowest checkpoints with the command that replays each one's run."""
    rows = [
        Row(
            (
                label(findings, row),
                f"{row['scope']}/{row['checkpoint_id']}",
                str(row["status"]),
                shown_ns(row["elapsed_ns"]),
                str(row["replay"]),
            )
        )
        for row in sorted(records(findings.outliers), key=lambda row: -row["elapsed_ns"])
    ]
    return Part(
        title="Outliers",
        says="The slowest checkpoints, one per run; the command tells the story of the run.",
        columns=(
            Column("point", "text"),
            Column("checkpoint", "text"),
            Column("status", "text"),
            Column("took or lasted"),
            Column("replay", "command"),
        ),
        rows=rows,
    )


def errors_part(findings: Findings) -> Part:
    """Return the errors that runs ended in."""
    rows = [
        Row((label(findings, row), str(row["error"]), f"{row['runs']:,}", str(row["replay"])))
        for row in records(findings.errors)
    ]
    return Part(
        title="Errors",
        says="Runs that raised instead of ending; each is a fault of the program or its input.",
        columns=(
            Column("point", "text"),
            Column("error", "text"),
            Column("runs"),
            Column("replay the first", "command"),
        ),
        rows=rows[:ROWS_MAX],
    )


def means_part(findings: Findings) -> Part:
    """Return the means over replications with their intervals, and the paired differences."""
    differences = {(*key_of(row), row["metric"]): row for row in records(findings.differences)}
    rows = []
    said = ""
    for row in records(findings.intervals):
        paired = differences.get((*key_of(row), row["metric"]))
        point = label(findings, row)
        rows.append(
            Row(
                (
                    "" if point == said else point,
                    METRICS[row["metric"]],
                    f"{row['n']:,}",
                    with_interval(row),
                    "baseline" if paired is None else with_interval(paired),
                    "" if paired is None else f"{paired['n']:,}",
                )
            )
        )
        said = point
    return Part(
        title="Means over replications",
        says="Means with 95 % Student intervals; differences to the first point are paired by "
        "seed, so that common random numbers cancel.",
        columns=(
            Column("point", "text"),
            Column("figure of a run", "text"),
            Column("n"),
            Column("mean"),
            Column("difference to the first point"),
            Column("pairs"),
        ),
        rows=rows,
        folded=True,
    )


def with_interval(row: Record) -> str:
    """Return mean and interval in words, in the unit of the metric."""
    values = [float(row[name]) for name in ("mean", "low", "high")]
    if row["metric"].endswith("_ns"):
        unit = time_unit([abs(value) for value in values])
        mean, low, high = (f"{value / unit.size:.3g}" for value in values)
        suffix = f" {unit.name}"
    else:
        mean, low, high = (counted(value) for value in values)
        suffix = ""
    interval = "" if math.isnan(values[1]) else f" ({low} to {high})"
    return f"{mean}{suffix}{interval}"


def counted(value: float) -> str:
    """Return a count or a share in words: thousands apart, small values with four digits."""
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def goals_part(findings: Findings) -> Part:
    """Return how often each situation that is wanted was reached."""
    rows = [
        Row(
            (str(row["goal"]), f"{row['runs_reached']:,} of {row['runs']:,}", f"{row['reached']:,}")
        )
        for row in records(findings.goals)
    ]
    return Part(
        title="Situations reached",
        says="How many runs reached each rare situation: a sweep without them shows little.",
        columns=(Column("situation", "text"), Column("runs"), Column("times")),
        rows=rows,
        folded=True,
    )


def parameters_part(findings: Findings) -> Part:
    """Return every parameter of the first point; those that the sweep changes are marked."""
    document = json.loads(findings.points[0]["document"])
    swept = [name for path in findings.axes for name in (path, f"{path}_ns", f"{path}_bytes")]
    rows = [
        Row((path, shown_value(path, value)), marked=any(_same(path, name) for name in swept))
        for path, value in flat(document)
        if path != "says"
    ]
    return Part(
        title="Parameters",
        says="All parameters at the first point; what the sweep changes is marked.",
        columns=(Column("parameter", "text"), Column("value", "text")),
        rows=rows,
        folded=True,
    )


def _same(path: str, swept: str) -> bool:
    """Tell whether a path is the swept one, in which `[*]` stands for every index."""
    pieces = swept.split("[*]")
    if len(pieces) == 1:
        return path == swept
    return path.startswith(pieces[0] + "[") and path.endswith("]" + pieces[-1])


def flat(value: object, path: str = "") -> list[tuple[str, object]]:
    """Return the single values of a document by their paths, in order."""
    if isinstance(value, Mapping):
        inner = [(f"{path}.{key}" if path else str(key), item) for key, item in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inner = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    else:
        return [(path, value)]
    return [entry for inner_path, item in inner for entry in flat(item, inner_path)]


def violations_of(findings: Findings) -> list[dict[str, Any]]:
    """Return what the template shows of each property broken at each point."""
    declared = {
        (point["scenario"], point["parameters"]): json.loads(point["document"]).get("violates", [])
        for point in findings.points
    }
    found = []
    rows = records(findings.violations)
    for (point, name), group in groupby(rows, lambda row: (key_of(row), row["property"])):
        first, *more = group
        found.append(
            {
                "property": name,
                "declared": name in declared[point],
                "point": label(findings, first),
                "runs": first["runs"],
                "of": first["of"],
                "examples": [
                    {**row, "at": f"at {shown_ns(row['at_ns'])}"} for row in (first, *more)
                ],
            }
        )
    return found
