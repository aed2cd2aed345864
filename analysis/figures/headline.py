"""The figure that answers a sweep's question, and how each point differs from a baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ckptsim.analysis.answers import Layout, Series
from ckptsim.analysis.figures.style import (
    DASHES,
    GREY,
    LINES,
    MARKERS,
    VERMILION,
    new_figure,
    styled,
)
from ckptsim.analysis.figures.swept import evenly, label_swept, scale_axis
from ckptsim.analysis.figures.vector import tell
from ckptsim.analysis.words import Unit, count_label, in_lines, point_label, unit_of, with_interval
from ckptsim.scenarios.planning import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIDTH = 5.0  # inches
LEGEND_CHARACTERS = 62  # of one line
_DODGE = 0.5  # of the room between two words, shared by all series


@styled
def headline(series: Sequence[Series], metric: str, layout: Layout) -> Figure:
    """Draw a metric's means with their intervals, a line or a row of marks per series.

    Numbers along the axis are joined by lines, words are not: there is nothing between them.
    """
    drawn = evenly(list(series), len(LINES))
    names = [one.label for one in drawn if one.label]
    rows = _legend_rows(names)
    figure = new_figure(2.9 + 0.17 * rows, width=WIDTH)
    ax = figure.add_subplot()
    table = places_of(drawn, layout)
    unit = unit_of(metric, table["high"].fillna(table["mean"]))
    for number, one in enumerate(drawn):
        rows_of_one = table[table["series"] == number]
        _draw(ax, rows_of_one, number, unit, is_ordered=layout.is_ordered, label=one.label)
        for place, (_, row) in zip(one.places, rows_of_one.iterrows(), strict=True):
            at = ", ".join(filter(None, [one.label, f"{layout.along} {place.shown}"]))
            mean = with_interval(metric, place.mean.mean, place.mean.low, place.mean.high)
            tell(ax, row["at"], row["mean"] / unit.size, f"{at}: {mean}, n = {place.mean.n}")
    scale = scale_axis(ax, table["mean"].to_numpy() / unit.size, vertical=True)
    counts = label_swept(ax, table, width=0.8 * WIDTH)
    ax.set_xlabel(f"{layout.along} {counts}" if layout.along else counts)
    ax.set_ylabel(f"[{unit.name}{scale}]" if unit.name else f"number{scale}")
    says = METRICS[metric].says
    ax.set_title(says[:1].upper() + says[1:], loc="left", fontsize=9.5)
    if names:
        columns = math.ceil(len(names) / rows)
        title = f"{len(drawn)} of {len(series)}" if len(drawn) < len(series) else None
        figure.legend(loc="outside lower left", ncols=columns, title=title, alignment="left")
    return figure


def _legend_rows(names: Sequence[str]) -> int:
    """Return in how many rows the names of all series fit."""
    if not names:
        return 0
    columns = max(1, LEGEND_CHARACTERS // (max(map(len, names)) + 6))
    return math.ceil(len(names) / columns)


def places_of(series: Sequence[Series], layout: Layout) -> pd.DataFrame:
    """Return one row per place: `series`, `x`, `at` (beside others at the same word), `shown`, ...

    Words are placed in the order in which they first come.
    """
    words = list(dict.fromkeys(place.shown for one in series for place in one.places))
    rows = []
    for number, one in enumerate(series):
        for place in one.places:
            x = place.number if layout.is_ordered else float(words.index(place.shown))
            aside = (number - (len(series) - 1) / 2) * _DODGE / max(1, len(series))
            at = x if layout.is_ordered else (x or 0.0) + aside
            mean = place.mean
            rows.append((number, x, at, place.shown, mean.n, mean.mean, mean.low, mean.high))
    names = ["series", "x", "at", "shown", "n", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=names).assign(word=not layout.is_ordered)


def _draw(
    ax: Axes, rows: pd.DataFrame, number: int, unit: Unit, *, is_ordered: bool, label: str
) -> None:
    """Draw one series. An interval ends at zero, below which an axis may have no room."""
    mean = rows["mean"].to_numpy() / unit.size
    low, high = (rows[name].to_numpy() / unit.size for name in ("low", "high"))
    errors = np.nan_to_num(np.vstack([mean - low, high - mean]))
    errors[0] = np.minimum(errors[0], 0.95 * mean)
    ax.errorbar(
        rows["at"], mean, errors, color=LINES[number], marker=MARKERS[number], ms=4.5, capsize=2.5,
        ls=DASHES[number] if is_ordered else "", lw=1.4, label=label or "_alone",
    )  # fmt: skip


ROWS_MAX = 16
LABEL_CHARACTERS = 40  # of a line beside a row
TITLE_CHARACTERS = 88


@styled
def paired_differences(
    differences: pd.DataFrame, axes: Sequence[str], metric: str, *, baseline: str
) -> Figure:
    """Draw how each point differs from the baseline, paired by seed, with 95 % intervals.

    differences: the summary `differences`. baseline: the name of that point.  An interval that
    excludes zero is drawn filled.
    """
    table = differences[differences["metric"] == metric]
    rows = evenly([row for _, row in table.iterrows()], ROWS_MAX)
    labels = [in_lines(point_label(row["parameters"], axes), LABEL_CHARACTERS) for row in rows]
    title = in_lines(f"{METRICS[metric].says}: difference to {baseline}", TITLE_CHARACTERS)
    lines = max(label.count("\n") + 1 for label in labels)
    figure = new_figure(1.1 + (0.18 + 0.14 * lines) * len(rows) + 0.16 * title.count("\n"))
    figure.suptitle(title[:1].upper() + title[1:], fontsize=9, x=0.01, ha="left")
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
        says = with_interval(metric, row["mean"], row["low"], row["high"])
        name = point_label(row["parameters"], axes)
        tell(ax, row["mean"] / unit.size, place, f"{name} minus {baseline}: {says}")
        ax.annotate(
            count_label(row["n"]),
            (1.0, place),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
        )
    ax.set_yticks(range(len(rows)), labels, fontsize=8.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel(f"difference to the baseline{f' [{unit.name}]' if unit.name else ''}")
    return figure
