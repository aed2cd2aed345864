"""Cliffs: where a metric jumps between neighbouring points, and the phase that grew there.

A jump compares means over seeds and counts only beyond noise.  Its cause is read from the phases of
both points. They are a frame with the columns of a point, `n`, one column per phase in ns over `n`
checkpoints, and `duration_ns`.  Functions of frames alone: anyone who knows causes better hands
over other frames.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pandas as pd

from ckptsim.analysis.answers.series import Seeds, answering, differ
from ckptsim.analysis.statistics import interval
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import amount, number, plain_number, point_label, time_in_words
from ckptsim.scenarios.planning import METRICS

CLIFF = 3.0  # neighbours that are more than so many times apart
CLIFFS_MAX = 3  # of so many the cause is reported
_ALL = 0.995  # of a difference: from here on it is all of it
DURATIONS = ("median_latency_ns", "p95_latency_ns", "longest_latency_ns", "start_delay_ns")
RECOVERIES = ("recovery_ns", "downtime_ns", "catch_up_ns", "peak_latency_ns")
_OF_RECOVERIES = {
    "recovery_detected_ns": "detection",
    "recovery_restart_ns": "restart delay",
    "recovery_read_ns": "restore",
    "recovery_first_record_ns": "time to the first record",
    "recovery_catch_up_ns": "catch-up",
}
_FIXED = ("scenario", "parameters", "n", "duration_ns")
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """Two neighbouring points along an axis at which a metric differs by more than CLIFF times.

    at: the values of the other axes in words.  low, high: the means at `less` and `more`, the keys
    of the points. from_value, to_value: their values along the axis.  others: at how many more
    values of the other axes the same step is one.
    """

    metric: str
    axis: str
    at: str
    from_value: str
    to_value: str
    less: Key
    more: Key
    low: float
    high: float
    others: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The phase that grew most from one point to another, in the mean, and its part of that."""

    phase: str
    before_ns: float
    after_ns: float
    share: float


def jumps(findings: Summaries) -> list[Jump]:
    """Return the cliffs of the metrics that answer a sweep's question, the highest first."""
    found: list[Jump] = []
    for metric in answering(findings):
        steps: dict[tuple[str, str, str], list[Jump]] = {}
        for jump in _all_jumps(findings, metric):
            steps.setdefault((jump.axis, jump.from_value, jump.to_value), []).append(jump)
        for same in steps.values():
            highest = max(same, key=_height)
            found.append(replace(highest, others=len(same) - 1))
    return sorted(found, key=_height, reverse=True)[:CLIFFS_MAX]


def _height(jump: Jump) -> float:
    return jump.high / jump.low


def _all_jumps(findings: Summaries, metric: str) -> Iterator[Jump]:
    values = findings.replications[metric]
    pairs = [pair for axis in findings.axes for pair in _neighbours(findings, axis, values)]
    for axis, rest, one, other in pairs:
        means = [interval(list(values[key].values())).mean for key in (one[1], other[1])]
        (low, less), (high, more) = sorted(zip(means, (one, other), strict=True))
        if low > 0 and high > CLIFF * low and differ(values[one[1]], values[other[1]]):
            yield Jump(
                metric=metric,
                axis=axis,
                at=rest,
                from_value=less[0],
                to_value=more[0],
                less=less[1],
                more=more[1],
                low=low,
                high=high,
            )


def _neighbours(
    findings: Summaries, axis: str, values: Mapping[Key, Seeds]
) -> list[tuple[str, str, tuple[str, Key], tuple[str, Key]]]:
    """Return pairs of points that differ by one step along an axis, each with its value there.

    Numbers are in ascending order, words in the one of the plan.
    """
    order = list(findings.axes[axis])
    numbers = [number(value) for value in order]
    if None not in numbers:
        order.sort(key=lambda value: number(value) or 0.0)
    others = [name for name, known in findings.axes.items() if name != axis and len(known) > 1]
    groups: dict[str, list[tuple[str, Key]]] = {}
    for point in findings.points:
        key = (point["scenario"], point["parameters"])
        swept = json.loads(point["parameters"])
        if key in values and axis in swept:
            rest = point_label(point["parameters"], others)
            groups.setdefault(rest, []).append((str(swept[axis]), key))
    return [
        (axis, rest, one, other)
        for rest, group in groups.items()
        for one, other in pairwise(sorted(group, key=lambda found: order.index(found[0])))
    ]


def cause(jump: Jump, phases: pd.DataFrame) -> Cause | None:
    """Return the phase that grew most at a cliff. None where no phases are known of it."""
    rows = {(row["scenario"], row["parameters"]): row for row in phases.to_dict("records")}
    if jump.less not in rows or jump.more not in rows:
        return None
    before, after = rows[jump.less], rows[jump.more]
    means = {
        str(name): (before[name] / before["n"], after[name] / after["n"])
        for name in phases.columns
        if name not in _FIXED
    }
    known = {name: pair for name, pair in means.items() if not any(map(math.isnan, pair))}
    whole = after["duration_ns"] / after["n"] - before["duration_ns"] / before["n"]
    if not known or whole <= 0:
        return None
    phase, (was, now) = max(known.items(), key=lambda one: one[1][1] - one[1][0])
    if now <= was:
        return None
    return Cause(phase=phase, before_ns=was, after_ns=now, share=(now - was) / whole)


def recovery_phases(findings: Summaries, metric: str) -> pd.DataFrame:
    """Return the phases of recoveries per point, from the means of their metrics over seeds."""
    rows = []
    for key, seeds in findings.replications[metric].items():
        row = {"scenario": key[0], "parameters": key[1], "n": 1}
        row["duration_ns"] = _mean(seeds)
        for name, says in _OF_RECOVERIES.items():
            row[says] = _mean(findings.replications.get(name, {}).get(key, {}))
        rows.append(row)
    return pd.DataFrame(rows)


def _mean(seeds: Seeds) -> float:
    return interval(list(seeds.values())).mean if seeds else math.nan


def sentence(jump: Jump, found: Cause | None) -> str:
    """Return a cliff as people read it, with its cause where that is known."""
    where = f"{jump.at}, " if jump.at else ""
    says = METRICS[jump.metric].says
    text = (
        f"Cliff at {where}{jump.axis} {jump.from_value} -> {jump.to_value}: {says} grows from "
        f"{amount(jump.metric, jump.low)} to {amount(jump.metric, jump.high)}, "
        f"{plain_number(jump.high / jump.low)} times"
    )
    if jump.others:
        text += f" (and at {jump.others} more {'point' if jump.others == 1 else 'points'})"
    if found is None:
        return f"{text}."
    share = "all" if found.share >= _ALL else f"{100 * found.share:.0f} %"
    grew = f"{time_in_words(found.before_ns)} to {time_in_words(found.after_ns)}"
    return f"{text}; {found.phase} grows from {grew}, {share} of the difference."


def points_of(found: Sequence[Jump]) -> list[Key]:
    """Return the points of cliffs that phases of checkpoints explain."""
    ends = [key for jump in found if jump.metric in DURATIONS for key in (jump.less, jump.more)]
    return list(dict.fromkeys(ends))
