"""Which figures a report shows of a sweep's points, with a title and a caption each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from ckptsim.analysis.answers import answering, layout_of, series_of
from ckptsim.analysis.figures.barriers import against_back_pressure
from ckptsim.analysis.figures.headline import headline, paired_differences, places_of
from ckptsim.analysis.figures.latency import latency_bands, latency_cdf, latency_parts
from ckptsim.analysis.figures.theory import against_theory, trade_off
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import point_label
from ckptsim.scenarios.planning import FIGURES, METRICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS_OF_A_LINE = 3
METRICS_MAX = 6  # beside those that answer the question
PERSISTED = "persisted_bytes"
MODE = ("checkpoint mode", "checkpointing mode")  # what the axis is called, with words or without
# What making records durable takes, and what a crash does in spite of it.
OVERHEAD, UNDONE, LOST = "sync_share", "undone_per_crash", "lost_per_crash"
# Beside those that answer, in this order. What a link computes is drawn with its theory.
FURTHER = (
    *(PERSISTED, "start_delay_ns", "records_reprocessed", "recovery_ns", "checkpoints_failed"),
    *("p95_latency_ns", "ended_ns", "finishing_ns", "finishing_checkpoints", "completed_share"),
)


def duration_pictures(findings: Summaries) -> Iterator[Picture]:
    """Draw how long checkpoints took: percentiles, distributions, and what they waited for."""
    axes = findings.axes
    known = findings.latency[findings.latency["latency_ns"].notna()]
    if not known.empty and not known["latency_ns"].any():
        return  # all zero: the table says so
    for axis, values in axes.items() if not known.empty else ():
        if len(set(values)) > 1:
            others = [other for other in axes if other != axis]
            yield Picture(
                title=f"Checkpoint durations against {axis}",
                caption="Percentiles over all checkpoints of all runs at a point, from trigger to "
                "completion. The line (or dot) is the median, bands hold the middle 50 % and 90 %. "
                "A band ends where so many checkpoints did not complete that the percentile is "
                "unknown.",
                figure=latency_bands(along(findings.latency, axis), axis, others),
                data=findings.latency,
            )
    if not findings.distribution.empty:
        unfinished = findings.distribution["unfinished"].max() > 0
        censored = (
            " A dotted arrow continues where a curve ends below 1: the rest did not complete and "
            "lasted longer than shown."
        )
        yield Picture(
            title="Distribution of checkpoint durations",
            caption="For each duration, the share of checkpoints that took no longer: the further "
            f"left a curve, the faster.{censored if unfinished else ''}",
            figure=latency_cdf(findings.distribution, list(axes)),
            data=findings.latency,
        )
    if not findings.waits.empty:
        yield Picture(
            title="Where the time of a checkpoint went",
            caption="What completed checkpoints waited for in the mean, in turn: that all their "
            "records had arrived, that these were uploaded, that all earlier checkpoints were "
            "released, and that the state was sent. A part that is zero everywhere is left out.",
            figure=latency_parts(findings.waits, list(axes)),
            data=findings.waits,
        )


def metric_pictures(findings: Summaries) -> Iterator[Picture]:
    """Draw what links compute beside theory, further metrics, and differences to the baseline."""
    yield from _theory(findings)
    layout = layout_of(findings.axes)
    answers_of = answering(findings)
    varying = [name for name in FURTHER if name not in answers_of and _varies(findings, name)]
    for metric in varying[:METRICS_MAX] if layout.along is not None else ():
        series = series_of(findings, metric, layout)
        yield Picture(
            title="",  # the figure has it
            caption="Means over replications (seeds) with their 95 % Student intervals"
            + (f", a line each of {' and '.join(layout.others)}." if layout.others else "."),
            figure=headline(series, metric, layout),
            data=places_of(series, layout),
        )
    if findings.differences.empty:
        return
    compared = set(findings.differences["metric"])
    first = [name for name in answers_of if name in compared and _varies(findings, name)][:1]
    for metric in first:
        baseline = point_label(findings.points[0]["parameters"], findings.axes)
        yield Picture(
            title=f"Difference to {baseline}",
            caption="Each point minus the first point of the sweep, paired by seed, so that noise "
            "common to both cancels, with 95 % Student intervals. Filled marks differ from zero "
            "by more than noise, hollow ones do not.",
            figure=paired_differences(
                findings.differences, list(findings.axes), metric, baseline=baseline
            ),
            data=findings.differences[findings.differences["metric"] == metric],
        )


def _theory(findings: Summaries) -> Iterator[Picture]:
    """Draw the figures that links have computed themselves, beside what theory says of them."""
    table = findings.intervals.merge(findings.expected, on=["scenario", "parameters", "metric"])
    layout = layout_of(findings.axes)
    if table.empty or layout.along is None or not layout.is_ordered:
        return
    axis, others = layout.along, layout.others
    happened = table[table["mean"] > 0]
    named = [name for name in FIGURES if name in set(happened["metric"])]
    if {OVERHEAD, UNDONE} <= set(named):
        losses = LOST in named
        says = " The lower panel has what a crash loses for good." if losses else ""
        yield Picture(
            title="What a crash costs against what prevents it",
            caption=f"One mark per point, named by its {axis}: further right costs more time, "
            "further up a crash undoes more. Bars are 95 % Student intervals over replications, "
            f"grey lines the closed form. Below the knee less rework costs little more.{says}",
            figure=trade_off(table, axis, others, OVERHEAD, [UNDONE, LOST] if losses else [UNDONE]),
            data=table[table["metric"].isin([OVERHEAD, UNDONE, LOST])],
        )
    for name in named:
        if table.loc[table["metric"] == name, "expected"].notna().any():
            says = METRICS[name].says
            yield Picture(
                title=f"{says[:1].upper()}{says[1:]}, simulated and on paper",
                caption="Marks are means over replications with 95 % Student intervals, grey lines "
                "the closed form: marks beside their line are where the model's assumptions do "
                "not hold.",
                figure=against_theory(table, axis, others, [name]),
                data=table[table["metric"] == name],
            )


def task_pictures(findings: Summaries) -> Iterator[Picture]:
    """Draw checkpoints against back-pressure where a sweep has that vary between its points."""
    if findings.tasks.empty or findings.latency.empty:
        return
    table = back_pressure(findings)
    if table["backpressured_ratio"].round(2).nunique() >= POINTS_OF_A_LINE:
        yield Picture(
            title="Checkpoints against back-pressure",
            caption="Each point of the sweep by the share of time that its most back-pressured "
            "task stood for want of output buffers: how long completed checkpoints took and how "
            "long barriers were under way to the task that they reached last (median, with the "
            "quartiles as a band), and what a checkpoint persisted of the data in flight (mean, "
            "with its interval).",
            figure=against_back_pressure(table),
            data=table,
        )


def back_pressure(findings: Summaries) -> pd.DataFrame:
    """Return times and sizes of checkpoints with the back-pressure of their point.

    Columns: the point, `quantity`, `measure`, `n`, `middle`, `low`, `high`, `backpressured_ratio`
    (of the task that has most) and `mode`: the swept parameter with that end of its path, if there
    is one.
    """
    point = ["scenario", "parameters"]
    quartiles = {0.25: "low", 0.5: "middle", 0.75: "high"}
    chosen = findings.latency[findings.latency["probability"].isin(quartiles)]
    wide = chosen.pivot_table(
        index=[*point, "completed"], columns="probability", values="completed_ns"
    )
    durations = wide.rename(columns=quartiles).reset_index().rename(columns={"completed": "n"})
    delays = findings.first_barriers.rename(
        columns={"low_ns": "low", "median_ns": "middle", "high_ns": "high"}
    )
    sizes = findings.intervals[findings.intervals["metric"] == PERSISTED]
    sizes = sizes.rename(columns={"mean": "middle"})[[*point, "n", "middle", "low", "high"]]
    ratios = findings.tasks.groupby(point, sort=False)["backpressured_ratio"].max().reset_index()
    both = {
        ("duration", "ns"): durations,
        ("until the first barrier", "ns"): delays,
        ("persisted in-flight data", "bytes"): sizes if sizes["middle"].any() else sizes[:0],
    }
    tables = [
        ratios.merge(values, on=point).assign(quantity=name, measure=measure)
        for (name, measure), values in both.items()
        if not values.empty
    ]
    if not tables:
        return pd.DataFrame({"backpressured_ratio": []})
    table = pd.concat(tables, ignore_index=True)
    axis = next((name for name in findings.axes if name == "mode" or name.endswith(MODE)), None)
    values = [json.loads(text).get(axis) for text in table["parameters"]]
    return table.assign(mode=["all points" if value is None else str(value) for value in values])


def _varies(findings: Summaries, metric: str) -> bool:
    """Return whether a metric is known and not the same at all points."""
    found = findings.intervals
    return found.loc[found["metric"] == metric, "mean"].nunique() > 1


def along(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return the rows of points that have a value on an axis."""
    return table[[axis in json.loads(text) for text in table["parameters"]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure with what one sees in it. `data` is what a reader can take away as CSV."""

    title: str
    caption: str
    figure: Figure
    data: pd.DataFrame
