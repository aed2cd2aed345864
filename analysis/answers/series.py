"""A metric laid out along one swept parameter: one series per combination of the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ckptsim.analysis.statistics import Interval, interval, paired_difference
from ckptsim.analysis.summaries import Point, Summaries
from ckptsim.analysis.words import number, point_label
from ckptsim.scenarios.planning import METRICS

Seeds = Mapping[int, float]
FALLBACK = ("median_latency_ns", "ended_ns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One point on a series: its swept value, as a number where it is one, and its replications."""

    shown: str
    number: float | None
    seeds: Seeds
    mean: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The places of one combination of the other parameters, ascending where they are numbers."""

    label: str
    places: tuple[Place, ...]

    @property
    def means(self) -> list[float]:
        """The means of the places."""
        return [place.mean.mean for place in self.places]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a metric is laid out along, and what distinguish its series.

    is_ordered: whether the values along are numbers, so that a series has a direction.
    """

    along: str | None
    others: tuple[str, ...]
    is_ordered: bool


def layout_of(axes: Mapping[str, Sequence[str]], by: str | None = None) -> Layout:
    """Return how the points of a sweep are laid out: along the parameter with most numbers.

    axes: swept values in words, by name. by: the parameter to lay them along, if one is wanted.
    """
    counts = {name: _distinct_numbers(values) for name, values in axes.items()}
    longest = max(counts, key=lambda name: counts[name], default=None)
    if by is not None:
        along: str | None = by
    elif longest is not None and counts[longest] > 1:
        along = longest
    else:
        along = next((name for name, values in axes.items() if len(set(values)) > 1), longest)
    others = tuple(name for name, values in axes.items() if name != along and len(set(values)) > 1)
    return Layout(along=along, others=others, is_ordered=along is not None and counts[along] > 1)


def _distinct_numbers(values: Sequence[str]) -> int:
    """Return how many different numbers some values are. 0 where one is a word."""
    found = [number(value) for value in values]
    return 0 if None in found else len(set(found))


def answering(findings: Summaries) -> list[str]:
    """Return the metrics that answer a sweep's question, those that some run has."""
    known = [name for name in _declared(findings) if findings.replications.get(name)]
    return known or [name for name in FALLBACK if findings.replications.get(name)][:1]


def missed(findings: Summaries) -> list[str]:
    """Return the metrics that were to answer a sweep's question, and that no run has."""
    return [name for name in _declared(findings) if not findings.replications.get(name)]


def _declared(findings: Summaries) -> list[str]:
    return [str(name) for name in findings.about.get("answers", ())]


def series_of(findings: Summaries, metric: str, layout: Layout) -> list[Series]:
    """Return the series of a metric in the order of the points. Places without a value are out.

    Raises KeyError for a metric that does not exist.
    """
    if metric not in METRICS:
        raise KeyError(metric)
    found: dict[str, list[Place]] = {}
    for point in findings.points:
        key: Point = (point["scenario"], point["parameters"])
        seeds = findings.replications[metric].get(key)
        if not seeds:
            continue
        values = json.loads(point["parameters"])
        shown = str(values.get(layout.along, ""))
        label = point_label(point["parameters"], layout.others)
        mean = interval(list(seeds.values()))
        mean = mean.within(0.0, 1.0) if METRICS[metric].of_whole else mean
        place = Place(shown=shown, number=number(shown), seeds=seeds, mean=mean)
        found.setdefault(label, []).append(place)
    if layout.is_ordered:
        for places in found.values():
            places.sort(key=lambda place: place.number or 0.0)
    return [Series(label=label, places=tuple(places)) for label, places in found.items()]


def differ(one: Seeds, other: Seeds, *, comparisons: int = 1) -> bool:
    """Return whether two points differ by more than noise: the interval of differences has no zero.

    Pairs are by seed where both have the same, else the two intervals must be apart.  Of several
    comparisons each is judged more strictly, so that one of twenty does not stand out by chance.
    Source: C. E. Bonferroni, Teoria statistica delle classi e calcolo delle probabilità (1936).
    """
    confidence = 1 - 0.05 / max(1, comparisons)
    paired = paired_difference(one, other, confidence=confidence)
    if paired is None or paired.difference.n < 2:
        first, second = (interval(list(seeds.values())) for seeds in (one, other))
        return first.mean != second.mean
    return not paired.difference.low <= 0 <= paired.difference.high
