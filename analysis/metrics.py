"""What the tables of a sweep say: DataFrame in, DataFrame out, computed by Spark.

A point is a scenario with its swept parameters: the columns `scenario` and `parameters` (canonical
JSON).  Its runs differ in `seed` and `ties`.  Counts and sums are integers; quantiles are exact;
every quantile comes with the number of values behind it; checkpoints that did not complete are
counted and enter distributions as censored, they are never left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ckptsim.analysis.statistics import CONFIDENCE, interval, paired_difference, survival

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

POINT = ["scenario", "parameters"]
REPLICATION = ["seed", "ties"]
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
OUTCOMES = ("completed", "failed", "stalled", "error")
UNFINISHED = ("failed", "aborted", "expired", "pending")
WAITS = ("wait_records_ns", "wait_upload_ns", "wait_predecessor_ns", "wait_send_ns")


def outcomes(runs: DataFrame) -> DataFrame:
    """Return per point how its runs ended.

    Columns: the point, `runs`, one count per outcome, `violations`, `runs_violated`, `attempts`.
    """
    from pyspark.sql import functions as f

    counts = [f.count_if(f.col("outcome") == outcome).alias(outcome) for outcome in OUTCOMES]
    return (
        runs.groupBy(*POINT)
        .agg(
            f.count("*").alias("runs"),
            *counts,
            f.sum("violations").alias("violations"),
            f.count_if(f.col("violations") > 0).alias("runs_violated"),
            f.sum("attempts").alias("attempts"),
        )
        .orderBy(*POINT)
    )


def durations(checkpoints: DataFrame, runs: DataFrame, recoveries: DataFrame) -> DataFrame:
    """Return every checkpoint with its point, its replication and how long it took or lasted.

    Adds `elapsed_ns` (until completion; else until it or its attempt failed; else until the run
    ended) and `ended` (whether it completed; if not, `elapsed_ns` is a bound).
    """
    from pyspark.sql import functions as f

    about = runs.select("run_key", *POINT, *REPLICATION, "ended_ns")
    failures = recoveries.groupBy("run_key", "attempt").agg(f.min("failed_ns").alias("failed_ns"))
    until = f.coalesce("completed_ns", "failed_ns", "ended_ns")
    lasted = f.greatest(until - f.col("triggered_ns"), f.lit(0))
    return (
        checkpoints.join(about, "run_key")
        .join(failures, ["run_key", "attempt"], "left")
        .withColumn("elapsed_ns", f.coalesce("duration_ns", lasted))
        .withColumn("ended", f.col("status") == "completed")
    )


def latency(lasting: DataFrame, probabilities: Sequence[float] = PROBABILITIES) -> DataFrame:
    """Return the quantiles of checkpoint durations per point.

    lasting: as from `durations`.  Columns: the point, `n`, `completed`, one count per way of not
    completing, `probability`, `completed_ns` (exact, of completed checkpoints alone) and
    `latency_ns` (with the others as censored; empty when so few completed that it is unknown).
    """
    from pyspark.sql import functions as f

    wanted = f.array(*[f.lit(float(p)) for p in probabilities])
    unfinished = [f.count_if(f.col("status") == status).alias(status) for status in UNFINISHED]
    plain = lasting.groupBy(*POINT).agg(
        f.count("*").alias("n"),
        f.count_if("ended").alias("completed"),
        *unfinished,
        f.percentile(f.when(f.col("ended"), f.col("elapsed_ns")), wanted).alias("exact"),
    )
    tall = plain.select(
        *POINT,
        "n",
        "completed",
        *UNFINISHED,
        f.posexplode(f.coalesce("exact", f.array_repeat(f.lit(None), len(probabilities)))),
    ).withColumn("probability", f.element_at(wanted, f.col("pos") + 1))
    kept = tall.withColumnRenamed("col", "completed_ns").drop("pos")
    censored = censored_quantiles(lasting, probabilities)
    return kept.join(censored, [*POINT, "probability"]).orderBy(*POINT, "probability")


def censored_quantiles(lasting: DataFrame, probabilities: Sequence[float]) -> DataFrame:
    """Return per point the Kaplan-Meier quantiles `latency_ns` at each `probability`."""
    wanted = tuple(float(p) for p in probabilities)

    def kernel(group: pd.DataFrame) -> pd.DataFrame:
        return censored_kernel(group, wanted)

    schema = "scenario string, parameters string, probability double, latency_ns double"
    needed = lasting.select(*POINT, "elapsed_ns", "ended")
    return needed.groupBy(*POINT).applyInPandas(kernel, schema)


def censored_kernel(group: pd.DataFrame, probabilities: Sequence[float]) -> pd.DataFrame:
    """Return the Kaplan-Meier quantiles of one point's `elapsed_ns` and `ended`."""
    estimate = survival(group["elapsed_ns"].tolist(), group["ended"].tolist())
    return pd.DataFrame(
        {
            "scenario": group["scenario"].iloc[0],
            "parameters": group["parameters"].iloc[0],
            "probability": list(probabilities),
            "latency_ns": [estimate.quantile(p) for p in probabilities],
        }
    )


def distribution(lasting: DataFrame) -> DataFrame:
    """Return per point the whole estimated distribution of durations.

    Columns: the point, `n`, `unfinished`, `latency_ns` (ascending within a point) and `below`, the
    share of checkpoints that take no longer.
    """
    schema = (
        "scenario string, parameters string, n long, unfinished long, latency_ns long, below double"
    )
    needed = lasting.select(*POINT, "elapsed_ns", "ended")
    return (
        needed.groupBy(*POINT)
        .applyInPandas(distribution_kernel, schema)
        .orderBy(*POINT, "latency_ns")
    )


def distribution_kernel(group: pd.DataFrame) -> pd.DataFrame:
    """Return the steps of one point's Kaplan-Meier distribution."""
    estimate = survival(group["elapsed_ns"].tolist(), group["ended"].tolist())
    return pd.DataFrame(
        {
            "scenario": group["scenario"].iloc[0],
            "parameters": group["parameters"].iloc[0],
            "n": len(group),
            "unfinished": int((~group["ended"]).sum()),
            "latency_ns": estimate.times,
            "below": estimate.below,
        }
    )


def waits(lasting: DataFrame) -> DataFrame:
    """Return per point where the time of completed checkpoints went.

    Columns: the point, `n`, the integer sums of the parts and of `duration_ns`.  Checkpoints of
    links that do not fill the parts are left out of both.
    """
    from pyspark.sql import functions as f

    filled = lasting.where(f.col("ended") & f.col("wait_records_ns").isNotNull())
    parts = [f.sum(f.coalesce(f.col(part), f.lit(0))).alias(part) for part in WAITS]
    return (
        filled.groupBy(*POINT)
        .agg(f.count("*").alias("n"), *parts, f.sum("elapsed_ns").alias("duration_ns"))
        .orderBy(*POINT)
    )


def first_barriers(lasting: DataFrame) -> DataFrame:
    """Return per point how long completed barrier checkpoints took to the last first barrier.

    Columns: the point, `n`, `low_ns`, `median_ns`, `high_ns` (quartiles).  That is the latency of a
    barrier from its trigger to the task it reaches last, without alignment.
    """
    from pyspark.sql import functions as f

    quartiles = f.array(f.lit(0.25), f.lit(0.5), f.lit(0.75))
    found = f.percentile("start_delay_ns", quartiles).alias("q")
    known = lasting.where(f.col("ended") & f.col("start_delay_ns").isNotNull())
    return (
        known.groupBy(*POINT)
        .agg(f.count("*").alias("n"), found)
        .select(
            *POINT,
            "n",
            f.col("q")[0].alias("low_ns"),
            f.col("q")[1].alias("median_ns"),
            f.col("q")[2].alias("high_ns"),
        )
        .orderBy(*POINT)
    )


TASK_MEANS = (
    "records_per_s",
    "busy_ratio",
    "backpressured_ratio",
    "idle_ratio",
    "input_queue_buffers_mean",
    "output_queue_buffers_mean",
)


def task_times(tasks: DataFrame, runs: DataFrame) -> DataFrame:
    """Return per point and task how its subtasks spent their time, and what waited around them.

    Columns: the point, `task`, `subtasks` (of all runs), and the means of `TASK_MEANS` over them.
    """
    from pyspark.sql import functions as f

    means = [f.round(f.avg(name), 9).alias(name) for name in TASK_MEANS]
    return (
        tasks.join(runs.select("run_key", *POINT), "run_key")
        .groupBy(*POINT, "task")
        .agg(f.count("*").alias("subtasks"), *means)
        .orderBy(*POINT, "task")
    )


def per_run(lasting: DataFrame, runs: DataFrame, recoveries: DataFrame) -> DataFrame:
    """Return figures of single runs in tall form.

    Columns: the point, the replication, `metric`, `value` (integers as double; empty when a run
    has none).  Runs that ended in an error have no figures.
    """
    from pyspark.sql import functions as f

    down = f.col("resumed_ns") - f.col("failed_ns")
    recovering = recoveries.groupBy("run_key").agg(
        f.sum(down).alias("recovery_ns"), f.sum("records_reprocessed").alias("records_reprocessed")
    )

    valid = runs.where(f.col("outcome") != "error")
    durations_of_run = (
        lasting.where("ended")
        .groupBy("run_key")
        .agg(
            f.percentile("elapsed_ns", f.lit(0.5)).alias("median_latency_ns"),
            f.percentile("elapsed_ns", f.lit(0.95)).alias("p95_latency_ns"),
            f.max("elapsed_ns").cast("double").alias("longest_latency_ns"),
        )
    )
    of_run = (
        *("ended_ns", "checkpoints_completed", "checkpoints_failed"),
        *("finishing_ns", "finishing_checkpoints"),
        *("records_produced", "records_committed", "records_reprocessed", "recovery_ns"),
    )
    of_latency = ("median_latency_ns", "p95_latency_ns", "longest_latency_ns")
    joined = valid.join(durations_of_run, "run_key", "left").join(recovering, "run_key", "left")
    wide = joined.select(
        *POINT, *REPLICATION, *[f.col(name).cast("double") for name in (*of_run, *of_latency)]
    )
    return wide.unpivot([*POINT, *REPLICATION], [*of_run, *of_latency], "metric", "value")


def own_figures(figures: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the figures that links have computed themselves, in the form of `per_run`.

    Columns: as there, and `expected`, which is empty without a closed form.
    """
    about = runs.where("outcome != 'error'").select("run_key", *POINT, *REPLICATION)
    return figures.join(about, "run_key").select(
        *POINT, *REPLICATION, figures["figure"].alias("metric"), "value", "expected"
    )


def expected(own: DataFrame) -> DataFrame:
    """Return what theory says of each point's figures.

    own: as from `own_figures`.  Columns: the point, `metric`, `expected`, the mean over its runs.
    """
    from pyspark.sql import functions as f

    grouped = own.groupBy(*POINT, "metric").agg(f.avg("expected").alias("expected"))
    return grouped.orderBy(*POINT, "metric")


def intervals(figures: DataFrame, confidence: float = CONFIDENCE) -> DataFrame:
    """Return the mean of each figure over a point's replications with its Student interval.

    A replication is a seed: runs of one seed under several tie policies have most of their noise in
    common, so their mean counts once.  figures: as from `per_run`.  Columns: the point, `metric`,
    `n` seeds, `mean`, `low`, `high`.
    """

    def kernel(group: pd.DataFrame) -> pd.DataFrame:
        return interval_kernel(group, confidence)

    schema = (
        "scenario string, parameters string, metric string, "
        "n long, mean double, low double, high double"
    )
    known = figures.where("value is not null")
    grouped = known.groupBy(*POINT, "metric").applyInPandas(kernel, schema)
    return grouped.orderBy(*POINT, "metric")


def interval_kernel(group: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the interval of one point's figure as one row."""
    found = interval(list(by_seed(group).values()), confidence=confidence)
    return pd.DataFrame(
        {
            "scenario": [group["scenario"].iloc[0]],
            "parameters": [group["parameters"].iloc[0]],
            "metric": [group["metric"].iloc[0]],
            "n": [found.n],
            "mean": [found.mean],
            "low": [found.low],
            "high": [found.high],
        }
    )


def by_seed(group: pd.DataFrame) -> dict[int, float]:
    """Return the mean of a figure over the tie policies of each seed."""
    values: dict[int, list[float]] = {}
    for seed, value in zip(group["seed"], group["value"], strict=True):
        values.setdefault(seed, []).append(value)
    return {seed: math.fsum(found) / len(found) for seed, found in values.items()}


def differences(
    figures: DataFrame, baseline: tuple[str, str], confidence: float = CONFIDENCE
) -> DataFrame:
    """Return how each point differs from a baseline point, paired by seed.

    figures: as from `per_run`; baseline: scenario and parameters of a point.  Columns: the point,
    `metric`, `n` seeds that both have, `unpaired`, `mean`, `low`, `high` of the differences.
    """
    from pyspark.sql import functions as f

    is_baseline = (f.col("scenario") == baseline[0]) & (f.col("parameters") == baseline[1])
    known = figures.where("value is not null")
    reference = known.where(is_baseline).select("seed", "metric", "value")
    collected = reference.groupBy("metric").agg(
        f.collect_list(f.struct("seed", "value")).alias("reference")
    )

    def kernel(group: pd.DataFrame) -> pd.DataFrame:
        return difference_kernel(group, confidence)

    schema = (
        "scenario string, parameters string, metric string, "
        "n long, unpaired long, mean double, low double, high double"
    )
    others = known.where(~is_baseline).join(collected, "metric")
    return others.groupBy(*POINT, "metric").applyInPandas(kernel, schema).orderBy(*POINT, "metric")


def difference_kernel(group: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return one point's paired difference for one figure; no row without a common replication.

    group: rows of `per_run` with a column `reference`, the baseline's (seed, value).
    """
    reference = pd.DataFrame.from_records(list(group["reference"].iloc[0]))
    found = paired_difference(by_seed(group), by_seed(reference), confidence=confidence)
    rows = [] if found is None else [found]
    return pd.DataFrame(
        {
            "scenario": [group["scenario"].iloc[0] for _ in rows],
            "parameters": [group["parameters"].iloc[0] for _ in rows],
            "metric": [group["metric"].iloc[0] for _ in rows],
            "n": [row.difference.n for row in rows],
            "unpaired": [row.unpaired for row in rows],
            "mean": [row.difference.mean for row in rows],
            "low": [row.difference.low for row in rows],
            "high": [row.difference.high for row in rows],
        }
    )
