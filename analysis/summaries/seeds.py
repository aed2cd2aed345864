"""Means over seeds with their intervals, and differences between points, paired by seed.

Doubles are added in the order of their size, so that their sum depends on nothing else.
"""

from __future__ import annotations

import json
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from ckptsim.analysis.statistics import CONFIDENCE
from ckptsim.analysis.student import EXACT_UP_TO, expansion, t_quantile
from ckptsim.analysis.summaries.columns import derived, grouped
from ckptsim.scenarios.planning import METRICS

_VALUE = ("kind", "point", "metric", "value", "first")


def replications(metrics: DataFrame, *, tie_policies: int) -> DataFrame:
    """Return the value of every metric by point and seed: the mean over the seed's tie policies.

    metrics: as from `runs.metrics`.  A replication is a seed: runs of one seed under several tie
    policies have most of their noise in common, so their mean counts once.
    """
    if tie_policies == 1:
        return metrics.select("point", "metric", "seed", "value")
    values = "sort_array(collect_list(value))"
    return grouped(metrics, ["point", "metric", "seed"], {"value": f"{total(values)} / count(*)"})


def values_of_means(values: DataFrame) -> DataFrame:
    """Return what the mean of each metric over a point's replications is made of."""
    return _kind(values, "mean", {"value": "value", "first": "0L"})


def values_of_differences(values: DataFrame, *, baseline: int) -> DataFrame:
    """Return what the difference of each point to the first one, the baseline, is made of.

    values: as from `replications`.  Seeds are paired: with common random numbers much of the noise
    is in both and cancels.  A seed that the baseline does not have has no value. `first` is how
    many the baseline has.
    Source: A. M. Law, Simulation Modeling and Analysis, chapter on variance reduction.
    """
    size = f.expr("count(*) OVER (PARTITION BY metric)")
    there = values.where(f"point = {baseline}").select(
        "metric", "seed", f.col("value").alias("there"), size.alias("first")
    )
    pairs = values.where(f"point != {baseline}").join(there, ["metric", "seed"], "left")
    return _kind(pairs, "difference", {"value": "value - there", "first": "first"})


def values_of_theory(figures: DataFrame, runs: DataFrame) -> DataFrame:
    """Return what the closed form of each figure that a point's links compute is made of.

    runs: as from `runs.members`.  A figure without a closed form has no value.
    """
    known = runs.where("outcome != 'error'").select("run_key", "point")
    found = figures.where("NOT isnan(value)").join(known, "run_key").drop("value")
    value = "if(isnan(expected), null, expected)"
    return _kind(
        found.withColumnRenamed("figure", "metric"), "expected", {"value": value, "first": "0L"}
    )


def _kind(values: DataFrame, kind: str, made: dict[str, str]) -> DataFrame:
    return derived(values, ["point", "metric"], {"kind": f"'{kind}'", **made}).select(*_VALUE)


def estimates(*values: DataFrame, seeds_max: int) -> DataFrame:
    """Return means with Student's intervals of some values, as from `values_of_...`.

    seeds_max: at least the seeds of any point.  Columns: `kind` ("mean", "difference" or
    "expected"), `point`, `metric`, `n` values, `unpaired` (seeds of one of two points alone),
    `mean`, `low`, `high`.  The interval of a share of a whole ends at its bounds.
    Source: W. S. Gosset ("Student"), The probable error of a mean, Biometrika 6 (1908).
    """
    keys = ["kind", "point", "metric"]
    of_group = {
        "values": "sort_array(collect_list(value))",
        "unpaired": "if(kind = 'difference', count(*) + max(first) - 2 * count(value), null)",
    }
    found = grouped(reduce(DataFrame.unionAll, values), keys, of_group)
    sums = {"n": "size(values)", "mean": f"{total('values')} / nullif(size(values), 0)"}
    found = derived(found, [*keys, "unpaired", "values"], sums)
    squares = total("transform(values, one -> (one - mean) * (one - mean))")
    half = f"{t_of('(n - 1)', seeds_max)} * sqrt({squares} / (n - 1) / n)"
    found = derived(found, [*keys, "n", "unpaired", "mean"], {"half": f"if(n > 1, {half}, null)"})
    whole = ", ".join(f"'{name}'" for name in METRICS if METRICS[name].of_whole)
    least = "if(kind = 'difference', -1D, 0D)"
    ends = {
        name: f"if(metric IN ({whole}), greatest(least({end}, 1D), {least}), {end})"
        for name, end in (("low", "mean - half"), ("high", "mean + half"))
    }
    known = {name: f"if(half IS NULL, null, {end})" for name, end in ends.items()}
    paired = "kind != 'difference' OR n > 0"
    return derived(found.where(paired), [*keys, "n", "unpaired", "mean"], known)


def total(values: str) -> str:
    """Return the sum of an array of doubles, added in its order."""
    return f"aggregate({values}, 0D, (sum, one) -> sum + one)"


def t_of(degrees: str, degrees_max: int) -> str:
    """Return the quantile of Student's distribution: from a table, for many degrees expanded."""
    most = max(1, min(degrees_max, EXACT_UP_TO))
    table = json.dumps([t_quantile(CONFIDENCE, one) for one in range(1, most + 1)])
    exact = f"element_at(from_json('{table}', 'array<double>'), int(least({degrees}, {most})))"
    terms = [
        f"{term!r}D / pow(double({degrees}), {power})"
        for power, term in enumerate(expansion(CONFIDENCE))
    ]
    return f"if({degrees} > {most}, {' + '.join(reversed(terms))}, {exact})"
