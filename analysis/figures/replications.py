"""Figures over replications: means with intervals, and paired differences to a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ckptsim.analysis.figures.style import (
    BLUE,
    GREY,
    VERMILION,
    WIDTH,
    Unit,
    count_label,
    new_figure,
    point_label,
    short_name,
    styled,
    time_unit,
)
from ckptsim.analysis.figures.swept import evenly, label_swept, with_axis
from ckptsim.scenarios.metrics import METRICS as CATALOGUE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS_MAX = 16
METRICS = {name: metric.says for name, metric in CATALOGUE.items()}


@styled
def means(intervals: pd.DataFrame, axis: str, metrics: Sequence[str]) -> Figure:
    """Draw the means of up to four figures of a run against a swept parameter, with intervals.

    intervals: as from `points.intervals`, of points that differ in `axis` only.
    """
    rows = (len(metrics) + 1) // 2
    figure = new_figure(2.5 * rows)
    panels = figure.subplots(rows, 2, squeeze=False).ravel()
    for ax, metric in zip(panels, metrics, strict=False):
        table = with_axis(intervals[intervals["metric"] == metric], axis).sort_values("x")
        unit = unit_of(metric, table["high"].fillna(table["mean"]))
        mean = table["mean"] / unit.size
        errors = np.vstack([mean - table["low"] / unit.size, table["high"] / unit.size - mean])
        ax.errorbar(
            table["x"], mean, np.nan_to_num(errors), color=BLUE, marker="o", ms=4, capsize=3, lw=1.2
        )
        counts = label_swept(ax, table, width=0.35 * WIDTH)
        ax.set_ylim(0, None)
        ax.set_xlabel(f"{short_name(axis)}  {counts}")
        ax.set_title(METRICS[metric] + (f" [{unit.name}]" if unit.name else ""), fontsize=9)
    for ax in panels[len(metrics) :]:
        ax.remove()
    return figure


@styled
def paired_differences(differences: pd.DataFrame, axes: Sequence[str], metric: str) -> Figure:
    """Draw how each point differs from the baseline, paired by seed, with 95 % intervals.

    differences: as from `points.differences`.  An interval that excludes zero is drawn filled.
    """
    table = differences[differences["metric"] == metric]
    rows = evenly([row for _, row in table.iterrows()], ROWS_MAX)
    figure = new_figure(1.0 + 0.32 * len(rows))
    ax = figure.add_subplot()
    unit = unit_of(metric, [max(abs(row["low"]), abs(row["high"])) for row in rows])
    ax.axvline(0, color=GREY, linewidth=1)
    for place, row in enumerate(rows):
        clear = row["low"] > 0 or row["high"] < 0
        ax.errorbar(
            row["mean"] / unit.size,
            place,
            xerr=np.nan_to_num(np.array([[row["high"] - row["mean"]]])) / unit.size,
            color=VERMILION if clear else GREY,
            marker="o",
            markerfacecolor=VERMILION if clear else "white",
            capsize=3,
        )
        ax.annotate(
            count_label(row["n"]),
            (1.0, place),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
        )
    several = table["scenario"].nunique() > 1
    ax.set_yticks(
        range(len(rows)),
        [
            (f"{row['scenario']}: " if several else "") + point_label(row["parameters"], axes)
            for row in rows
        ],
    )
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(visible=False, axis="y")
    of_unit = f" [{unit.name}]" if unit.name else ""
    ax.set_xlabel(f"difference to the baseline\n{METRICS[metric]}{of_unit}")
    return figure


def unit_of(metric: str, values: Sequence[float] | pd.Series) -> Unit:
    """Return the unit for a figure of runs: one of time, or none for counts."""
    return time_unit(values) if metric.endswith("_ns") else Unit("", 1)
