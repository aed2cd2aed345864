"""Sets of record positions as half-open intervals: the arithmetic of the ground truth."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import TypeAlias

# Disjoint half-open intervals, ascending, none adjacent to the next.
Intervals: TypeAlias = tuple[tuple[int, int], ...]


class IntervalSet:
    """A growing set of positions. Adding an interval that touches others joins them."""

    __slots__ = ("_bounds",)

    def __init__(self, intervals: Iterable[tuple[int, int]] = ()) -> None:
        self._bounds: list[int] = []  # low, high, low, high, ... strictly ascending
        for low, high in intervals:
            self.add(low, high)

    def add(self, low: int, high: int) -> None:
        """Add the positions low <= p < high. An empty interval adds nothing."""
        if low >= high:
            return
        bounds = self._bounds
        first = bisect_left(bounds, low)
        last = bisect_right(bounds, high)
        # An even place is outside every interval, so that end of the new one is a new bound.
        new = [low] if first % 2 == 0 else []
        if last % 2 == 0:
            new.append(high)
        bounds[first:last] = new

    def update(self, intervals: Iterable[tuple[int, int]]) -> None:
        """Add all positions of the intervals."""
        for low, high in intervals:
            self.add(low, high)

    def covers(self, low: int, high: int) -> bool:
        """Return whether every position low <= p < high is in the set."""
        if low >= high:
            return True
        place = bisect_right(self._bounds, low)
        return place % 2 == 1 and self._bounds[place] >= high

    def covers_all(self, intervals: Iterable[tuple[int, int]]) -> bool:
        """Return whether every position of the intervals is in the set."""
        return all(self.covers(low, high) for low, high in intervals)

    def missing(self, low: int, high: int) -> Intervals:
        """Return the positions low <= p < high that are not in the set."""
        gaps: list[tuple[int, int]] = []
        at = low
        for start, end in self.intervals():
            if end <= at:
                continue
            if start >= high:
                break
            if start > at:
                gaps.append((at, start))
            at = end
        if at < high:
            gaps.append((at, high))
        return tuple(gaps)

    def intervals(self) -> Intervals:
        """Return the set as intervals."""
        bounds = self._bounds
        return tuple(zip(bounds[::2], bounds[1::2], strict=True))

    def count(self) -> int:
        """Return how many positions the set has."""
        return sum(self._bounds[1::2]) - sum(self._bounds[::2])


def size(intervals: Iterable[tuple[int, int]]) -> int:
    """Return how many positions disjoint intervals have."""
    return sum(high - low for low, high in intervals)


def shown(intervals: Iterable[tuple[int, int]]) -> str:
    """Return intervals in words of positions, both ends included: `0-49, 100-149`."""
    return ", ".join(f"{low}-{high - 1}" for low, high in intervals) or "none"


def first_missing(missing: Callable[[int, int], Intervals], claims: Intervals) -> tuple[int, int]:
    """Return the first run of positions that is claimed and missing."""
    return next(gap for low, high in claims for gap in missing(low, high))
