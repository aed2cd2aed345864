"""What a metric does along a swept parameter, judged against noise.

A verdict is a fact with the places that show it. `sentences` puts it into words.  A difference
counts only where the paired interval excludes zero. With one replication values are compared as
they are, because there is no interval to judge by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from ckptsim.analysis.answers.series import Place, Series, differ

SLIGHT = 1.05  # less than five per cent from end to end is called a slight change.
CLIFF = 2.0  # a step of at least so many times,
CLIFF_SHARE = 0.6  # which makes up most of the change,
STEEP = 2.0  # and is steeper than the square of the swept parameter, is a cliff.
LEAST_PLACES = 4
TURN = SLIGHT  # an optimum is where both ends are at least that far away


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """No two places differ by more than noise."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The metric rises or falls from the first place to the last.

    cliff: the two places between which most of the change happens, if they are neighbours.
    is_slight: whether it is less than some per cent.
    """

    first: Place
    last: Place
    cliff: tuple[Place, Place] | None
    is_slight: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Uneven:
    """Some places differ by more than noise, but the ends do not, and no place is an optimum."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The metric has its least or its greatest value between the ends."""

    best: Place
    first: Place
    last: Place
    is_least: bool


Verdict = Flat | Uneven | Change | Turn


def judge(series: Series) -> Verdict:
    """Return what a metric does along a series of at least one place."""
    places = series.places
    pairs = list(combinations(places, 2))
    # The ends are compared as planned. Other pairs are a search, in which each has to show more.
    apart = differ(places[0].seeds, places[-1].seeds)
    if not apart and not any(differ(a.seeds, b.seeds, comparisons=len(pairs)) for a, b in pairs):
        return Flat(low=min(series.means), high=max(series.means))
    first, last = places[0], places[-1]
    for is_least in (True, False):
        best = (min if is_least else max)(places, key=lambda place: place.mean.mean)
        if _turns(best, (first, last), is_least=is_least):
            return Turn(best=best, first=first, last=last, is_least=is_least)
    low, high = min(series.means), max(series.means)
    is_slight = low > 0 and high / low < SLIGHT
    if not apart and not is_slight:
        return Uneven(low=low, high=high)
    return Change(first=first, last=last, cliff=_cliff(places), is_slight=is_slight)


def _turns(best: Place, ends: Sequence[Place], *, is_least: bool) -> bool:
    """Return whether both ends are clearly worse (or better) than a place between them."""
    for end in ends:
        low, high = sorted((best.mean.mean, end.mean.mean))
        clear = low == 0 < high or (low > 0 and high / low >= TURN)
        right_way = (end.mean.mean > best.mean.mean) == is_least
        if best is end or not clear or not right_way:
            return False
        if not differ(best.seeds, end.seeds, comparisons=2):
            return False
    return True


def _cliff(places: Sequence[Place]) -> tuple[Place, Place] | None:
    """Return the neighbours between which most of a change happens. None for a gradual one.

    Changes are measured as ratios, and against the ratio of the swept values: that a metric doubles
    where the parameter doubles is no cliff.
    """
    if len(places) < LEAST_PLACES or any(place.mean.mean <= 0 for place in places):
        return None
    logs = [math.log(place.mean.mean) for place in places]
    steps = [abs(after - before) for before, after in pairwise(logs)]
    index = max(range(len(steps)), key=lambda index: steps[index])
    before, after = places[index], places[index + 1]
    numbers = (before.number, after.number)
    along = 0.0
    if numbers[0] and numbers[1] and min(numbers[0], numbers[1]) > 0:
        along = abs(math.log(numbers[1] / numbers[0]))
    steep = steps[index] >= math.log(CLIFF) and steps[index] >= STEEP * along
    most = steps[index] >= CLIFF_SHARE * abs(logs[-1] - logs[0])
    return (before, after) if steep and most else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two series place by place: how many times the one is the other.

    ratios: least and greatest. Empty where one of them is zero somewhere.
    clear: at how many of the places they differ by more than noise.
    """

    less: Series
    more: Series
    ratios: tuple[float, float] | None
    clear: int
    of: int


def contrast(one: Series, other: Series) -> Contrast | None:
    """Return how two series differ where both have a place. None where they have none in common."""
    others = {place.shown: place for place in other.places}
    pairs = [(place, others[place.shown]) for place in one.places if place.shown in others]
    if not pairs:
        return None
    clear = sum(differ(a.seeds, b.seeds, comparisons=len(pairs)) for a, b in pairs)
    if sum(a.mean.mean for a, _ in pairs) > sum(b.mean.mean for _, b in pairs):
        one, other = other, one
        pairs = [(b, a) for a, b in pairs]
    known = all(a.mean.mean > 0 and b.mean.mean > 0 for a, b in pairs)
    found = sorted(b.mean.mean / a.mean.mean for a, b in pairs) if known else []
    ratios = (found[0], found[-1]) if found else None
    return Contrast(less=one, more=other, ratios=ratios, clear=clear, of=len(pairs))


def extent(found: Contrast | None) -> float:
    """Return how many times apart two series are at most. 1 where it is not clear anywhere."""
    if found is None or found.clear == 0:
        return 1.0
    if found.ratios is None:
        return math.inf
    return max(found.ratios[1], 1 / found.ratios[0])


def extent_along(series: Sequence[Series]) -> float:
    """Return how many times the metric changes at most along one of these series."""
    found = 1.0
    for one in series:
        low, high = min(one.means), max(one.means)
        if not isinstance(judge(one), Flat):
            found = max(found, high / low if low > 0 else math.inf)
    return found
