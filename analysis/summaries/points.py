"""What the runs of each point come to, without their checkpoints' durations.

`runs` is always as from `runs.members`: the runs with the position of their point.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from ckptsim.analysis.summaries.columns import derived, grouped
from ckptsim.analysis.summaries.schema import EXAMPLES, OUTCOMES, TASK_MEANS

SCALE = 10**9  # means over subtasks are sums of integers: the order of adding makes no difference


def outcomes(runs: DataFrame) -> DataFrame:
    """Return per point how its runs ended, and under how many tie policies they ran."""
    made = {
        "runs": "count(*)",
        **{name: f"count_if(outcome = '{name}')" for name in OUTCOMES},
        "violations": "sum(violations)",
        "runs_violated": "count_if(violations > 0)",
        "attempts": "sum(attempts)",
        "tie_policies": "size(collect_set(ties))",
    }
    return grouped(runs, ["point"], made)


def tasks(rows: DataFrame, runs: DataFrame) -> DataFrame:
    """Return per point and task how its subtasks spent their time, and what waited around them.

    Columns: `point`, `task`, `subtasks` (of one run), and the means of TASK_MEANS over the subtasks
    of all runs.
    """
    scaled = {name: f"sum(cast(rint({name} * {SCALE}) AS decimal(28,0)))" for name in TASK_MEANS}
    of_run = grouped(rows, ["run_key", "task"], {"subtasks": "count(*)", **scaled})
    means = {name: f"double(sum({name})) / sum(subtasks) / {SCALE}D" for name in TASK_MEANS}
    known = of_run.join(runs.select("run_key", "point"), "run_key")
    return grouped(known, ["point", "task"], {"subtasks": "max(subtasks)", **means})


def violations(rows: DataFrame, runs: DataFrame) -> DataFrame:
    """Return per point and property how many runs broke it, with the first examples.

    Columns: `point`, `property`, `runs` that broke it, `of` all the point's runs, `rank` from 1,
    and of the example `seed`, `ties`, `at_ns`, `says`, `story`, `replay`.
    """
    first = {"first": "min(struct(at_ns, says, story, replay))"}
    mine = grouped(rows, ["run_key", "property"], first)
    named = ("point", "property", "seed", "ties", "first")
    broken = "OVER (PARTITION BY point, property"
    ranked = derived(
        mine.join(runs.select("run_key", "point", "seed", "ties"), "run_key"),
        named,
        {
            "rank": f"row_number() {broken} ORDER BY seed, ties, first)",
            "runs": f"count(*) {broken})",
        },
    )
    sizes = grouped(runs, ["point"], {"of": "count(*)"})
    found = ranked.where(f"rank <= {EXAMPLES}").join(sizes, "point")
    return found.select("point", "property", "runs", "of", "rank", "seed", "ties", "first.*")


def errors(runs: DataFrame) -> DataFrame:
    """Return per point and error text how many runs ended in it, with the first one's replay."""
    made = {"runs": "count(*)", "first": "min(struct(seed, ties, replay))"}
    known = derived(
        runs.where("outcome = 'error'"),
        ["point", "seed", "ties", "replay"],
        {"error": "coalesce(error, 'None')"},
    )
    found = grouped(known, ["point", "error"], made)
    return found.select("point", "error", "runs", "first.seed", "first.replay")


def goals(rows: DataFrame) -> DataFrame:
    """Return per goal in how many runs it was reached, and how often in all."""
    made = {"runs": "count(*)", "runs_reached": "count_if(reached > 0)", "reached": "sum(reached)"}
    return grouped(rows, ["goal"], made)
