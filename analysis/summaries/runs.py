"""The metrics of single runs, and how long each of their checkpoints took or lasted.

Every function takes the tables of a sweep as DataFrames by name and returns a DataFrame.  Rows are
joined by `run_key`. A metric is a quotient of sums of integers, or an exact quantile, so that
neither the order of rows nor their partitions make a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from ckptsim.analysis.summaries.columns import derived, grouped, unpivoted
from ckptsim.analysis.summaries.schema import BARRIERS, POINT, WAITS

Rows = Mapping[str, DataFrame]
_OF_RUN = {
    **{
        name: name
        for name in (
            *("ended_ns", "finishing_ns", "finishing_checkpoints", "checkpoints_completed"),
            *("checkpoints_failed", "records_committed", "records_produced"),
        )
    },
    "completed_share": "if(outcome = 'completed', 1, 0)",
    "failed_checkpoint_share": "checkpoints_failed"
    " / nullif(checkpoints_completed + checkpoints_failed, 0)",
}
# The parts of a recovery, in the order in which they pass, and what it comes to.
_PARTS = {
    "downtime_ns": "first_record_ns - failed_ns",
    "catch_up_ns": "left_ns - failed_ns",
    "recovery_detected_ns": "detected_ns - failed_ns",
    "recovery_restart_ns": "resumed_ns - detected_ns",
    "recovery_read_ns": "state_read_ns - resumed_ns",
    "recovery_first_record_ns": "first_record_ns - state_read_ns",
    "recovery_catch_up_ns": "left_ns - first_record_ns",
    "peak_latency_ns": "peak_latency_ns",
    "caught_up_share": "int(caught_up_ns IS NOT NULL)",
}
_CHECKPOINT = (
    *("run_key", "point", "seed", "ties", "replay", "scope", "checkpoint_id", "attempt", "status"),
    *("reason", "triggered_ns", "persisted_bytes", *WAITS, *BARRIERS),
)


def members(rows: Rows, points: DataFrame) -> DataFrame:
    """Return the runs with the position of their point in the plan, `point`."""
    return rows["runs"].join(f.broadcast(points), list(POINT))


def lasting(rows: Rows, runs: DataFrame) -> DataFrame:
    """Return every checkpoint that is no step of others, with how long it took or lasted.

    runs: as from `members`.  Columns: `_CHECKPOINT`. `elapsed_ns` (until completion, else until it
    or its attempt failed, else until the run ended), `ended` (whether it completed, if not,
    `elapsed_ns` is a bound).
    """
    failures = grouped(rows["recoveries"], ["run_key", "attempt"], {"cut_ns": "min(failed_ns)"})
    found = (
        rows["checkpoints"]
        .where("NOT coalesce(inner, false)")
        .join(runs.select("run_key", "point", "seed", "ties", "replay", "ended_ns"), "run_key")
        .join(failures, ["run_key", "attempt"], "left")
    )
    lasted = "greatest(coalesce(completed_ns, cut_ns, ended_ns) - triggered_ns, 0)"
    made = {"elapsed_ns": f"coalesce(duration_ns, {lasted})", "ended": "status = 'completed'"}
    return derived(found, _CHECKPOINT, made)


def metrics(rows: Rows, runs: DataFrame, checkpoints: DataFrame) -> DataFrame:
    """Return every metric that a run has: one row per run and metric, its value a double.

    runs: as from `members`. checkpoints: as from `lasting`.  Columns: `run_key`, `point`, `seed`,
    `ties`, `metric`, `value`.  A run that ended in an error has no metric.
    """
    known = runs.where("outcome != 'error'")
    parts = [
        unpivoted(known, ["run_key"], _cells(_OF_RUN)),
        of_checkpoints(checkpoints),
        of_recoveries(rows["recoveries"], runs),
        of_tasks(rows["tasks"]),
        of_links(rows["figures"]),
    ]
    values = reduce(DataFrame.unionAll, parts).where("value IS NOT NULL")
    return known.select("run_key", "point", "seed", "ties").join(values, "run_key")


def of_checkpoints(checkpoints: DataFrame) -> DataFrame:
    """Return what a run's completed checkpoints come to. checkpoints: as from `lasting`."""
    made = {
        "latency_ns": "percentile(elapsed_ns, array(0.5, 0.95))",
        "longest_latency_ns": "max(elapsed_ns)",
        "start_delay_ns": "percentile(start_delay_ns, 0.5)",
        "persisted_bytes": mean("persisted_bytes"),
    }
    cells = {
        **{name: name for name in made if name != "latency_ns"},
        "median_latency_ns": "latency_ns[0]",
        "p95_latency_ns": "latency_ns[1]",
    }
    found = grouped(checkpoints.where("ended"), ["run_key"], made)
    return unpivoted(found, ["run_key"], _cells(cells))


def of_recoveries(recoveries: DataFrame, runs: DataFrame) -> DataFrame:
    """Return how long a run was down, what it did again, and the parts of its recoveries.

    A part counts where a recovery takes time and both ends of the part are known.  One that was not
    caught up with lasts until the next failure, or the end of the run.
    """
    following = "lead(failed_ns) OVER (PARTITION BY run_key ORDER BY failed_ns, attempt)"
    until = f"if(first_record_ns IS NULL, null, coalesce({following}, ended_ns))"
    ended = recoveries.join(runs.select("run_key", "ended_ns"), "run_key")
    made = {
        "recovery_ns": "sum(resumed_ns - failed_ns)",
        "records_reprocessed": "sum(records_reprocessed)",
        # On records, and where restarts take no time, nothing has a size.
        **{name: mean(f"if(bytes_read IS NULL, null, {part})") for name, part in _PARTS.items()},
    }
    left = ended.withColumn("left_ns", f.expr(f"coalesce(caught_up_ns, {until})"))
    return unpivoted(grouped(left, ["run_key"], made), ["run_key"], _cells(list(made)))


def of_tasks(tasks: DataFrame) -> DataFrame:
    """Return when the subtasks of a run have closed."""
    made = {
        "first_closed_ns": "min(finished_ns)",
        "median_closed_ns": "percentile(finished_ns, 0.5)",
    }
    return unpivoted(grouped(tasks, ["run_key"], made), ["run_key"], _cells(list(made)))


def of_links(figures: DataFrame) -> DataFrame:
    """Return the figures that links have computed themselves."""
    known = figures.where("NOT isnan(value)")
    return known.select("run_key", f.col("figure").alias("metric"), "value")


def _cells(metrics: Iterable[str] | Mapping[str, str]) -> list[dict[str, str]]:
    """Return one cell per metric. Each is in the column of its name, or is made as it says."""
    made = metrics if isinstance(metrics, Mapping) else {name: name for name in metrics}
    return [{"metric": f"'{name}'", "value": f"double({value})"} for name, value in made.items()]


def mean(whole: str) -> str:
    """Return the mean of whole numbers as the quotient of two: no order of adding matters."""
    return f"sum({whole}) / nullif(count({whole}), 0)"
