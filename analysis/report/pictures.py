"""Which figures a report shows of a sweep, with a title and a caption each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import pandas as pd

from ckptsim.analysis.figures.barriers import (
    against_back_pressure,
    alignment_heat_map,
    durations_over_time,
    in_flight_bytes,
)
from ckptsim.analysis.figures.finishing import FINISHING, numeric_axes, time_to_finish
from ckptsim.analysis.figures.latency import latency_bands, latency_cdf, latency_parts
from ckptsim.analysis.figures.lives import lives
from ckptsim.analysis.figures.replications import METRICS, means, paired_differences
from ckptsim.analysis.figures.style import short_name, svg
from ckptsim.analysis.figures.swept import number
from ckptsim.analysis.figures.theory import against_theory, trade_off
from ckptsim.analysis.figures.timeline import timeline
from ckptsim.analysis.findings import Findings
from ckptsim.scenarios import document
from ckptsim.scenarios.metrics import FIGURES
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import load_world, run_world

CHECKPOINTS_DRAWN = 40
POINTS_OF_A_LINE = 3
LONG_RUN = 8  # a run this many times longer than its slowest checkpoint is drawn around that
MEANS = (
    "ended_ns",
    "p95_latency_ns",
    "records_reprocessed",
    "recovery_ns",
    "records_produced",
    "checkpoints_failed",
    "checkpoints_completed",
)


# What making records durable takes, and what a crash does in spite of it.
OVERHEAD, UNDONE, LOST = "sync_share", "undone_per_crash", "lost_per_crash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure as SVG text, with what it shows."""

    title: str
    caption: str
    svg: str


def pictures(findings: Findings) -> list[Picture]:
    """Return the figures that this sweep has data for, in the order of the report."""
    return [
        *_theory(findings),
        *_finishing(findings),
        *_latency(findings),
        *_back_pressure(findings),
        *_replications(findings),
        *_slowest_run(findings),
    ]


def _theory(findings: Findings) -> Iterator[Picture]:
    """Draw the figures that links have computed themselves, beside what theory says of them."""
    table = findings.intervals.merge(findings.expected, on=["scenario", "parameters", "metric"])
    axis = _longest_axis(findings)
    if table.empty or axis is None:
        return
    others = [other for other in findings.axes if other != axis]
    happened = table[table["mean"] > 0]
    named = [name for name in FIGURES if name in set(happened["metric"])]
    if {OVERHEAD, UNDONE} <= set(named):
        losses = LOST in named
        says = "What a crash loses is lost for good, however short the interval. " if losses else ""
        yield Picture(
            title="What a crash costs against what prevents it",
            caption=f"One mark per point, with its {short_name(axis)}: means over replications "
            f"with 95 % Student intervals. Grey lines are what theory says. {says}Up to the knee "
            "less rework costs little more; beyond it, nothing is gained.",
            svg=svg(
                trade_off(table, axis, others, OVERHEAD, [UNDONE, LOST] if losses else [UNDONE])
            ),
        )
    for chosen in ([name] for name in named):
        yield Picture(
            title=f"{METRICS[chosen[0]].capitalize()}, simulated and on paper",
            caption="Means over replications with 95 % Student intervals; grey lines are the "
            "closed form, where there is one.",
            svg=svg(against_theory(table, axis, others, chosen)),
        )


def _longest_axis(findings: Findings) -> str | None:
    """Return the swept parameter with the most different numbers, None without one."""
    counts = {
        path: len({found for found in map(number, values) if found is not None})
        for path, values in findings.about["axes"]
    }
    longest = max(counts, key=lambda path: counts[path], default=None)
    return longest if longest is not None and counts[longest] > 1 else None


def _latency(findings: Findings) -> Iterator[Picture]:
    axes = findings.axes
    latency = findings.latency
    known = latency[latency["latency_ns"].notna()]
    if not known.empty:
        yield from (
            Picture(
                title=f"Checkpoint latency against {axis}",
                caption="Percentiles over all checkpoints of all runs at a point, measured from "
                "trigger to completion. A band ends where so many checkpoints did not complete "
                "that the percentile is unknown.",
                svg=svg(latency_bands(along(latency, axis), axis, [a for a in axes if a != axis])),
            )
            for axis in axes
            if axis != "scenario"
        )
    if not findings.distribution.empty:
        yield Picture(
            title="Distribution of checkpoint latency",
            caption="The share of checkpoints that took no longer. A curve that ends below 1 is "
            "missing the checkpoints that did not complete: they lasted longer than shown.",
            svg=svg(latency_cdf(findings.distribution, axes)),
        )
    if not findings.waits.empty:
        yield Picture(
            title="Where the time of a checkpoint went",
            caption="What completed checkpoints waited for, in turn: that all their records had "
            "arrived, that these were uploaded, that all earlier checkpoints were released, and "
            "that the state was sent.",
            svg=svg(latency_parts(findings.waits, axes)),
        )


def _finishing(findings: Findings) -> Iterator[Picture]:
    """Draw how long jobs take to finish against each swept number, where it differs."""
    intervals = findings.intervals[findings.intervals["metric"].isin(FINISHING)]
    if not any(_varies(intervals, metric) for metric in FINISHING):
        return
    axes = [axis for axis in findings.axes if axis != "scenario"]
    for axis in numeric_axes(intervals, axes):
        others = [other for other in axes if other != axis]
        yield Picture(
            title=f"Time to finish against {axis}",
            caption="From the end of the last source's input until the last task has closed, and "
            "the checkpoints triggered meanwhile: means over replications, with their 95 % Student "
            "intervals where there are several.",
            svg=svg(time_to_finish(intervals, axis, others)),
        )


def _back_pressure(findings: Findings) -> Iterator[Picture]:
    """Draw checkpoints against back-pressure where a sweep has that vary between its points."""
    if findings.tasks.empty or findings.latency.empty:
        return
    table = back_pressure(findings)
    if table["backpressured_ratio"].round(2).nunique() >= POINTS_OF_A_LINE:
        yield Picture(
            title="Checkpoints against back-pressure",
            caption="Each point of the sweep by the share of time that its most back-pressured "
            "task stood for want of output buffers, with median and quartiles of its completed "
            "checkpoints: how long they took, and how long barriers were under way to the task "
            "that they reached last.",
            svg=svg(against_back_pressure(table)),
        )


def back_pressure(findings: Findings) -> pd.DataFrame:
    """Return times of checkpoints with the back-pressure of their point, as the figure has them.

    The mode is the swept parameter that ends in `checkpointing.mode`, if there is one.
    """
    point = ["scenario", "parameters"]
    quartiles = {0.25: "low_ns", 0.5: "median_ns", 0.75: "high_ns"}
    chosen = findings.latency[findings.latency["probability"].isin(quartiles)]
    wide = chosen.pivot_table(
        index=[*point, "completed"], columns="probability", values="completed_ns"
    )
    durations = wide.rename(columns=quartiles).reset_index().rename(columns={"completed": "n"})
    ratios = findings.tasks.groupby(point, sort=False)["backpressured_ratio"].max().reset_index()
    both = {
        "duration": durations,
        "until the first barrier": findings.first_barriers,
    }
    tables = [
        ratios.merge(times, on=point).assign(quantity=name)
        for name, times in both.items()
        if not times.empty
    ]
    if not tables:
        return pd.DataFrame({"backpressured_ratio": []})
    axis = next((path for path in findings.axes if path.endswith("checkpointing.mode")), None)
    table = pd.concat(tables, ignore_index=True)
    values = [json.loads(text).get(axis) for text in table["parameters"]]
    return table.assign(mode=["all points" if value is None else str(value) for value in values])


def _replications(findings: Findings) -> Iterator[Picture]:
    intervals, differences = findings.intervals, findings.differences
    if len(findings.axes) == 1 and findings.axes[0] != "scenario":
        varying = [metric for metric in MEANS if _varies(intervals, metric)]
        if varying:
            yield Picture(
                title=f"Runs against {findings.axes[0]}",
                caption="Means over replications (seeds) with their 95 % Student intervals.",
                svg=svg(means(intervals, findings.axes[0], varying[:4])),
            )
    if not differences.empty:
        metric = "median_latency_ns"
        if metric not in set(differences["metric"]):
            metric = "ended_ns"
        yield Picture(
            title="Difference to the first point",
            caption="Paired by seed, so that noise common to both points cancels, with 95 % "
            "Student intervals. Filled marks differ from zero.",
            svg=svg(paired_differences(differences, findings.axes, metric)),
        )


def _slowest_run(findings: Findings) -> Iterator[Picture]:
    """Run the run with the slowest checkpoint again, keeping its trace, and draw it."""
    slowest = findings.outliers.sort_values("elapsed_ns", ascending=False, kind="stable")
    if slowest.empty:
        return
    row = slowest.iloc[0]
    (point,) = [
        point
        for point in findings.points
        if (point["scenario"], point["parameters"]) == (row["scenario"], row["parameters"])
    ]
    scenario = document.read(json.loads(point["document"]), source=point["source"])
    result = run_world(scenario, seed=int(row["seed"]), ties=str(row["ties"]), keep_trace=True)
    yield _timeline(result, row, scenario.world, f"The story in words: {row['replay']}")
    if any(entry[1] == "task_state" for entry in result.trace):
        yield Picture(
            title="How the tasks ended",
            caption="The state of every task, its snapshots, acknowledgements and transactions, "
            "and below every checkpoint from its trigger to its end. " + row["replay"],
            svg=svg(lives(result.trace)),
        )
    yield from _barriers(result, f"The run with the slowest checkpoint: {row['replay']}")


def _timeline(result: RunResult, row: pd.Series, world: str, story: str) -> Picture:
    begin, length = int(row["triggered_ns"]), int(row["elapsed_ns"])
    short = result.run.ended_ns <= LONG_RUN * length
    whole = short and len(result.checkpoints) <= CHECKPOINTS_DRAWN
    before = length // 4 if short else 2 * length
    window = (max(0, begin - before), begin + length + length // 5)
    drawn = timeline(
        result.trace,
        load_world(world).VOCABULARY,
        result.checkpoints,
        window_ns=None if whole else window,
    )
    return Picture(
        title="The run with the slowest checkpoint" + ("" if whole else ", around it"),
        caption="Ticks are what each part did; bars are what lasted. A checkpoint is drawn from "
        f"its trigger to its end, in the colours of what it waited for. {story}",
        svg=svg(drawn),
    )


def _barriers(result: RunResult, which: str) -> Iterator[Picture]:
    """Draw the parts of a run's barrier checkpoints, if it has any."""
    rows = [row for row in result.checkpoints if row.inner] or result.checkpoints
    checkpoints = pd.DataFrame(map(asdict, rows))
    timed = not checkpoints.empty and checkpoints["alignment_ns"].notna().any()
    if timed and (checkpoints["status"] == "completed").any():
        yield Picture(
            title="Checkpoint duration and its parts",
            caption="Each part is that of the subtask for which it took longest, so together they "
            f"can exceed the duration. {which}",
            svg=svg(durations_over_time(checkpoints)),
        )
    if timed and checkpoints["persisted_bytes"].notna().any():
        yield Picture(
            title="In-flight data of the checkpoints",
            caption=f"What alignments processed, and what was persisted. {which}",
            svg=svg(in_flight_bytes(checkpoints)),
        )
    if result.task_checkpoints:
        yield Picture(
            title="Alignment of each subtask",
            caption=f"White where a subtask took no part. {which}",
            svg=svg(alignment_heat_map(pd.DataFrame(map(asdict, result.task_checkpoints)))),
        )


def _varies(intervals: pd.DataFrame, metric: str) -> bool:
    """Tell whether a figure of runs is known and not the same at all points."""
    return intervals.loc[intervals["metric"] == metric, "mean"].nunique() > 1


def along(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return the rows of points that have a value on an axis."""
    return table[table["parameters"].str.contains(f'"{axis}":', regex=False)]
