"""One to three sentences that answer a sweep's question, with numbers and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ckptsim.analysis.answers import verdicts
from ckptsim.analysis.answers.compare import effects
from ckptsim.analysis.answers.series import (
    Layout,
    Place,
    Series,
    answering,
    differ,
    layout_of,
    missed,
    series_of,
)
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import amount, plain_number, span, with_interval
from ckptsim.scenarios.planning import METRICS, Measure

SERIES_MAX = 6  # of more series the effect of each parameter is reported instead
SEVERAL = 3
_CROSSING = 0.99
_AS_MUCH = {Measure.TIME: "as long", Measure.SIZE: "as large", Measure.SHARE: "as large"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a report opens a sweep with: sentences, and what their numbers stand on.

    headline: one figure and a sentence about it, both empty where no run has a value.  brief: a
    sentence on each metric.
    """

    sentences: tuple[str, ...]
    note: str
    headline: tuple[str, str] = ("", "")
    brief: tuple[str, ...] = ()


def answer(findings: Summaries, layout: Layout | None = None) -> Answer:
    """Return the answer to a sweep's question: of each metric that its plan names a sentence.

    The first metric has two where it has something to say by several parameters.
    """
    layout = layout or layout_of(findings.axes)
    sentences: list[str] = []
    brief: list[str] = []
    used: list[Series] = []
    headline = ("", "")
    for metric in answering(findings):
        series = series_of(findings, metric, layout)
        used += series
        found = _about(metric, series, layout, findings)
        headline = headline if sentences else _headline(metric, series, layout)
        brief += found[:1]
        sentences += found if not sentences else found[:1]
    missing = [f"{_capital(METRICS[one].says)}: no run has a value." for one in missed(findings)]
    return Answer(
        sentences=(*sentences, *missing) if used else (),
        note=_note(used, findings.tie_policies),
        headline=headline,
        brief=tuple(brief),
    )


def _headline(metric: str, series: Sequence[Series], layout: Layout) -> tuple[str, str]:
    """Return the figure that says most about a metric, and a sentence with it.

    It is between series, or along one of them.
    """
    says = METRICS[metric].says
    many = says.split()[0].endswith("s")
    found = verdicts.contrast(*_ends(series)) if len(series) > 1 else None
    along = verdicts.extent_along(_ends(series)) if found is not None else 0
    if found is not None and found.ratios is not None and verdicts.extent(found) >= along:
        low, high = map(plain_number, found.ratios)
        if found.ratios[0] >= _CROSSING and found.clear:
            figure = f"{low} times" if low == high else f"{low} to {high} times"
            verb, as_much = (
                "are" if many else "is",
                _AS_MUCH.get(METRICS[metric].measure, "as many"),
            )
            than = f"with {found.more.label} as with {found.less.label}"
            return figure, f"{_capital(says)} {verb} {figure} {as_much} {than}."
    means = [mean for one in series for mean in one.means]
    figure = span(metric, min(means), max(means))
    first, last = series[0].places[0], series[0].places[-1]
    text = f"{_capital(says)} {'range' if many else 'ranges'} from {figure}"
    if min(means) == max(means):
        text = f"{_capital(says)} {'are' if many else 'is'} always {figure}"
    if layout.along is None or len(series[0].places) == 1:
        return figure, f"{text}."
    return figure, f"{text}, along {layout.along} from {first.shown} to {last.shown}."


def _about(metric: str, series: Sequence[Series], layout: Layout, findings: Summaries) -> list[str]:
    """Return the sentences about a metric, the most telling first."""
    says = _capital(METRICS[metric].says)
    means = [mean for one in series for mean in one.means]
    if min(means) == max(means):
        return [f"{says}: it is always {amount(metric, means[0])}."]
    if len(series) == 1:
        return [f"{says}{_where(series[0], layout)}: {_verdict(metric, series[0], layout)}."]
    if len(series) > SERIES_MAX and len(layout.others) > 1:
        return effects(metric, findings)
    between = _between(metric, series, layout)
    if all(len(one.places) == 1 for one in series):
        return [f"{says}: {between}."]
    along = _along(metric, series, layout)
    ends = _ends(series)
    if verdicts.extent_along(ends) > verdicts.extent(verdicts.contrast(*ends)):
        by = " and ".join(layout.others)
        for one in series:  # a number is reported without the name of its parameter again
            between = between.replace(one.label, one.label.removeprefix(f"{by} "))
        return [f"{says}, along {layout.along}: {along}.", f"By {by}: {between}."]
    return [f"{says}: {between}.", f"Along {layout.along}: {along}."]


def _where(series: Series, layout: Layout) -> str:
    """Return what the values of a single series are of."""
    if layout.along is None or len(series.places) == 1:
        return ""
    return f", along {layout.along}" if layout.is_ordered else f", by {layout.along}"


def _ends(series: Sequence[Series]) -> tuple[Series, Series]:
    """Return the series with the least and the one with the greatest mean."""
    ranked = sorted(series, key=lambda one: sum(one.means) / len(one.means))
    return ranked[0], ranked[-1]


def _between(metric: str, series: Sequence[Series], layout: Layout) -> str:
    """Return how the series differ, place by place."""
    found = verdicts.contrast(*_ends(series))
    if found is None:
        return f"it is {', '.join(_with(metric, one) for one in series)}"
    never = [one for one in series if not any(any(p.seeds.values()) for p in one.places)]
    if never and len(never) < len(series):
        rest = ", ".join(_with(metric, one) for one in series if one not in never)
        return f"it is {amount(metric, 0)} in every run with {_listed(never)}, and {rest}"
    if found.clear == 0:
        every = [mean for one in series for mean in one.means]
        several = f"the {len(series)} values of {' and '.join(layout.others)}"
        whom = several if len(series) >= SEVERAL else " and ".join(one.label for one in series)
        depends = any(not isinstance(verdicts.judge(one), verdicts.Flat) for one in series)
        on = f", but depends on {layout.along}" if depends else ""
        return f"it does not differ beyond noise between {whom} ({_whole_span(metric, every)}){on}"
    less, more = (f"{one.label} ({_span(metric, one)})" for one in (found.less, found.more))
    if found.ratios is not None and found.ratios[0] < _CROSSING:
        both = " and ".join(_with(metric, one) for one in (found.less, found.more))
        return f"it is {both}{_times(found, layout)}"
    if len(series) < SEVERAL:
        return f"it is less with {less} than with {more}{_times(found, layout)}"
    return f"it is least with {less}, most with {more}{_times(found, layout)}{_alike(series)}"


def _with(metric: str, series: Series) -> str:
    return f"{_span(metric, series)} with {series.label}"


def _listed(series: Sequence[Series]) -> str:
    *first, last = (one.label for one in series)
    return f"{', '.join(first)} and {last}" if first else last


def _times(found: verdicts.Contrast, layout: Layout) -> str:
    """Return how many times the one series is the other, and where that is clear."""
    text = ""
    if found.ratios is not None:
        low, high = found.ratios
        if low < _CROSSING:
            text = f": which is less depends on {layout.along}"
        elif plain_number(low) == plain_number(high):
            text = f": {plain_number(low)} times"
        else:
            text = f": {plain_number(low)} to {plain_number(high)} times"
    if found.clear < found.of:
        text += f" (beyond noise at {found.clear} of {found.of} values)"
    return text


def _alike(series: Sequence[Series]) -> str:
    """Return which of several series do not differ from the least one anywhere."""
    least, *others = sorted(series, key=lambda one: sum(one.means) / len(one.means))
    alike = [least.label]
    for other in others:
        found = verdicts.contrast(least, other)
        if found is not None and found.clear == 0:
            alike.append(other.label)
    if len(alike) == 1:
        return ""
    return f"; {', '.join(alike[:-1])} and {alike[-1]} do not differ beyond noise"


def _along(metric: str, series: Sequence[Series], layout: Layout) -> str:
    """Return what the metric does along the swept parameter, in the least and greatest series."""
    told = [_verdict(metric, one, layout) for one in _ends(series)]
    if told[0] == told[1]:
        return told[0]
    names = [one.label for one in _ends(series)]
    return "; ".join(f"with {name} it {text}" for name, text in zip(names, told, strict=True))


def _verdict(metric: str, series: Series, layout: Layout) -> str:
    """Return in words what a metric does along a series."""
    if len(series.places) == 1:
        return f"it is {_mean(metric, series.places[0])}"
    if not layout.is_ordered:
        return _ranking(metric, series)
    found = verdicts.judge(series)
    if isinstance(found, verdicts.Flat):
        if found.low == found.high:
            return f"is always {amount(metric, found.low)}"
        return f"does not change beyond noise ({span(metric, found.low, found.high)})"
    if isinstance(found, verdicts.Uneven):
        return f"goes up and down ({span(metric, found.low, found.high)}), its ends are alike"
    if isinstance(found, verdicts.Turn):
        kind = "least" if found.is_least else "greatest"
        ends = " and ".join(
            f"{amount(metric, end.mean.mean)} at {end.shown}" for end in (found.first, found.last)
        )
        return f"is {kind} at {found.best.shown} with {_mean(metric, found.best)}, against {ends}"
    return _change(metric, found)


def _change(metric: str, found: verdicts.Change) -> str:
    first, last = found.first.mean.mean, found.last.mean.mean
    if found.is_slight:
        return f"changes by less than 5 % ({span(metric, *sorted((first, last)))})"
    ends = (
        f"from {_mean(metric, found.first)} at {found.first.shown} "
        f"to {_mean(metric, found.last)} at {found.last.shown}"
    )
    verb = "rises" if last > first else "falls"
    times = f", {plain_number(max(first, last) / min(first, last))} times" if first * last else ""
    cliff = ""
    if found.cliff is not None:
        cliff = f", with a cliff between {found.cliff[0].shown} and {found.cliff[1].shown}"
    return f"{verb} {ends}{times}{cliff}"


def _ranking(metric: str, series: Series) -> str:
    """Return the least and the greatest place of a series of words."""
    ranked = sorted(series.places, key=lambda place: place.mean.mean)
    low, high = ranked[0], ranked[-1]
    pairs = len(ranked) * (len(ranked) - 1) // 2
    if low.mean.mean == high.mean.mean:
        return f"is always {amount(metric, low.mean.mean)}"
    if not differ(low.seeds, high.seeds, comparisons=pairs):
        return f"does not change beyond noise ({_span(metric, series)})"
    least, most = (_others(one, ranked) for one in (low, high))
    return (
        f"is least with {low.shown}{least}, {_mean(metric, low)}, "
        f"greatest with {high.shown}{most}, {_mean(metric, high)}"
    )


def _others(one: Place, places: Sequence[Place]) -> str:
    """Return how many other places have the very mean of one."""
    count = sum(place.mean.mean == one.mean.mean for place in places) - 1
    return f" and {count} other{'s' * (count > 1)}" if count else ""


def _mean(metric: str, place: Place) -> str:
    return with_interval(metric, place.mean.mean, place.mean.low, place.mean.high)


def _whole_span(metric: str, means: Sequence[float]) -> str:
    return span(metric, min(means), max(means))


def _span(metric: str, series: Series) -> str:
    return _whole_span(metric, series.means)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _note(series: Sequence[Series], tie_policies: int) -> str:
    """Return what the numbers stand on: how many seeds, and whether there are intervals."""
    counts = [place.mean.n for one in series for place in one.places]
    if not counts:
        return "No run has a value to answer with."
    low, high = min(counts), max(counts)
    of_each = ""
    if tie_policies > 1:
        of_each = f" (of each the mean of its runs under {tie_policies} tie policies)"
    if high == 1:
        return (
            f"One seed per point{of_each}: there are no intervals, values are compared as they are."
        )
    seeds = f"{low}" if low == high else f"{low} to {high}"
    return (
        f"Means over {seeds} seeds per point{of_each}; in brackets and as bars their 95 % Student "
        "intervals; points are compared in pairs by seed."
    )
