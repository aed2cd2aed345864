"""Two sweeps of the same points compared, point by point and paired by seed."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ckptsim.analysis.answers.series import Seeds, differ
from ckptsim.analysis.statistics import interval, paired_difference
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import amount, plain_number, point_label
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
