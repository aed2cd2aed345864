"""Tables with rows per point: how runs ended, how tasks spent their time, means and differences."""

from __future__ import annotations

from itertools import groupby

from ckptsim.analysis.findings import Findings
from ckptsim.analysis.report.tables.cells import (
    Cell,
    Column,
    Part,
    Record,
    Row,
    count,
    key_of,
    label,
    records,
    time,
    word,
)
from ckptsim.analysis.words import with_interval
from ckptsim.scenarios.planning import METRICS

SHOWN_QUANTILES = (0.5, 0.95, 0.99)
ROWS_MAX = 500


def points_part(findings: Findings) -> Part:
    """Return one row per point: how its runs ended and how long its checkpoints took."""
    outcomes = {key_of(row): row for row in records(findings.outcomes)}
    rows = []
    for key, group in groupby(records(findings.latency), key_of):
        quantiles = {row["probability"]: row for row in group}
        first, ended = quantiles[0.5], outcomes[key]
        broken = ended["failed"] + ended["stalled"] + ended["error"]
        numbers = (ended["runs"], broken, first["n"], first["n"] - first["completed"])
        times = (time(quantiles[p]["latency_ns"]) for p in SHOWN_QUANTILES)
        rows.append(Row((word(label(findings, first)), *map(count, numbers), *times)))
    heads = ("runs", "runs not completed", "checkpoints", "unfinished checkpoints")
    shown = ("median", *(f"{100 * p:g} % take at most" for p in SHOWN_QUANTILES[1:]))
    known = findings.latency["latency_ns"].dropna()
    instant = (
        " No checkpoint that completed took any time: messages and files cost none here."
        if len(known) and not known.any()
        else ""
    )
    return Part(
        title="Checkpoint durations by point",
        says="Exact percentiles over all checkpoints of a point, from trigger to completion, the "
        f"unfinished ones as censored; a dash where too few completed to know.{instant}",
        columns=(Column("point", "text"), *(Column(name) for name in (*heads, *shown))),
        rows=rows[:ROWS_MAX],
    )


def tasks_part(findings: Findings) -> Part:
    """Return how the tasks of each point spent their time, and what waited around them."""
    rows = []
    for row in records(findings.tasks):
        ratios = (row["busy_ratio"], row["backpressured_ratio"], row["idle_ratio"])
        queues = (row["input_queue_buffers_mean"], row["output_queue_buffers_mean"])
        rows.append(
            Row(
                (
                    word(label(findings, row)),
                    word(row["task"]),
                    count(row["subtasks"]),
                    count(row["records_per_s"]),
                    *(count(100 * ratio, f"{100 * ratio:.1f} %") for ratio in ratios),
                    *(count(queue, f"{queue:.1f}") for queue in queues),
                )
            )
        )
    heads = ("subtasks", "records/s of one", "busy", "back-pressured", "idle")
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
    )


def means_part(findings: Findings) -> Part:
    """Return the means over replications with their intervals, and the paired differences.

    A metric that is the same at all points is left out: it says nothing of the sweep.
    """
    differences = {(*key_of(row), row["metric"]): row for row in records(findings.differences)}
    means = findings.intervals.groupby("metric")["mean"]
    varying = set(means.nunique().loc[lambda found: found > 1].index)
    rows = []
    for row in records(findings.intervals):
        if row["metric"] not in varying:
            continue
        paired = differences.get((*key_of(row), row["metric"]))
        rows.append(
            Row(
                (
                    word(label(findings, row)),
                    word(METRICS[row["metric"]].says),
                    count(row["n"]),
                    _interval(row),
                    Cell("baseline", 0.0) if paired is None else _interval(paired),
                    Cell("") if paired is None else count(paired["n"]),
                )
            )
        )
    first = label(findings, findings.points[0])
    return Part(
        title="Means over replications",
        says="Means with 95 % Student intervals; differences to the first point of the sweep, "
        f"{first}, are paired by seed, so that common random numbers cancel.",
        columns=(
            Column("point", "text"),
            Column("metric", "text"),
            Column("seeds"),
            Column("mean"),
            Column("difference to the first point"),
            Column("pairs"),
        ),
        rows=rows[:ROWS_MAX],
    )


def _interval(row: Record) -> Cell:
    mean, low, high = (float(row[name]) for name in ("mean", "low", "high"))
    return Cell(with_interval(row["metric"], mean, low, high), mean)
