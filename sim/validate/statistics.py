"""Statistics of one run as Flink's measurements have them, and the middle of several seeds.

Percentiles interpolate linearly, the deviation is the sample's.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

Stats = dict[str, float]


def stats(values: Sequence[float]) -> Stats:
    """Return n, median, percentiles, mean, deviation, least and largest. Only n when empty."""
    if not values:
        return {"n": 0}
    ordered = sorted(values)
    return {
        "n": len(ordered),
        "median": round(quantile(ordered, 0.5), 3),
        "p95": round(quantile(ordered, 0.95), 3),
        "p99": round(quantile(ordered, 0.99), 3),
        "mean": round(statistics.fmean(ordered), 3),
        "sd": round(_deviation(ordered), 3),
        "min": round(ordered[0], 3),
        "max": round(ordered[-1], 3),
    }


def _deviation(values: Sequence[float]) -> float:
    """Return the sample's standard deviation, 0 of a single value.

    In doubles: `statistics.stdev` adds fractions, thirty times slower for digits that are rounded.
    """
    mean = statistics.fmean(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return math.sqrt(squares / max(1, len(values) - 1))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of ascending values, between neighbours by linear interpolation."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def middle(found: Sequence[Any]) -> Any:
    """Merge equal-shaped results of several seeds: the median of every number, key by key.

    Where lists differ in length, or values are no numbers, the first result is.
    """
    first = found[0]
    if isinstance(first, Mapping):
        return {key: middle([other[key] for other in found if key in other]) for key in first}
    if isinstance(first, list):
        if any(len(other) != len(first) for other in found):
            return first
        return [middle(items) for items in zip(*found, strict=True)]
    if isinstance(first, bool) or not all(isinstance(other, int | float) for other in found):
        return first
    value = statistics.median(found)
    return round(value) if all(isinstance(other, int) for other in found) else round(value, 3)


def correlation(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return Pearson's correlation, 0 where either side does not vary."""
    if len(ours) < 2 or len(set(ours)) == 1 or len(set(theirs)) == 1:
        return 0.0
    return statistics.correlation(ours, theirs)


def usual(found: Sequence[Any], kinds: Sequence[object]) -> list[Any]:
    """Return the results of the most frequent kind. Of equally frequent, the first.

    kinds: one per result, comparable with `==`.
    """
    counts = [kinds.count(kind) for kind in kinds]
    wanted = kinds[counts.index(max(counts))]
    return [result for result, kind in zip(found, kinds, strict=True) if kind == wanted]
