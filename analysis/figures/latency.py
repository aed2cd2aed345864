"""Checkpoint latency: its distribution, its percentiles against a parameter, and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ckptsim.analysis.figures.style import (
    BLUE,
    DASHES,
    GREEN,
    LINES,
    ORANGE,
    PURPLE,
    SKY,
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
from ckptsim.analysis.figures.swept import (
    CHARACTER_INCHES,
    evenly,
    label_swept,
    scale_axis,
    with_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES_MAX = 6
PANELS_MAX = 3
BARS_MAX = 12
# Part of a checkpoint's latency -> what it is, colour, pattern.
PARTS = {
    "wait_records_ns": ("for records to arrive", BLUE, ""),
    "wait_upload_ns": ("for the upload", ORANGE, "//"),
    "wait_predecessor_ns": ("for a predecessor", GREEN, ".."),
    "wait_send_ns": ("for the send", PURPLE, "xx"),
}


@styled
def latency_cdf(distribution: pd.DataFrame, axes: Sequence[str]) -> Figure:
    """Draw the distribution of checkpoint latency, one curve per point.

    distribution: as from `points.distribution`; axes: the swept paths.  Of many points some are
    drawn, evenly spaced in the order given.  A curve ends below 1 where the rest did not complete.
    """
    groups = [group for _, group in distribution.groupby(["scenario", "parameters"], sort=False)]
    chosen = evenly(groups, CURVES_MAX)
    figure = new_figure(3.3 + 0.17 * len(chosen))
    ax = figure.add_subplot()
    unit = time_unit(distribution["latency_ns"])
    several = distribution["scenario"].nunique() > 1
    for group, color, dashes in zip(chosen, LINES, DASHES, strict=False):
        first = group.iloc[0]
        label = point_label(first["parameters"], axes)
        name = f"{first['scenario']}: {label}" if several else label
        ax.step(
            np.concatenate([group["latency_ns"].iloc[:1], group["latency_ns"]]) / unit.size,
            np.concatenate([[0.0], group["below"]]),
            where="post",
            color=color,
            linestyle=dashes,
            linewidth=1.6,
            label=f"{name}  ({count_label(first['n'], first['unfinished'])})",
        )
    scale_axis(ax, distribution["latency_ns"].to_numpy() / unit.size)
    ax.set_xlabel(f"checkpoint latency, from trigger to completion [{unit.name}]")
    ax.set_ylabel("share of checkpoints")
    ax.set_ylim(0, 1.02)
    some = f"{len(chosen)} of {len(groups)} points" if len(chosen) < len(groups) else None
    longest = max(len(text) for text in ax.get_legend_handles_labels()[1])
    figure.legend(
        loc="outside lower left", ncols=1 if longest > 45 else 2, title=some, alignment="left"
    )
    return figure


@styled
def latency_bands(quantiles: pd.DataFrame, axis: str, others: Sequence[str] = ()) -> Figure:
    """Draw percentiles of checkpoint latency against one swept parameter.

    quantiles: as from `points.latency`, of points that differ in `axis` and `others` only; there
    is one panel per scenario and combination of the others.  Bands are from the 5th to the 95th and
    from the 25th to the 75th percentile; a band stops where too few completed to know.
    """
    table = with_axis(quantiles, axis)
    labels = _panels(table, [other for other in others if other != "scenario"])
    panels = evenly(list(table.groupby(labels, sort=False)), PANELS_MAX)
    figure = new_figure(3.6)
    unit = time_unit(table["latency_ns"])
    drawn = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (label, panel) in zip(drawn, panels, strict=True):
        _draw_bands(ax, panel, unit)
        counts = label_swept(ax, panel, width=0.8 * WIDTH / len(panels))
        ax.set_title(_in_lines(str(label), 0.8 * WIDTH / len(panels)), fontsize=8.5)
        ax.set_xlabel(f"{short_name(axis)}\n{counts}")
    scale_axis(drawn[0], table["latency_ns"].to_numpy() / unit.size, vertical=True)
    drawn[0].set_ylabel(f"checkpoint latency [{unit.name}]")
    handles, names = drawn[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=4)
    return figure


def _in_lines(label: str, width: float) -> str:
    """Return a panel's title, a line per parameter, or two where one is wider than its panel."""
    lines = label.split(", ")
    if max(map(len, lines)) * CHARACTER_INCHES > width:
        lines = [line.replace(" = ", " =\n") for line in lines]
    return "\n".join(lines)


def _panels(table: pd.DataFrame, others: Sequence[str]) -> list[str]:
    """Return the panel of each row: its scenario, where there are several, and its other values."""
    several = table["scenario"].nunique() > 1
    rows = zip(table["scenario"].tolist(), table["parameters"].tolist(), strict=True)
    return [
        ", ".join(
            ([str(scenario)] if several else [])
            + ([point_label(parameters, others)] if others else [])
        )
        for scenario, parameters in rows
    ]


def _draw_bands(ax: Axes, panel: pd.DataFrame, unit: Unit) -> None:
    """Draw bands between numbers; between words there is nothing, so they get boxes."""
    wide = panel.pivot_table(index="x", columns="probability", values="latency_ns", dropna=False)
    wide = wide.sort_index() / unit.size
    x = wide.index.to_numpy()
    words = bool(panel["word"].iloc[0])
    ax.use_sticky_edges = not words
    bands = ((0.05, 0.95, SKY, "5 % to 95 %"), (0.25, 0.75, BLUE, "25 % to 75 %"))
    for low, high, color, label in bands:
        if words:
            tall = wide[high] - wide[low]
            ax.bar(x, tall, 0.4, wide[low], color=color, alpha=0.35, lw=0, label=label)
        else:
            ax.fill_between(x, wide[low], wide[high], color=color, alpha=0.35, lw=0, label=label)
    ax.plot(x, wide[0.99], color=VERMILION, marker="^", ms=4, ls="" if words else ":", label="99 %")
    ax.plot(x, wide[0.5], color="black", marker="o", ms=4, ls="" if words else "-", label="median")


@styled
def latency_parts(waits: pd.DataFrame, axes: Sequence[str]) -> Figure:
    """Draw where the time of completed checkpoints went, one bar per point.

    waits: as from `points.waits`; a bar is the mean of a checkpoint, its parts are the time it
    waited for each thing in turn.
    """
    rows = evenly([row for _, row in waits.iterrows()], BARS_MAX)
    figure = new_figure(1.5 + 0.34 * len(rows))
    ax = figure.add_subplot()
    means = {part: np.array([row[part] / row["n"] for row in rows]) for part in PARTS}
    unit = time_unit(np.sum(list(means.values()), axis=0))
    left = np.zeros(len(rows))
    places = range(len(rows))
    for part, (label, color, hatch) in PARTS.items():
        width = means[part] / unit.size
        ax.barh(
            places,
            width,
            left=left,
            color=color,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.5,
            label=label,
        )
        left = left + width
    for place, row, end in zip(places, rows, left.tolist(), strict=True):
        ax.annotate(
            count_label(row["n"]), (end, place), (4, 0), textcoords="offset points", va="center"
        )
    several = waits["scenario"].nunique() > 1
    labels = [
        f"{row['scenario']}\n{point_label(row['parameters'], axes)}"
        if several
        else point_label(row["parameters"], axes)
        for row in rows
    ]
    ax.set_yticks(places, labels)
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.margins(x=0.16)
    ax.set_xlim(0, None)
    ax.set_xlabel(f"mean time of a completed checkpoint spent waiting [{unit.name}]")
    figure.legend(loc="outside lower left", ncols=4)
    return figure
