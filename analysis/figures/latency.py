"""Checkpoint durations: their distribution, percentiles against a parameter, and their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from ckptsim.analysis.figures import style
from ckptsim.analysis.figures.style import DASHES, LINES, MARKERS, new_figure, styled
from ckptsim.analysis.figures.swept import (
    CHARACTER_INCHES,
    evenly,
    label_swept,
    scale_axis,
    with_axis,
)
from ckptsim.analysis.figures.vector import tell
from ckptsim.analysis.words import (
    Unit,
    count_label,
    in_lines,
    in_unit,
    point_label,
    time_in_words,
    time_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CURVES_MAX = 6
LEGEND_CHARACTERS = 90  # of a line
LABEL_CHARACTERS = 40  # of a line beside a bar
STEPS_MAX = 800  # of a curve. More cannot be seen
PANELS_MAX = 3
BARS_MAX = 12
# Part of a checkpoint's duration -> what it is, colour, pattern.
PARTS = {
    "wait_records_ns": ("for records to arrive", style.BLUE, ""),
    "wait_upload_ns": ("for the upload", style.ORANGE, "//"),
    "wait_predecessor_ns": ("for a predecessor", style.GREEN, ".."),
    "wait_send_ns": ("for the send", style.PURPLE, "xx"),
}


@style.styled
def latency_cdf(distribution: pd.DataFrame, axes: Sequence[str]) -> Figure:
    """Draw the distribution of checkpoint durations, one curve per point.

    distribution: the summary `distribution`. axes: the swept names.  Of many points some are drawn,
    evenly spaced in the order given.  A curve that ends below 1, because the rest did not complete,
    ends in an arrow: those lasted longer than any that is shown.
    """
    groups = [group for _, group in distribution.groupby(["scenario", "parameters"], sort=False)]
    chosen = evenly(groups, CURVES_MAX)
    labels = [_curve_label(group, axes) for group in chosen]
    columns = 1 if max(map(len, labels)) > LEGEND_CHARACTERS // 2 else 2
    lines = sum(label.count("\n") + 1 for label in labels)
    figure = style.new_figure(3.3 + 0.17 * -(-lines // columns))
    ax = figure.add_subplot()
    unit = time_unit(distribution["latency_ns"])
    for group, label, color, dashes in zip(chosen, labels, style.LINES, style.DASHES, strict=False):
        x, y = _steps(group)
        ax.step(x / unit.size, y, where="post", color=color, ls=dashes, lw=1.6, label=label)
        _tell_quantiles(ax, group, label, unit)
        if y[-1] < 1:
            _draw_censored(ax, float(x[-1]) / unit.size, float(y[-1]), color)
    scale = scale_axis(ax, distribution["latency_ns"].to_numpy() / unit.size)
    ax.set_xlabel(f"checkpoint duration, from trigger to completion [{unit.name}{scale}]")
    ax.set_ylabel("share of checkpoints")
    ax.set_ylim(0, 1.04)
    some = f"{len(chosen)} of {len(groups)} points" if len(chosen) < len(groups) else None
    figure.legend(loc="outside lower left", ncols=columns, title=some, alignment="left")
    return figure


def _curve_label(group: pd.DataFrame, axes: Sequence[str]) -> str:
    first = group.iloc[0]
    name = point_label(first["parameters"], axes) or str(first["scenario"])
    counts = count_label(first["n"], first["unfinished"])
    return in_lines(f"{name}  ({counts})", LEGEND_CHARACTERS)


def _steps(group: pd.DataFrame) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the corners of a curve from 0 on. Of very many every so many, and the last."""
    times = group["latency_ns"].to_numpy(dtype=float)
    below = group["below"].to_numpy(dtype=float)
    kept = np.unique(np.linspace(0, len(times) - 1, min(len(times), STEPS_MAX)).round().astype(int))
    return np.concatenate([times[:1], times[kept]]), np.concatenate([[0.0], below[kept]])


def _tell_quantiles(ax: Axes, group: pd.DataFrame, label: str, unit: Unit) -> None:
    below = group["below"].to_numpy()
    for share in (0.25, 0.5, 0.75, 0.95, 0.99):
        place = int(np.searchsorted(below, share - 1e-12))
        if place < len(group):
            at = float(group["latency_ns"].iloc[place])
            says = f"{label}: {100 * share:g} % take at most {time_in_words(at)}"
            tell(ax, at / unit.size, float(below[place]), says)


def _draw_censored(ax: Axes, x: float, y: float, color: str) -> None:
    ax.annotate(
        "", (1.0, y), (x, y), xycoords=("axes fraction", "data"), textcoords="data",
        arrowprops={"arrowstyle": "->", "color": color, "ls": ":", "lw": 1.1,
                    "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    ax.plot([x], [y], marker="|", color=color, ms=9, mew=1.6)


@style.styled
def latency_bands(quantiles: pd.DataFrame, axis: str, others: Sequence[str] = ()) -> Figure:
    """Draw percentiles of checkpoint durations against one swept parameter.

    quantiles: the summary `latency`, of points that differ in `axis` and `others` only. There is
    one panel per combination of the others.  Bands are from the 5th to the 95th and from the 25th
    to the 75th percentile. A band stops where too few completed to know.
    """
    table = with_axis(quantiles, axis)
    labels = [point_label(text, others) for text in table["parameters"]]
    panels = evenly(list(table.groupby(labels, sort=False)), PANELS_MAX)
    figure = style.new_figure(4.0)
    unit = time_unit(table["latency_ns"])
    drawn = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    room = int(0.8 * style.WIDTH / len(panels) / CHARACTER_INCHES)
    for ax, (label, panel) in zip(drawn, panels, strict=True):
        _draw_bands(ax, panel, unit)
        counts = label_swept(ax, panel, width=0.8 * style.WIDTH / len(panels))
        ax.set_title(in_lines(str(label), room), fontsize=8.5)
        ax.set_xlabel(f"{in_lines(axis, room)}\n{in_lines(counts, room)}")
    scale = scale_axis(drawn[0], table["latency_ns"].to_numpy() / unit.size, vertical=True)
    drawn[0].set_ylabel(f"duration [{unit.name}{scale}]")
    handles, names = drawn[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=4)
    return figure


def _draw_bands(ax: Axes, panel: pd.DataFrame, unit: Unit) -> None:
    """Draw bands between numbers. Between words there is nothing, so they get boxes."""
    wide = panel.pivot_table(index="x", columns="probability", values="latency_ns", dropna=False)
    wide = wide.sort_index() / unit.size
    x = wide.index.to_numpy()
    words = bool(panel["word"].iloc[0])
    ax.use_sticky_edges = not words
    bands = ((0.05, 0.95, style.SKY, "5 % to 95 %"), (0.25, 0.75, style.BLUE, "25 % to 75 %"))
    for low, high, color, label in bands:
        if words:
            tall = wide[high] - wide[low]
            ax.bar(x, tall, 0.4, wide[low], color=color, alpha=0.35, lw=0, label=label)
        else:
            ax.fill_between(x, wide[low], wide[high], color=color, alpha=0.35, lw=0, label=label)
    ax.plot(
        x,
        wide[0.99],
        color=style.VERMILION,
        marker="^",
        ms=4,
        ls="" if words else ":",
        label="99 %",
    )
    ax.plot(
        x, wide[0.5], color=style.INK, marker="o", ms=4, ls="" if words else "-", label="median"
    )
    shown = dict(zip(panel["x"], panel["shown"], strict=True))
    for place, row in wide.iterrows():
        if not np.isnan(row[0.5]):
            quantiles = ", ".join(
                f"{100 * p:g} %: {in_unit(row[p], Unit(unit.name, 1))}"
                for p in (0.05, 0.5, 0.95, 0.99)
                if not np.isnan(row[p])
            )
            tell(ax, float(str(place)), float(row[0.5]), f"{shown[place]}: {quantiles}")


@style.styled
def latency_parts(waits: pd.DataFrame, axes: Sequence[str]) -> Figure:
    """Draw where the time of completed checkpoints went, one bar per point.

    waits: the summary `waits`. A bar is the mean of a checkpoint, its parts are the time it waited
    for each thing in turn.  A part that is zero everywhere is left out.
    """
    rows = evenly([row for _, row in waits.iterrows()], BARS_MAX)
    figure = style.new_figure(1.5 + 0.34 * len(rows))
    ax = figure.add_subplot()
    means = {part: np.array([row[part] / row["n"] for row in rows]) for part in PARTS}
    means = {part: values for part, values in means.items() if values.any()}
    unit = time_unit(np.sum(list(means.values()), axis=0) if means else [])
    left = np.zeros(len(rows))
    places = range(len(rows))
    labels = [
        in_lines(point_label(row["parameters"], axes) or str(row["scenario"]), LABEL_CHARACTERS)
        for row in rows
    ]
    for part, values in means.items():
        label, color, hatch = PARTS[part]
        width = values / unit.size
        ax.barh(
            places, width, left=left, color=color, hatch=hatch, edgecolor="white", lw=0.5,
            label=label,
        )  # fmt: skip
        for place in places:
            says = f"{labels[place]}: {time_in_words(values[place])} {label}".replace("\n", " ")
            tell(ax, float(left[place] + width[place] / 2), place, says)
        left = left + width
    for place, row, end in zip(places, rows, left.tolist(), strict=True):
        ax.annotate(
            count_label(row["n"]), (end, place), (4, 0), textcoords="offset points", va="center"
        )
    ax.set_yticks(places, labels)
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.margins(x=0.16)
    ax.set_xlim(0, None)
    ax.set_xlabel(f"mean waiting time [{unit.name}]")
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=4)
    return figure


MIDDLE, HIGH = 0.5, 0.95


@styled
def percentile_lines(quantiles: pd.DataFrame, axis: str, others: Sequence[str] = ()) -> Figure:
    """Draw the median and the 95th percentile of durations, a pair of lines per combination.

    quantiles: as `latency` of the summaries, of points that differ in `axis` and `others` only. The
    legend has the n of each pair. A line stops where too few completed to know.
    """
    table = with_axis(quantiles[quantiles["probability"].isin((MIDDLE, HIGH))], axis)
    table = table.assign(line=[point_label(text, others) for text in table["parameters"]])
    unit = time_unit(table["latency_ns"])
    figure = new_figure(3.6)
    ax = figure.add_subplot()
    lines = evenly(list(table.groupby("line", sort=False)), len(LINES))
    for (key, line), color, dashes, marker in zip(lines, LINES, DASHES, MARKERS, strict=False):
        name = str(key)
        counts = sorted(set(line["n"]))
        n = count_label(counts[0]) if len(counts) == 1 else f"n = {counts[0]:,} to {counts[-1]:,}"
        for probability, part in line.groupby("probability"):
            rows = part.sort_values("x")
            middle = probability == MIDDLE
            label = "median" if middle else "95 %"
            y = rows["latency_ns"] / unit.size
            ax.plot(
                rows["x"], y, color=color, ls=dashes, marker=marker, ms=5 if middle else 3,
                lw=1.6 if middle else 0.8, mfc=color if middle else "white",
                label=f"{name}: {label} ({n})" if name else f"{label} ({n})",
            )  # fmt: skip
            for _, row in rows[rows["latency_ns"].notna()].iterrows():
                says = f"{row['shown']}: {label} {time_in_words(row['latency_ns'])}, n = {row['n']}"
                tell(ax, row["x"], row["latency_ns"] / unit.size, says)
    scale = scale_axis(ax, table["latency_ns"].to_numpy(dtype=float) / unit.size, vertical=True)
    places = table.drop_duplicates("x")
    counts_text = label_swept(ax, places.assign(n=places["n"].iloc[0]), width=5.0)
    logarithmic = ", log scale" if "log scale" in counts_text else ""
    ax.set_xlabel(f"{axis}{logarithmic}")
    ax.set_ylabel(f"checkpoint duration [{unit.name}{scale}]")
    figure.legend(loc="outside lower left", ncols=2)
    return figure
