"""What the checkpoints of each point come to: durations, phases, the slowest.

The durations of a point are counted by value and put in order once. Exact quantiles and the curve
of Kaplan and Meier are read from the running sums, whatever their number.  So there is no estimate
of a quantile, and memory holds no point's durations at once.

`checkpoints` is always as from `runs.lasting`.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from ckptsim.analysis.summaries.columns import derived, grouped, struct, unpivoted
from ckptsim.analysis.summaries.schema import (
    BARRIERS,
    OUTLIERS,
    PROBABILITIES,
    STEPS,
    UNFINISHED,
    WAITS,
)

_BEGINNING = "ROWS BETWEEN UNBOUNDED PRECEDING AND"


def _over(made: str, value: str = "elapsed_ns") -> str:
    """Return an aggregate over the rows of a point up to this value."""
    return f"{made} OVER (PARTITION BY point ORDER BY {value} {_BEGINNING} CURRENT ROW)"


def _whole(made: str, value: str = "elapsed_ns") -> str:
    """Return an aggregate over all rows of a point, which are put in order for others anyway."""
    return f"{made} OVER (PARTITION BY point ORDER BY {value} {_BEGINNING} UNBOUNDED FOLLOWING)"


def durations(checkpoints: DataFrame) -> DataFrame:
    """Return each duration of a point once, ascending, with its place among all.

    Columns: `point`, `elapsed_ns`, `done` (completed ones of this duration), `so_far` (up to it),
    `all_done`, `n` and one per way of not completing. `below` is the estimated share of checkpoints
    that take no longer, and `before` the share of the duration before.

    A checkpoint that was aborted, expired or still pending has no duration, only a bound that its
    duration would have exceeded.  It is censored, and counts as longer than an equal one that
    ended.  Source: E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete
    observations, J. Am. Stat. Assoc. 53 (1958).
    """
    ways = {name: f"count_if(status = '{name}')" for name in UNFINISHED}
    counts = {"count": "count(*)", "done": "count_if(ended)", **ways}
    placed = derived(
        grouped(checkpoints, ["point", "elapsed_ns"], counts),
        ["point", "elapsed_ns", "done"],
        {
            "n": _whole("sum(count)"),
            **{name: _whole(f"sum({name})") for name in UNFINISHED},
            "at_risk": f"{_whole('sum(count)')} - {_over('sum(count)')} + count",
            "so_far": _over("sum(done)"),
            "all_done": _whole("sum(done)"),
        },
    )
    staying = f.product(f.expr("1 - done / at_risk"))  # in the order of the durations
    ascending = Window.partitionBy("point").orderBy("elapsed_ns")
    so_far = ascending.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    found = placed.withColumn("below", 1 - staying.over(so_far)).drop("at_risk")
    before = f.expr("lag(below, 1, 0D) OVER (PARTITION BY point ORDER BY elapsed_ns)")
    return found.withColumn("before", before)


def latency(steps: DataFrame) -> DataFrame:
    """Return the quantiles of checkpoint durations per point. steps: as from `durations`.

    Columns: `point`, `n`, `completed`, one count per way of not completing, `probability`,
    `completed_ns` and `latency_ns`. The first is exact, of completed checkpoints alone. The second
    has the others as censored, and is empty when too few completed.
    """
    # Few durations answer anything: those at which a count or a share reaches a probability.
    reached = "below >= p - 1e-12D AND before < p - 1e-12D"
    place = "p * (all_done - 1)"
    counted = f"so_far > floor({place}) AND so_far - done <= ceil({place})"
    probabilities = f"array({', '.join(f'{p}D' for p in PROBABILITIES)})"
    asked = f"filter({probabilities}, p -> done > 0 AND ({counted} OR {reached}))"
    few = steps.select("*", f.expr(f"explode({asked})").alias("probability"))
    made = {
        "completed_ns": quantile("probability", value="elapsed_ns", so_far="so_far", n="all_done"),
        "latency_ns": "min(if(below >= probability - 1e-12D, elapsed_ns, null))",
    }
    totals = {name: f"max({name})" for name in ("n", *UNFINISHED)}
    sizes = grouped(steps, ["point"], {**totals, "completed": "max(all_done)"})
    every = sizes.select("*", f.expr(f"explode({probabilities})").alias("probability"))
    return every.join(
        grouped(few, ["point", "probability"], made), ["point", "probability"], "left"
    )


def quantile(probability: str, *, value: str, so_far: str, n: str) -> str:
    """Return the exact quantile with linear interpolation, from values with running counts.

    value: the column of values. so_far: how many there are up to this one. n: how many in all, the
    same in each row of a group.  Null where there are none.
    """
    place = f"{probability} * ({n} - 1)"
    below, above = (
        f"min(if({n} > 0 AND {so_far} > {end}({place}), {value}, null))"
        for end in ("floor", "ceil")
    )
    return f"{below} + max({place} - floor({place})) * ({above} - {below})"


def distribution(steps: DataFrame) -> DataFrame:
    """Return per point the estimated distribution of durations. steps: as from `durations`.

    Columns: `point`, `n`, `unfinished`, `latency_ns` and `below`, the share of checkpoints that
    take no longer.  Of more than STEPS steps every second, third, ... is kept, and the last.
    """
    numbered = derived(
        steps.where("done > 0"),
        ["point", "n", "below"],
        {
            "unfinished": "n - all_done",
            "latency_ns": "elapsed_ns",
            "index": _over("count(*)"),
            "last": _whole("count(*)"),
        },
    )
    kept = numbered.where(f"index % ceil(last / {STEPS}) = 0 OR index = last")
    return kept.drop("index", "last")


def phases(checkpoints: DataFrame) -> DataFrame:
    """Return per point and phase how much of the time of completed checkpoints it took.

    Columns: `point`, `phase`, `n`, `total_ns`, `duration_ns` (of those `n`) and `share`, the one
    over the other.  Checkpoints without the phase are left out.  The phases of WAITS follow each
    other. The ones of BARRIERS are each of the subtask for which it took longest.
    """
    cells = [
        {
            "phase": f"'{name}'",
            "lasted_ns": f"coalesce({name}, 0)",
            "filled": f"{first} IS NOT NULL",
        }
        for first, *more in (WAITS, BARRIERS)
        for name in (first, *more)
    ]
    found = unpivoted(checkpoints.where("ended"), ["point", "elapsed_ns"], cells)
    total, whole = "sum(lasted_ns)", "sum(elapsed_ns)"
    made = {"n": "count(*)", "total_ns": total, "duration_ns": whole}
    share = f"{total} / nullif({whole}, 0)"
    return grouped(found.where("filled"), ["point", "phase"], {**made, "share": share})


def first_barriers(checkpoints: DataFrame) -> DataFrame:
    """Return per point how long completed barrier checkpoints took to the last first barrier.

    Columns: `point`, `n`, `low_ns`, `median_ns`, `high_ns` (quartiles).  That is the latency of a
    barrier from its trigger to the task it reaches last, without alignment.
    """
    value = "start_delay_ns"
    known = checkpoints.where(f"ended AND {value} IS NOT NULL")
    placed = derived(
        grouped(known, ["point", value], {"count": "count(*)"}),
        ["point", value],
        {"so_far": _over("sum(count)", value), "n": _whole("sum(count)", value)},
    )
    quartiles = {
        name: quantile(place, value=value, so_far="so_far", n="n")
        for name, place in (("low_ns", "0.25D"), ("median_ns", "0.5D"), ("high_ns", "0.75D"))
    }
    return grouped(placed, ["point"], {"n": "max(n)", **quartiles})


def outliers(checkpoints: DataFrame) -> DataFrame:
    """Return the slowest checkpoints, one of a run, each with the command that replays its run.

    Of several that took equally long the first is shown, in the order of their names.
    """
    keys = ("run_key", "point", "seed", "ties", "replay")
    named = ("scope", "attempt", "checkpoint_id", "status", "reason", "triggered_ns")
    first = struct({"negative": "-elapsed_ns", **{name: name for name in named}})
    slowest = grouped(checkpoints, keys, {"first": f"min({first})"})
    return (
        slowest.orderBy("first.negative", "run_key")
        .limit(OUTLIERS)
        .select(*keys, "first.*")
        .withColumn("elapsed_ns", f.expr("-negative"))
    )
