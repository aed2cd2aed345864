"""Everything that a report says about one sweep, computed by Spark, as small frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ckptsim.analysis import metrics
from ckptsim.analysis.store import SweepStore

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OUTLIERS = 10
EXAMPLES_OF_A_PROPERTY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The findings of one sweep.

    about: what the sweep says of itself; points: its points in order.  All frames with a point are
    in the order of the points.  For the columns see the functions of `metrics` of the same names.
    outliers: the slowest checkpoints, one per run at most, with the run's replay command.
    tasks: as from `metrics.task_times`.
    """

    about: Mapping[str, Any]
    points: list[dict[str, Any]]
    outcomes: pd.DataFrame
    latency: pd.DataFrame
    distribution: pd.DataFrame
    waits: pd.DataFrame
    intervals: pd.DataFrame
    expected: pd.DataFrame
    differences: pd.DataFrame
    violations: pd.DataFrame
    errors: pd.DataFrame
    outliers: pd.DataFrame
    goals: pd.DataFrame
    tasks: pd.DataFrame
    first_barriers: pd.DataFrame

    @property
    def axes(self) -> list[str]:
        """The swept paths, the slowest varying first."""
        return [path for path, _ in self.about["axes"]]


def find(session: SparkSession, store: SweepStore) -> Findings:
    """Compute the findings of the sweep in a directory.

    Raises UserError when the directory holds no sweep.
    """
    about = store.about()
    points = store.points()
    order = {(p["scenario"], p["parameters"]): place for place, p in enumerate(points)}
    runs = store.read(session, "runs").cache()
    checkpoints, recoveries = (
        store.read(session, table) for table in ("checkpoints", "recoveries")
    )
    outer = checkpoints.where("not (inner <=> true)")
    lasting = metrics.durations(outer, runs, recoveries).cache()
    own = metrics.own_figures(store.read(session, "figures"), runs).cache()
    general = metrics.per_run(lasting, runs, recoveries)
    figures = general.unionByName(own.drop("expected")).cache()
    baseline = (points[0]["scenario"], points[0]["parameters"])

    def ordered(frame: DataFrame) -> pd.DataFrame:
        return in_order(frame.toPandas(), order)

    try:
        return Findings(
            about=about,
            points=points,
            outcomes=ordered(metrics.outcomes(runs)),
            latency=ordered(metrics.latency(lasting)),
            distribution=ordered(metrics.distribution(lasting)),
            waits=ordered(metrics.waits(lasting)),
            intervals=ordered(metrics.intervals(figures)),
            expected=ordered(metrics.expected(own)),
            differences=ordered(metrics.differences(figures, baseline)),
            violations=ordered(violations(store.read(session, "violations"), runs)),
            errors=ordered(errors(runs)),
            outliers=ordered(outliers(lasting, runs)),
            goals=goals(store.read(session, "goals")).toPandas(),
            tasks=ordered(metrics.task_times(store.read(session, "tasks"), runs)),
            first_barriers=ordered(metrics.first_barriers(lasting)),
        )
    finally:
        for frame in (figures, own, lasting, runs):
            frame.unpersist()


def in_order(frame: pd.DataFrame, order: Mapping[tuple[str, str], int]) -> pd.DataFrame:
    """Return the rows by the order of their points; rows of one point stay in theirs."""
    places = [
        order[scenario, parameters]
        for scenario, parameters in zip(frame["scenario"], frame["parameters"], strict=True)
    ]
    sorted_frame = frame.assign(place=places).sort_values("place", kind="stable")
    return sorted_frame.drop(columns="place").reset_index(drop=True)


def violations(found: DataFrame, runs: DataFrame) -> DataFrame:
    """Return per point and property how many runs broke it, with the first examples.

    Columns: the point, `property`, `runs` that broke it, `of` all the point's runs, `rank` from 1,
    and of the example `seed`, `ties`, `at_ns`, `says`, `story`, `replay`.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    about = runs.select("run_key", *metrics.POINT, *metrics.REPLICATION)
    group = [*metrics.POINT, "property"]
    everything = Window.partitionBy(*group)
    ranked = everything.orderBy("seed", "ties", "at_ns", "says")
    sizes = runs.groupBy(*metrics.POINT).agg(f.count("*").alias("of"))
    once = found.dropDuplicates(["run_key", "property", "at_ns", "says"])
    first = once.withColumn(
        "nth",
        f.row_number().over(
            Window.partitionBy("run_key", "property").orderBy("at_ns", "says", "story")
        ),
    ).where("nth = 1")
    return (
        first.join(about, "run_key")
        .withColumn("runs", f.count("*").over(everything))
        .withColumn("rank", f.row_number().over(ranked))
        .where(f.col("rank") <= EXAMPLES_OF_A_PROPERTY)
        .join(sizes, metrics.POINT)
        .select(
            *group, "runs", "of", "rank", *metrics.REPLICATION, "at_ns", "says", "story", "replay"
        )
        .orderBy(*group, "rank")
    )


def errors(runs: DataFrame) -> DataFrame:
    """Return per point and error text how many runs ended in it, with the first one's replay."""
    from pyspark.sql import functions as f

    return (
        runs.where("outcome = 'error'")
        .groupBy(*metrics.POINT, "error")
        .agg(
            f.count("*").alias("runs"),
            f.min(f.struct("seed", "ties", "replay")).alias("first"),
        )
        .select(*metrics.POINT, "error", "runs", "first.seed", "first.replay")
        .orderBy(*metrics.POINT, "error")
    )


def outliers(lasting: DataFrame, runs: DataFrame, most: int = OUTLIERS) -> DataFrame:
    """Return the slowest checkpoint of the runs that have the slowest ones, slowest first.

    Columns: the point, the replication, `scope`, `checkpoint_id`, `attempt`, `status`,
    `triggered_ns`, `elapsed_ns`, the waits, `replay`.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    of_run = Window.partitionBy("run_key").orderBy(
        f.desc("elapsed_ns"), "scope", "attempt", "checkpoint_id", "triggered_ns"
    )
    slowest = lasting.withColumn("nth", f.row_number().over(of_run)).where("nth = 1")
    return (
        slowest.join(runs.select("run_key", "replay"), "run_key")
        .orderBy(f.desc("elapsed_ns"), "run_key")
        .limit(most)
        .select(
            *metrics.POINT,
            *metrics.REPLICATION,
            *("run_key", "scope", "checkpoint_id", "attempt", "status", "reason"),
            *("triggered_ns", "elapsed_ns"),
            *metrics.WAITS,
            "replay",
        )
    )


def goals(found: DataFrame) -> DataFrame:
    """Return per goal in how many runs it was reached, and how often in all."""
    from pyspark.sql import functions as f

    return (
        found.groupBy("goal")
        .agg(
            f.count("*").alias("runs"),
            f.count_if(f.col("reached") > 0).alias("runs_reached"),
            f.sum("reached").alias("reached"),
        )
        .orderBy("goal")
    )
