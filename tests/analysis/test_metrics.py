"""Aggregation in Spark: the numbers of small tables that can be worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from ckptsim.analysis import metrics, statistics
from ckptsim.analysis.schema import spark_schema
from ckptsim.analysis.statistics import quantile

pytestmark = pytest.mark.spark
FAST, SLOW = '{"sockets":4}', '{"sockets":1}'


def run(key: str, parameters: str, seed: int, **others: Any) -> dict[str, Any]:
    return {
        "run_key": key,
        "scenario": "s",
        "link": "ordering",
        "seed": seed,
        "ties": "structural",
        "version": "1",
        "digest": "",
        "outcome": "completed",
        "error": None,
        "ended_ns": 1000,
        "events": 1,
        "records_produced": 1,
        "records_committed": 1,
        "checkpoints_completed": 1,
        "checkpoints_failed": 0,
        "violations": 0,
        "attempts": 1,
        "parameters": parameters,
        "replay": "",
    } | others


def checkpoint(key: str, number: int, duration_ns: int | None, **others: Any) -> dict[str, Any]:
    return {
        "run_key": key,
        "scope": "*",
        "checkpoint_id": number,
        "attempt": 1,
        "kind": "state",
        "status": "completed",
        "triggered_ns": 100,
        "completed_ns": None if duration_ns is None else 100 + duration_ns,
        "duration_ns": duration_ns,
        "inner": False,
    } | others


def frame(spark: SparkSession, table: str, rows: Sequence[dict[str, Any]]) -> DataFrame:
    schema = spark_schema(table)
    tuples = [tuple(row.get(name) for name in schema.names) for row in rows]
    return spark.createDataFrame(tuples, schema)


@pytest.fixture
def lasting(spark: SparkSession) -> DataFrame:
    runs = frame(spark, "runs", [run("a", FAST, 1), run("b", FAST, 2), run("c", SLOW, 1)])
    rows = [checkpoint("a", number, 10 * (number + 1)) for number in range(5)]
    rows += [
        checkpoint("b", 0, 70),
        checkpoint("b", 1, 25, status="aborted", completed_ns=None),
        checkpoint("b", 2, None, status="pending"),
        checkpoint("b", 3, None, status="failed", attempt=2, triggered_ns=25),
        checkpoint("c", 0, None, status="expired"),
    ]
    random.Random(5).shuffle(rows)
    failure = {"run_key": "b", "attempt": 2, "cause": "", "failed_ns": 60, "records_reprocessed": 0}
    recoveries = frame(spark, "recoveries", [failure])
    return metrics.durations(frame(spark, "checkpoints", rows), runs, recoveries)


def test_what_did_not_complete_is_counted_and_lasts(lasting: DataFrame) -> None:
    """Every checkpoint is in n; one lasts until it, its attempt or its run ends."""
    found = metrics.latency(lasting, [0.5]).toPandas().set_index("parameters")
    fast, slow = found.loc[FAST], found.loc[SLOW]
    assert (fast["n"], fast["completed"], fast["aborted"], fast["pending"]) == (9, 6, 1, 1)
    assert fast["completed_ns"] == quantile([10, 20, 30, 40, 50, 70], 0.5)
    entries = [(10, True), (20, True), (25, False), (30, True), (40, True), (50, True)]
    entries += [(70, True), (900, False), (35, False)]
    expected = statistics.survival(*zip(*entries, strict=True)).quantile(0.5)
    assert fast["latency_ns"] == expected
    assert (slow["n"], slow["completed"], slow["expired"]) == (1, 0, 1)
    assert pd.isna(slow["completed_ns"])
    assert pd.isna(slow["latency_ns"])


def test_distribution_ends_below_one_when_censored(lasting: DataFrame) -> None:
    """The longest duration is a bound only, so the curve does not reach 1."""
    found = metrics.distribution(lasting).toPandas()
    assert set(found["parameters"]) == {FAST}
    assert found["latency_ns"].tolist() == [10, 20, 30, 40, 50, 70]
    assert found["below"].is_monotonic_increasing
    assert found["below"].iloc[-1] < 1
    assert set(found["unfinished"]) == {3}


def test_outcomes_are_counted(spark: SparkSession) -> None:
    """Each way of ending has its count, and they add up."""
    rows = [run("a", FAST, 1), run("b", FAST, 2, outcome="error"), run("c", FAST, 3, violations=2)]
    (found,) = metrics.outcomes(frame(spark, "runs", rows)).collect()
    assert (found["runs"], found["completed"], found["error"]) == (3, 2, 1)
    assert (found["violations"], found["runs_violated"]) == (2, 1)


def test_waits_are_integer_sums(spark: SparkSession) -> None:
    """The parts add up to the whole, over completed checkpoints only."""
    big = 2**53 + 1  # a double would lose the last nanosecond
    parts = {"wait_records_ns": big, "wait_upload_ns": 2, "wait_predecessor_ns": 3}
    rows = [
        checkpoint("a", 0, big + 9, wait_send_ns=4, **parts),
        checkpoint("a", 1, 5, wait_records_ns=5),
        checkpoint("a", 2, 7, status="aborted", wait_records_ns=7),
        checkpoint("a", 3, 7),
    ]
    table = metrics.durations(
        frame(spark, "checkpoints", rows),
        frame(spark, "runs", [run("a", FAST, 1)]),
        frame(spark, "recoveries", []),
    )
    (found,) = metrics.waits(table).collect()
    assert found["n"] == 2
    assert sum(found[part] for part in metrics.WAITS) == found["duration_ns"] == big + 14


def test_intervals_and_differences_over_replications(spark: SparkSession) -> None:
    """Means, intervals and paired differences are those of the estimators, run by run."""
    draws = random.Random(1)
    noise = {seed: draws.randrange(1000, 2000) for seed in range(1, 7)}
    rows = [run(f"f{seed}", FAST, seed, ended_ns=value) for seed, value in noise.items()]
    rows += [
        run(f"s{seed}", SLOW, seed, ended_ns=value + 50 + seed)
        for seed, value in noise.items()
        if seed != 4
    ]
    rows.append(run("x", SLOW, 99, outcome="error", ended_ns=0))
    random.Random(2).shuffle(rows)
    runs = frame(spark, "runs", rows)
    checkpoints = frame(spark, "checkpoints", [checkpoint("f1", 0, 10), checkpoint("f1", 1, 30)])
    nothing = frame(spark, "recoveries", [])
    figures = metrics.per_run(metrics.durations(checkpoints, runs, nothing), runs, nothing)

    means = metrics.intervals(figures).toPandas().set_index(["parameters", "metric"])
    assert means.loc[(FAST, "ended_ns"), "mean"] == statistics.interval(list(noise.values())).mean
    assert means.loc[(SLOW, "ended_ns"), "n"] == 5
    assert means.loc[(FAST, "median_latency_ns"), ["n", "mean"]].tolist() == [1, 20]

    found = metrics.differences(figures, ("s", FAST)).toPandas().set_index("metric")
    expected = statistics.interval([50 + seed for seed in (1, 2, 3, 5, 6)])
    row = found.loc["ended_ns"]
    assert (row["n"], row["unpaired"]) == (5, 1)
    assert (row["mean"], row["low"], row["high"]) == (expected.mean, expected.low, expected.high)
    assert set(found["parameters"]) == {SLOW}
