"""Tables with rows per point: how runs ended, how tasks spent their time, means and differences."""

from __future__ import annotations

from itertools import groupby

from ckptsim.analysis.answers import answering
from ckptsim.analysis.report.tables import cells
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import with_interval
from ckptsim.scenarios.planning import METRICS

SHOWN_QUANTILES = (0.5, 0.95, 0.99)
ROWS_MAX = 500


def points_part(findings: Summaries) -> cells.TitledTable:
    """Return one row per point: how its runs ended and how long its checkpoints took."""
    outcomes = {cells.key_of(row): row for row in cells.records(findings.outcomes)}
    rows = []
    for key, group in groupby(cells.records(findings.latency), cells.key_of):
        quantiles = {row["probability"]: row for row in group}
        first, ended = quantiles[0.5], outcomes[key]
        broken = ended["failed"] + ended["stalled"] + ended["error"]
        numbers = (ended["runs"], broken, first["n"], first["n"] - first["completed"])
        times = (cells.time(quantiles[p]["latency_ns"]) for p in SHOWN_QUANTILES)
        rows.append((cells.word(cells.label(findings, first)), *map(cells.count, numbers), *times))
    shown = "|".join(f"{100 * p:g} % take at most" for p in SHOWN_QUANTILES[1:])
    known = findings.latency["latency_ns"].dropna()
    instant = (
        " No checkpoint that completed took any time: messages and files cost none here."
        if len(known) and not known.any()
        else ""
    )
    return cells.titled(
        "Checkpoint durations by point",
        "Exact percentiles over all checkpoints of a point, from trigger to completion, the "
        f"unfinished ones as censored; a dash where too few completed to know.{instant}",
        f"point:text|runs|runs not completed|checkpoints|unfinished checkpoints|median|{shown}",
        rows[:ROWS_MAX],
    )


def tasks_part(findings: Summaries) -> cells.TitledTable:
    """Return how the tasks of each point spent their time, and what waited around them."""
    rows = []
    for row in cells.records(findings.tasks):
        ratios = (row["busy_ratio"], row["backpressured_ratio"], row["idle_ratio"])
        queues = (row["input_queue_buffers_mean"], row["output_queue_buffers_mean"])
        rows.append(
            (
                cells.word(cells.label(findings, row)),
                cells.word(row["task"]),
                cells.count(row["subtasks"]),
                cells.count(row["records_per_s"]),
                *(cells.count(100 * ratio, f"{100 * ratio:.1f} %") for ratio in ratios),
                *(cells.count(queue, f"{queue:.1f}") for queue in queues),
            )
        )
    return cells.titled(
        "Tasks",
        "How the subtasks of each task spent their time, and how many buffers waited before "
        "and behind each, in the mean over subtasks and runs.",
        "point:text|task:text|subtasks|records/s of one|busy|back-pressured|idle"
        "|buffers before|buffers after",
        rows[:ROWS_MAX],
    )


def means_part(findings: Summaries) -> cells.TitledTable:
    """Return the means over replications with their intervals, and the paired differences.

    A metric that is the same at all points is left out, unless it answers the question.
    """
    differences = {
        (*cells.key_of(row), row["metric"]): row for row in cells.records(findings.differences)
    }
    means = findings.intervals.groupby("metric")["mean"]
    shown = {*means.nunique().loc[lambda found: found > 1].index, *answering(findings)}
    rows = []
    for row in cells.records(findings.intervals):
        if row["metric"] not in shown:
            continue
        paired = differences.get((*cells.key_of(row), row["metric"]))
        rows.append(
            (
                cells.word(cells.label(findings, row)),
                cells.word(METRICS[row["metric"]].says),
                cells.count(row["n"]),
                _interval(row),
                cells.Cell("baseline", 0.0) if paired is None else _interval(paired),
                cells.Cell("") if paired is None else cells.count(paired["n"]),
            )
        )
    first = cells.label(findings, findings.points[0])
    return cells.titled(
        "Means over replications",
        "Means with 95 % Student intervals; differences to the first point of the sweep, "
        f"{first}, are paired by seed, so that common random numbers cancel.",
        "point:text|metric:text|seeds|mean|difference to the first point|pairs",
        rows[:ROWS_MAX],
    )


def _interval(row: cells.Record) -> cells.Cell:
    mean, low, high = (float(row[name]) for name in ("mean", "low", "high"))
    return cells.Cell(with_interval(row["metric"], mean, low, high), mean)
