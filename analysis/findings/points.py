"""What the runs of each point come to: small frames, one row or a few per point.

A point is a scenario with its swept parameters: the columns `scenario` and `parameters` (canonical
JSON).  Its runs differ in `seed` and `ties`.  Counts and sums are integers; quantiles are exact;
every quantile comes with the number of values behind it; checkpoints that did not complete are
counted and enter distributions as censored, they are never left out.  All frames are in the order
of the points given.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from ckptsim.analysis.findings.runs import EXPECTED, WAITS, Ints
from ckptsim.analysis.findings.share import SCALE, TASK_MEANS, Point, Share
from ckptsim.analysis.statistics import interval, paired_difference, survival
from ckptsim.analysis.words import names_in_words, value_in_words
from ckptsim.scenarios.planning import METRICS, SCENARIO_AXIS

POINT = ["scenario", "parameters"]
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
OUTCOMES = ("completed", "failed", "stalled", "error")
UNFINISHED = ("failed", "aborted", "expired", "pending")
_BOUNDS = ["low", "high"]


def frame(rows: Iterable[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows that begin with a point as a frame whose columns begin with those of a point."""
    flat = [(*point, *rest) for point, *rest in rows]
    return pd.DataFrame(flat, columns=[*POINT, *columns])


def _by_point(share: Share) -> dict[Point, pd.DataFrame]:
    groups = share.runs.groupby("point", sort=False)
    return {cast("Point", point): runs for point, runs in groups}


def outcomes(share: Share, points: Sequence[Point]) -> pd.DataFrame:
    """Return per point how its runs ended.

    Columns: the point, `runs`, one count per outcome, `violations`, `runs_violated`, `attempts`.
    """
    groups = _by_point(share)
    rows = []
    for point in points:
        if point in groups:
            runs = groups[point]
            counts = [int((runs["outcome"] == outcome).sum()) for outcome in OUTCOMES]
            broken = runs["violations"]
            sums = (int(broken.sum()), int((broken > 0).sum()), int(runs["attempts"].sum()))
            rows.append((point, len(runs), *counts, *sums))
    return frame(rows, ["runs", *OUTCOMES, "violations", "runs_violated", "attempts"])


def latency(
    share: Share, points: Sequence[Point], probabilities: Sequence[float] = PROBABILITIES
) -> pd.DataFrame:
    """Return the quantiles of checkpoint durations per point.

    Columns: the point, `n`, `completed`, one count per way of not completing, `probability`,
    `completed_ns` (exact, of completed checkpoints alone) and `latency_ns` (with the others as
    censored; empty when so few completed that it is unknown).
    """
    rows: list[tuple[Any, ...]] = []
    for point in points:
        found = share.durations.get(point)
        if found is None:
            continue
        done = np.sort(found.elapsed_ns[found.ended])
        estimate = survival(found.elapsed_ns, found.ended)
        counts = [found.statuses.get(status, 0) for status in UNFINISHED]
        rows += [
            (point, len(found.ended), len(done), *counts, p, _exact(done, p), estimate.quantile(p))
            for p in probabilities
        ]
    names = ("n", "completed", *UNFINISHED, "probability", "completed_ns", "latency_ns")
    return frame(rows, names)


def _exact(ascending: Ints, probability: float) -> float:
    """Return the exact quantile of sorted values, with linear interpolation; NaN without values."""
    return float(np.quantile(ascending, probability)) if len(ascending) else math.nan


def distribution(share: Share, points: Sequence[Point]) -> pd.DataFrame:
    """Return per point the whole estimated distribution of durations (Kaplan and Meier).

    Columns: the point, `n`, `unfinished`, `latency_ns` (ascending within a point) and `below`, the
    share of checkpoints that take no longer.
    """
    names = ("n", "unfinished", "latency_ns", "below")
    parts = [frame([], names)]
    for point in points:
        if point in share.durations:
            found = share.durations[point]
            estimate = survival(found.elapsed_ns, found.ended)
            part = pd.DataFrame({"latency_ns": estimate.times, "below": estimate.below})
            n, unfinished = len(found.ended), int((~found.ended).sum())
            part = part.assign(scenario=point[0], parameters=point[1], n=n, unfinished=unfinished)
            parts.append(part[[*POINT, *names]])
    filled = [part for part in parts if len(part)] or parts[:1]
    return pd.concat(filled, ignore_index=True)


def waits(share: Share, points: Sequence[Point]) -> pd.DataFrame:
    """Return per point where the time of completed checkpoints went.

    Columns: the point, `n`, the integer sums of the parts and of `duration_ns`.  Checkpoints of
    links that do not fill the parts are left out of both.
    """
    rows = [(point, *share.waits[point]) for point in points if point in share.waits]
    return frame([row for row in rows if row[1]], ["n", *WAITS, "duration_ns"])


def first_barriers(share: Share, points: Sequence[Point]) -> pd.DataFrame:
    """Return per point how long completed barrier checkpoints took to the last first barrier.

    Columns: the point, `n`, `low_ns`, `median_ns`, `high_ns` (quartiles).  That is the latency of a
    barrier from its trigger to the task it reaches last, without alignment.
    """
    rows = []
    for point in points:
        delays = np.sort(share.delays.get(point, np.empty(0, dtype=np.int64)))
        if len(delays):
            rows.append((point, len(delays), *(_exact(delays, p) for p in (0.25, 0.5, 0.75))))
    return frame(rows, ["n", "low_ns", "median_ns", "high_ns"])


def task_times(share: Share, points: Sequence[Point]) -> pd.DataFrame:
    """Return per point and task how its subtasks spent their time, and what waited around them.

    Columns: the point, `task`, `subtasks` (of one run), and the means of `TASK_MEANS` over the
    subtasks of all runs.
    """
    places = {point: place for place, point in enumerate(points)}
    rows = [
        (point, task, subtasks, *(value / count / SCALE for value in sums))
        for (point, task), (subtasks, count, *sums) in share.tasks.items()
    ]
    rows.sort(key=lambda row: (places[cast("Point", row[0])], row[1]))
    return frame(rows, ["task", "subtasks", *TASK_MEANS])


def by_seed(runs: pd.DataFrame, metric: str) -> dict[int, float]:
    """Return the mean of a metric over the tie policies of each seed, of those that have it.

    A replication is a seed: runs of one seed under several tie policies have most of their noise in
    common, so their mean counts once.
    """
    values: dict[int, list[float]] = {}
    for seed, value in zip(runs["seed"].tolist(), runs[metric].tolist(), strict=True):
        if not math.isnan(value):
            values.setdefault(seed, []).append(value)
    return {seed: math.fsum(found) / len(found) for seed, found in values.items()}


Replications = Mapping[str, Mapping[Point, Mapping[int, float]]]


def replications(share: Share, points: Sequence[Point]) -> Replications:
    """Return the values by seed of every metric at every point that has it."""
    groups = _by_point(share)
    known = [point for point in points if point in groups]
    found: dict[str, dict[Point, dict[int, float]]] = {}
    for metric in METRICS:
        values = {point: by_seed(groups[point], metric) for point in known}
        found[metric] = {point: seeds for point, seeds in values.items() if seeds}
    return found


def intervals(found: Replications, points: Sequence[Point]) -> pd.DataFrame:
    """Return the mean of each metric over a point's replications with its Student interval.

    Columns: the point, `metric`, `n` seeds, `mean`, `low`, `high`; of a share of a whole the
    interval ends at 0 and 1.
    """
    rows = []
    for point in points:
        for metric in sorted(found):
            if point in found[metric]:
                mean = interval(list(found[metric][point].values()))
                mean = mean.within(0.0, 1.0) if METRICS[metric].of_whole else mean
                rows.append((point, metric, mean.n, mean.mean, mean.low, mean.high))
    return frame(rows, ["metric", "n", "mean", *_BOUNDS])


def differences(found: Replications, points: Sequence[Point]) -> pd.DataFrame:
    """Return how each point differs from the first one, the baseline, paired by seed.

    Columns: the point, `metric`, `n` seeds that both have, `unpaired`, `mean`, `low`, `high` of the
    differences; of a share of a whole the interval ends at -1 and 1.
    """
    rows = []
    for point in points[1:]:
        for metric in sorted(found):
            of_metric = found[metric]
            paired = paired_difference(of_metric.get(point, {}), of_metric.get(points[0], {}))
            if paired is not None:
                mean = paired.difference
                mean = mean.within(-1.0, 1.0) if METRICS[metric].of_whole else mean
                bounds = (mean.mean, mean.low, mean.high)
                rows.append((point, metric, mean.n, paired.unpaired, *bounds))
    return frame(rows, ["metric", "n", "unpaired", "mean", *_BOUNDS])


def expected(share: Share, points: Sequence[Point]) -> pd.DataFrame:
    """Return what theory says of each point's figures of links: the mean over its runs.

    Columns: the point, `metric`, `expected`; a figure without a closed form is empty.
    """
    groups = _by_point(share)
    rows = []
    for point in points:
        for column in sorted(name for name in share.runs.columns if name.startswith(EXPECTED)):
            runs = groups.get(point)
            metric = column.removeprefix(EXPECTED)
            if runs is None or runs[metric].isna().all():
                continue
            values = [value for value in runs[column].tolist() if not math.isnan(value)]
            rows.append((point, metric, math.fsum(values) / len(values) if values else math.nan))
    return frame(rows, ["metric", "expected"])


def violations(share: Share, points: Sequence[Point]) -> pd.DataFrame:
    """Return per point and property how many runs broke it, with the first examples.

    Columns: the point, `property`, `runs` that broke it, `of` all the point's runs, `rank` from 1,
    and of the example `seed`, `ties`, `at_ns`, `says`, `story`, `replay`.
    """
    sizes = share.runs["point"].value_counts()
    places = {point: place for place, point in enumerate(points)}
    rows = []
    for (point, name), broken in sorted(
        share.violations.items(), key=lambda item: (places[item[0][0]], item[0][1])
    ):
        for rank, example in enumerate(broken.examples, start=1):
            rows.append((point, name, broken.runs, int(sizes[point]), rank, *example))
    named = ("seed", "ties", "at_ns", "says", "story", "replay")
    return frame(rows, ["property", "runs", "of", "rank", *named])


def errors(share: Share, points: Sequence[Point]) -> pd.DataFrame:
    """Return per point and error text how many runs ended in it, with the first one's replay."""
    places = {point: place for place, point in enumerate(points)}
    rows = [
        (point, text, runs, first[0], first[2])
        for (point, text), (runs, first) in sorted(
            share.errors.items(), key=lambda item: (places[item[0][0]], item[0][1])
        )
    ]
    return frame(rows, ["error", "runs", "seed", "replay"])


def goals(share: Share) -> pd.DataFrame:
    """Return per goal in how many runs it was reached, and how often in all."""
    rows = [(name, *share.goals[name]) for name in sorted(share.goals)]
    return pd.DataFrame(rows, columns=["goal", "runs", "runs_reached", "reached"])


class Spoken:
    """The swept parameters of a sweep in words.

    axes: swept values by name, in the order of the plan; of: the parameters in words of each point.
    """

    def __init__(self, about: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> None:
        paths = [path for path, _ in about["axes"]]
        # A sweep of a release whose plans had no names of their own has none.
        self._names = names_in_words(paths, about.get("words", {}))
        self.axes = {
            self._names[path]: [value_in_words(path, value) for value in values]
            for path, values in about["axes"]
        }
        self.of: dict[Point, str] = {
            (point["scenario"], point["parameters"]): self.parameters(point) for point in points
        }

    def parameters(self, point: Mapping[str, Any]) -> str:
        """Return the swept parameters of a point in words, as JSON in the order of the plan."""
        values = {**json.loads(point["parameters"]), SCENARIO_AXIS: point["scenario"]}
        swept = {
            name: value_in_words(path, values[path])
            for path, name in self._names.items()
            if path in values
        }
        return json.dumps(swept, ensure_ascii=False)

    def frame(self, found: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with the parameters of its points in words."""
        keys = zip(found["scenario"], found["parameters"], strict=True)
        return found.assign(parameters=[self.of[key] for key in keys])
