"""Sweeps from Python: run a plan on Spark, and read the tables that it has written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ckptsim.scenarios.planning import Plan, load_plan, plan_from
from ckptsim.sim.extras import extras_explained
from ckptsim.sim.own_properties import own_properties

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """What a sweep did, and what is in its directory now.

    skipped: runs that were there already; done: runs of this call; wall_s: its seconds.
    runs, errors, violated: of all runs that are there, how many there are, how many raised an
    error, and how many violated a property that their scenario does not expect to break.
    """

    directory: Path
    skipped: int
    done: int
    wall_s: float
    runs: int
    errors: int
    violated: int


def sweep(
    plan: Plan | Mapping[str, object] | str | Path,
    *,
    out: str | Path,
    master: str = "local[*]",
    partitions: int | None = None,
    settings: Mapping[str, str] | None = None,
    resume: bool = True,
    properties: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Run every point of a plan with every seed and tie policy on Spark, and write the tables.

    plan: the name of one that `ckptsim list` shows, the path of its file, or what such a file
    holds as a mapping.  out: the directory of the tables, which is made; runs that are there are
    skipped, unless `resume` is False, which replaces them.
    master: any Spark master; a session is opened and closed.  partitions: tasks per Spark job, four
    per core when not given.  settings: of Spark.  properties: invariants of yours, as
    `package.module:function`, judged in every run.  progress: called with runs done and all runs.

    Raises ScenarioError for a plan that is wrong, UserError for a directory that holds another
    sweep or that another process writes into, for a cluster that is not reached, or when the extra
    `sweeps` is not installed.
    """
    with extras_explained():
        from ckptsim.analysis.spark.session import spark_session
        from ckptsim.analysis.sweeps.plan import prepare
        from ckptsim.analysis.sweeps.sweep import run_sweep
        from ckptsim.analysis.tables.store import SweepStore

        store = SweepStore(Path(out))
        with store.writing():
            names = tuple(own_properties(properties))
            rows = prepare(_plan(plan), store, resume=resume, properties=names)
            with spark_session(master, settings=settings) as session:
                summary = run_sweep(
                    session,
                    rows,
                    store,
                    partitions=partitions,
                    progress=lambda *, done, total: progress(done, total) if progress else None,
                )
        found = store.tally()
    return SweepResult(
        directory=store.directory,
        skipped=summary.skipped,
        done=summary.done,
        wall_s=summary.wall_s,
        runs=found.runs,
        errors=found.errors,
        violated=found.violated,
    )


def read_tables(directory: str | Path) -> dict[str, pd.DataFrame]:
    """Return the tables of a sweep as pandas frames, without Spark.

    "runs", "checkpoints", "task_checkpoints", "tasks", "releases", "recoveries", "violations" and
    "figures" have the columns of the row types of the same names (`RunRow`, ...), "goals" has
    run_key, goal and reached, each with its rows by run key and then in the order of the run.
    "points" has one row per point of the plan: point, scenario, link, source, and parameters and
    document as JSON.  Columns that may be empty have pandas' nullable types, so that nanoseconds
    stay exact.

    Raises UserError when the directory holds no sweep, or when the extra `sweeps` is not installed.
    """
    with extras_explained():
        from ckptsim.analysis.tables.frames import frames
        from ckptsim.analysis.tables.store import SweepStore

        return frames(SweepStore(Path(directory)))


def _plan(plan: Plan | Mapping[str, object] | str | Path) -> Plan:
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, Mapping):
        return plan_from(plan, source="plan")
    return load_plan(str(plan))
