"""Two sweeps compared point by point, and one parameter at a time, all others being equal."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from ckptsim.analysis.answers.series import Seeds, differ
from ckptsim.analysis.statistics import interval, paired_difference
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import amount, plain_number, point_label, span
from ckptsim.scenarios.planning import METRICS


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How a metric differs between two sweeps.

    table: one row per common point with the columns of `differences`, `one minus other`.
    only_here, only_there: how many points the other sweep does not have.
    """

    metric: str
    sentence: str
    table: pd.DataFrame
    only_here: int
    only_there: int


def compare(one: Summaries, other: Summaries, metric: str) -> Comparison:
    """Return how a metric of one sweep differs from the one of another at the points of both."""
    here, there = one.replications[metric], other.replications[metric]
    common = [key for key in _keys(one) if key in here and key in there]
    rows, clear = [], []
    for key in common:
        paired = paired_difference(here[key], there[key])
        if paired is None:
            continue
        found = paired.difference
        ratio = _ratio(here[key], there[key])
        if differ(here[key], there[key], comparisons=len(common)):
            clear.append((ratio, key, interval(list(here[key].values())).mean,
                          interval(list(there[key].values())).mean))  # fmt: skip
        bounds = (found.mean, found.low, found.high)
        rows.append((*key, metric, found.n, paired.unpaired, *bounds))
    columns = ["scenario", "parameters", "metric", "n", "unpaired", "mean", "low", "high"]
    says = METRICS[metric].says
    text = f"{says[:1].upper()}{says[1:]}: "
    if not rows:
        text += "no point of both has a seed in common."
    elif not clear:
        text += f"it does not differ beyond noise at any of {len(rows)} points."
    else:
        ratio, key, mine, theirs = max(clear, key=lambda entry: abs(entry[0] - 1))
        times = f", {plain_number(ratio)} times" if ratio else ""
        where = point_label(key[1], one.axes) or key[0]
        text += (
            f"it differs beyond noise at {len(clear)} of {len(rows)} points, most at {where}: "
            f"{amount(metric, mine)} against {amount(metric, theirs)}{times}."
        )
    return Comparison(
        metric=metric,
        sentence=text,
        table=pd.DataFrame(rows, columns=columns),
        only_here=len(set(_keys(one)) - set(_keys(other))),
        only_there=len(set(_keys(other)) - set(_keys(one))),
    )


def _keys(findings: Summaries) -> list[tuple[str, str]]:
    return [(point["scenario"], point["parameters"]) for point in findings.points]


def _ratio(here: Seeds, there: Seeds) -> float:
    """Return how many times the one mean is the other. 0 where that has no meaning."""
    means = [interval(list(seeds.values())).mean for seeds in (here, there)]
    return means[0] / means[1] if means[1] else 0.0


def effects(metric: str, findings: Summaries) -> list[str]:
    """Return two sentences: the range of a metric with what makes it, and what makes none of it."""
    says = METRICS[metric].says
    values = findings.replications[metric]
    means = [interval(list(seeds.values())).mean for seeds in values.values()]
    made: list[tuple[float, str]] = []
    idle: list[str] = []
    for name in findings.axes:
        ratios, clear = _effect(findings, metric, name)
        if clear:
            made.append((max(ratios), f"{name}{_times(ratios)}"))
        elif ratios:
            idle.append(name)
    made.sort(key=lambda entry: -entry[0])
    found = f"{_capital(says)}: it is {span(metric, min(means), max(means))}"
    if made:
        found += ", which comes from " + ", ".join(text for _, text in made)
    sentences = [f"{found}."]
    if idle:
        verb = "makes" if len(idle) == 1 else "make"
        named = f"{', '.join(idle[:-1])} and {idle[-1]}" if idle[1:] else idle[0]
        sentences.append(f"{_capital(named)} {verb} no difference beyond noise.")
    return sentences


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _times(ratios: list[float]) -> str:
    """Return the ratios in words. None where the metric is zero somewhere."""
    if math.inf in ratios:
        return ""
    low, high = plain_number(min(ratios)), plain_number(max(ratios))
    return f" {low} times" if low == high else f" {low} to {high} times"


def _effect(findings: Summaries, metric: str, name: str) -> tuple[list[float], bool]:
    """Return how many times the metric is from the least to the greatest value of a parameter.

    There is one ratio for each combination of the others, infinite where the least is zero, and
    whether any of them is clear.
    """
    groups: dict[str, list[Seeds]] = {}
    for (_, parameters), seeds in findings.replications[metric].items():
        rest = {key: value for key, value in json.loads(parameters).items() if key != name}
        groups.setdefault(json.dumps(rest), []).append(seeds)
    ratios: list[float] = []
    clear = False
    for group in groups.values():
        means = [interval(list(seeds.values())).mean for seeds in group]
        if len(group) < 2 or min(means) < 0:
            continue
        apart = max(means) / min(means) if min(means) else math.inf
        ratios.append(apart if max(means) else 1.0)
        pairs = list(combinations(group, 2))
        clear |= any(differ(a, b, comparisons=len(pairs)) for a, b in pairs)
    return ratios, clear
