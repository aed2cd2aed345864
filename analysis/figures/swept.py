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

from ckptsim.analysis.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

ItemT = TypeVar("ItemT")
CHARACTER_INCHES = 0.085  # of a tick label, with some room
_DECADES_IN_PARTS = 2000
_MANY = 8  # labels
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
    shown = [str(value) for value in given]
    return kept.assign(x=numbers, shown=shown, word=words)


def label_swept(ax: Axes, panel: pd.DataFrame, *, width: float) -> str:
    """Put a tick at every swept place. Return the sentences about counts and scale.

    panel: rows with `x`, `shown`, `n` and, where some are censored, `completed`. width: inches that
    the axis has.  Counts that differ stand below the ticks, or in the returned text where they
    would overlap.
    """
    places = panel.drop_duplicates("x").sort_values("x")
    x = places["x"].tolist()
    shown = places["shown"].tolist()
    is_word = bool(places["word"].any())
    if is_word:
        shown = _told_apart(shown)
    position = [0.5 for _ in x] if is_word else spread(ax, x)
    if is_word and len(x) > 1:
        position = [(place - x[0]) / (x[-1] - x[0]) for place in x]
    completed = (places["completed"] if "completed" in places else places["n"]).tolist()
    n = places["n"].tolist()
    counts = [f"{a:,}" if a == b else f"{a:,} / {b:,}" for a, b in zip(completed, n, strict=True)]
    # A few words stand apart from the edges. Many need the whole width.
    margin = min(0.3, 1 / len(x)) if is_word else 0.08
    ax.margins(x=margin)
    gap = min((right - left for left, right in pairwise(position)), default=1.0)
    gap *= width / (1 + 2 * margin)
    if is_word and _inches(shown) > gap:
        shown = [word.replace(" ", "\n") for word in shown]
    tilted = len(shown) > 1 and _inches(shown) > gap
    if tilted and not is_word:
        x, shown, tilted = _thinned(x, shown, position, gap=width / (1 + 2 * margin))
    below = len(set(counts)) > 1 and _inches(counts) <= gap and len(x) == len(counts)
    if tilted:
        labels = [text.replace("\n", " ") for text in shown]
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(x, labels, fontsize=8, **turned)  # type: ignore[arg-type]
    else:
        labels = [f"{a}\n{b}" for a, b in zip(shown, counts, strict=True)] if below else shown
        ax.set_xticks(x, labels, fontsize=8)
    ax.set_xticks([], minor=True)
    logarithmic = ", log scale" if ax.get_xscale() == "log" else ""
    if below and not tilted:
        kind = "n" if completed == n else "completed / n"
        return f"(below: {kind}{logarithmic})"
    if len(set(counts)) == 1:
        return f"(n = {counts[0]}{logarithmic})"
    few, many = min(n), max(n)
    return f"(n = {few:,} to {many:,}{logarithmic})"


def _told_apart(words: list[str]) -> list[str]:
    """Leave out the first words of labels where all of many begin alike."""
    if len(words) < _MANY:
        return words
    split = [word.split(" ") for word in words]
    alike = 0
    while len({tuple(one[: alike + 1]) for one in split}) == 1 < min(map(len, split)) - alike:
        alike += 1
    return [" ".join(one[alike:]) for one in split]


def _thinned(
    x: list[float], shown: list[str], position: Sequence[float], *, gap: float
) -> tuple[list[float], list[str], bool]:
    """Leave labels of numbers out where they would overlap. The last of the three is `tilted`."""
    kept = [0]
    for index in range(1, len(x)):
        room = _inches([shown[kept[-1]], shown[index]]) / gap
        if position[index] - position[kept[-1]] >= room:
            kept.append(index)
    return [x[index] for index in kept], [shown[index] for index in kept], False


def _inches(texts: Sequence[str]) -> float:
    """Return about how wide the widest line of some labels is."""
    return max(len(line) for text in texts for line in text.split("\n")) * CHARACTER_INCHES


def spread(ax: Axes, x: Sequence[float]) -> list[float]:
    """Choose a linear or logarithmic axis for these ascending places. Return where they fall.

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


def scale_axis(ax: Axes, values: npt.NDArray[np.float64], *, vertical: bool = False) -> str:
    """Make an axis logarithmic when its values span far, else let it begin at zero.

    Called when all is drawn.  Returns what the axis's title says of it: that it is logarithmic, or
    nothing.
    """
    positive = values[np.isfinite(values) & (values > 0)]
    far = spans_far(values)
    axis = ax.yaxis if vertical else ax.xaxis
    if far and vertical and (values == 0).any():
        _scale_from_zero(ax, positive)
        return ", log scale above 0"
    if far:
        (ax.set_yscale if vertical else ax.set_xscale)("log")
        _label_decades(axis)
        return ", log scale"
    axis.set_major_formatter(lambda value, _: _plain(value))
    (ax.set_ylim if vertical else ax.set_xlim)(0, None)
    if not len(positive):  # all values are zero: there is nothing to scale by
        (ax.set_ylim if vertical else ax.set_xlim)(0, 1)
    return ""


def spans_far(values: npt.NDArray[np.float64]) -> bool:
    """Return whether values above zero span so far that their axis is logarithmic."""
    positive = values[np.isfinite(values) & (values > 0)]
    return len(positive) > 0 and bool(positive.max() / positive.min() >= LOG_RATIO)


def _scale_from_zero(ax: Axes, positive: npt.NDArray[np.float64]) -> None:
    """Make the vertical axis logarithmic above zero, with room for zero below.

    It reaches to the top of all that is drawn, so of intervals, too.
    """
    top = max(float(positive.max()), ax.dataLim.y1)
    first = math.floor(math.log10(positive.min()))
    last = math.ceil(math.log10(top))
    ax.set_yscale("symlog", linthresh=10.0**first, linscale=0.5)
    step = -(-(last - first) // 6)
    ticks = [0.0, *(10.0**power for power in range(first, last + 1, step))]
    ax.set_yticks(ticks, [_plain(tick) for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.set_ylim(-0.3 * 10.0**first, 1.3 * top)


def _label_decades(axis: Axis) -> None:
    """Label 1, 2, 5, 10, 20, ... as plain numbers. Of many decades the powers of ten."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axis.get_data_interval()
    few = low > 0 and high / low < _DECADES_IN_PARTS
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_major_formatter(lambda value, _: _plain(value))
    axis.set_minor_locator(NullLocator())


def _plain(value: float) -> str:
    """Return a number without an exponent, thousands apart."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def evenly(items: Sequence[ItemT], most: int) -> list[ItemT]:
    """Return at most that many items, the first and the last among them, evenly spaced."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]
