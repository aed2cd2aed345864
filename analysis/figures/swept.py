"""Swept parameters on an axis: where a value is placed, how it is labelled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.figures.style import count_label, shown_value
from scenarios import units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

ItemT = TypeVar("ItemT")
COUNTS = "(checkpoints completed / all)"
LOG_RATIO = 30  # from this ratio of largest to smallest on, an axis is logarithmic


def with_axis(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return the rows that have the swept parameter, with `x` (its place) and `shown` (its text).

    Numbers and quantities are placed by their value, everything else by the order of appearance.
    """
    values = table["parameters"].map(lambda text: json.loads(text).get(axis))
    kept = table[values.notna()]
    given = values[values.notna()].tolist()
    return kept.assign(x=_places(given), shown=[shown_value(axis, value) for value in given])


def _places(values: Sequence[object]) -> list[float]:
    numbers = [found for found in map(number, values) if found is not None]
    if len(numbers) == len(values):
        return numbers
    order = {text: float(place) for place, text in enumerate(dict.fromkeys(map(str, values)))}
    return [order[str(value)] for value in values]


def number(value: object) -> float | None:
    """Return the number that a swept value is, in base units if it has one; None for a word."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    for scale in (units.DURATION_UNITS, units.SIZE_UNITS, units.BYTE_RATE_UNITS):
        found = units.parse(str(value), scale)
        if found is not None:
            return float(found)
    return None


def label_swept(ax: Axes, panel: pd.DataFrame) -> None:
    """Put a tick at every swept place, with its value and the number of values behind it.

    panel: rows with `x`, `shown`, `n` and, where some are censored, `completed`; with these the
    counts read as COUNTS says.
    """
    places = panel.drop_duplicates("x").sort_values("x")
    x = places["x"].tolist()
    if len(x) > 2 and x[0] > 0 and x[-1] / x[0] >= LOG_RATIO / 3:
        ax.set_xscale("log")
    if "completed" in places:
        pairs = zip(places["completed"], places["n"], strict=True)
        counts = [f"{completed:,} / {n:,}" for completed, n in pairs]
    else:
        counts = [count_label(n) for n in places["n"]]
    labels = [f"{shown}\n{text}" for shown, text in zip(places["shown"], counts, strict=True)]
    ax.set_xticks(x, labels, fontsize=8)
    ax.set_xticks([], minor=True)
    ax.margins(x=0.08)


def scale_axis(ax: Axes, values: npt.NDArray[np.float64], *, vertical: bool = False) -> None:
    """Make an axis logarithmic when its values span far, else let it begin at zero."""
    positive = values[np.isfinite(values) & (values > 0)]
    set_scale, set_limit = (
        (ax.set_yscale, ax.set_ylim) if vertical else (ax.set_xscale, ax.set_xlim)
    )
    if len(positive) and positive.max() / positive.min() >= LOG_RATIO:
        set_scale("log")
        _label_decades(ax.yaxis if vertical else ax.xaxis)
    else:
        set_limit(0, None)


def _label_decades(axis: Axis) -> None:
    """Label 1, 2, 5, 10, 20, ... as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def evenly(items: Sequence[ItemT], most: int) -> list[ItemT]:
    """Return at most that many items, the first and the last among them, evenly spaced."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]
