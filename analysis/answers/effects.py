"""What each of several swept parameters does by itself, all others being equal."""

from __future__ import annotations

import json
import math
from itertools import combinations

from ckptsim.analysis.answers.series import Seeds, differ
from ckptsim.analysis.statistics import interval
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import plain_number, span
from ckptsim.scenarios.planning import METRICS


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
