"""Swept parameters on an axis: where a value is placed, how it is labelled."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ckptsim.analysis.figures.style import shown_value
from ckptsim.scenarios import units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

ItemT = TypeVar("ItemT")
CHARACTER_INCHES = 0.085  # of a tick label, with some room
LOG_RATIO = 30  # from this ratio of largest to smallest on, an axis is logarithmic


def with_axis(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return the rows that have the swept parameter, with its place `x` and its text `shown`.

    Numbers and quantities are placed by their value, words (`word` is then true) by the order of
    appearance.
    """
    values = table["parameters"].map(lambda text: json.loads(text).get(axis))
    kept = table[values.notna()]
    given = values[values.notna()].tolist()
    numbers = [found for found in map(number, given) if found is not None]
    words = len(numbers) < len(given)
    if words:
        order = {text: float(place) for place, text in enumerate(dict.fromkeys(map(str, given)))}
        numbers = [order[str(value)] for value in given]
    shown = [shown_value(axis, value) for value in given]
    return kept.assign(x=numbers, shown=shown, word=words)


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


def label_swept(ax: Axes, panel: pd.DataFrame, *, width: float) -> str:
    """Put a tick at every swept place, and return what is to be said of the counts.

    panel: rows with `x`, `shown`, `n` and, where some are censored, `completed`; width: inches
    that the axis has.  Counts stand below the ticks, or in the returned text where they would
    overlap.
    """
    places = panel.drop_duplicates("x").sort_values("x")
    x = places["x"].tolist()
    shown = places["shown"].tolist()
    position = spread(ax, x)
    completed = (places["completed"] if "completed" in places else places["n"]).tolist()
    counts = [
        f"{n:,}" if done == n else f"{done:,} / {n:,}"
        for done, n in zip(completed, places["n"].tolist(), strict=True)
    ]
    margin = 0.3 if places["word"].any() else 0.08
    ax.margins(x=margin)
    gap = min((right - left for left, right in pairwise(position)), default=1.0)
    gap *= width / (1 + 2 * margin)
    if places["word"].any() and _inches(shown) > gap:
        shown = [word.replace("_", "_\n").replace(" ", "\n") for word in shown]
    tilted = len(shown) > 1 and _inches(shown) > gap
    fits = _inches(counts) <= gap and not tilted
    labels = [f"{a}\n{b}" for a, b in zip(shown, counts, strict=True)] if fits else shown
    if tilted:
        labels = [text.replace("\n", "") for text in labels]
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(x, labels, fontsize=8, **turned)  # type: ignore[arg-type]
    else:
        ax.set_xticks(x, labels, fontsize=8)
    ax.set_xticks([], minor=True)
    if fits:
        return "(below: n)" if completed == places["n"].tolist() else "(below: completed / n)"
    if len(set(counts)) == 1:
        return f"n = {counts[0]}"
    text = f"n = {counts[0]} ... {counts[-1]}"
    return text if _inches([text]) <= width else text.replace(" ... ", "\n... ")


def _inches(texts: Sequence[str]) -> float:
    """Return about how wide the widest line of some labels is."""
    return max(len(line) for text in texts for line in text.split("\n")) * CHARACTER_INCHES


def spread(ax: Axes, x: Sequence[float]) -> list[float]:
    """Choose a linear or logarithmic axis for these ascending places; return where they fall.

    The places are returned as shares of the axis.  It is logarithmic where that keeps neighbours
    further apart.
    """
    if len(x) < 2:
        return [0.5 for _ in x]
    linear = [(place - x[0]) / (x[-1] - x[0]) for place in x]
    if x[0] <= 0 or len(x) < 3:
        return linear
    logs = [math.log(place / x[0]) / math.log(x[-1] / x[0]) for place in x]
    if _least_gap(logs) > 1.2 * _least_gap(linear):
        ax.set_xscale("log")
        return logs
    return linear


def _least_gap(places: Sequence[float]) -> float:
    return min(right - left for left, right in pairwise(places))


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


def scale_from_zero(ax: Axes, values: npt.NDArray[np.float64]) -> None:
    """Make the vertical axis logarithmic for what is above zero, with room for zero below."""
    least, most = values[values > 0].min(), values.max()
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    ax.set_yscale("symlog", linthresh=10.0**first, linscale=0.5)
    ticks = [0.0, *(10.0**power for power in range(first, last + 1))]
    ax.set_yticks(ticks, [_plain(tick) for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.set_ylim(-0.3 * 10.0**first, 10.0**last)


def _label_decades(axis: Axis) -> None:
    """Label 1, 2, 5, 10, 20, ... as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))
    axis.set_minor_locator(NullLocator())


def _plain(value: float) -> str:
    """Return a number without an exponent, thousands apart."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def evenly(items: Sequence[ItemT], most: int) -> list[ItemT]:
    """Return at most that many items, the first and the last among them, evenly spaced."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]
