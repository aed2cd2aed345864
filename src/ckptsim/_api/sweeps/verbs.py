"""Sweeps from Python: run a plan or a varied scenario on Spark, read what one has written."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ckptsim._api.scenario import Named, Value, text_of
from ckptsim._api.subject import Cores
from ckptsim._api.sweeps.asked import designs_of, importable, plan_of
from ckptsim._api.sweeps.swept import Report, SweepResult
from ckptsim.scenarios import UserError
from ckptsim.scenarios.planning import Plan, is_design, size_of
from ckptsim.sim.extras import extras_explained
from ckptsim.sim.own_properties import Function, own_properties

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

_KEPT = ExitStack()


def sweep(
    plan: Plan | Mapping[str, object] | Named,
    *,
    vary: Mapping[str, Sequence[Value]] | None = None,
    seeds: int | None = None,
    set: Mapping[str, Value] | None = None,
    core: Cores | None = None,
    mutant: str | None = None,
    out: str | Path | None = None,
    spark: SparkSession | None = None,
    master: str = "local[*]",
    partitions: int | None = None,
    settings: Mapping[str, str] | None = None,
    resume: bool = True,
    costs: str | Path | None = None,
    metrics: Sequence[str] = (),
    properties: Sequence[Function | str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Run every combination of some values with every seed on Spark, and write the tables.

    plan: a scenario or the name or path of one, with `vary`: option -> values, by the names that
    `Scenario.with_` takes.  An axis `core.SLOT` has cores (`builtin` is ours), an axis `mutant`
    mutants (`none` is right), an axis `scenario` scenarios by name.  Or a plan: the name of one
    that `ckptsim list` shows, the path of its file, or what such a file holds as a mapping.
    seeds: runs of each point, 10 unless a plan says otherwise.  set, core, mutant: of all points.
    out: the directory of the tables. Without it `out/NAME` in the working directory, or the first
    of `out/NAME-2`, ... that is free or holds this very sweep.  Runs that are there are skipped,
    unless `resume` is False, which replaces them.
    spark: a session of yours, which stays open and keeps its settings. Else one is opened on
    `master`, any Spark master, with `settings`, and closed.  partitions: tasks per Spark job, four
    per core when not given.  costs: a file of measured costs of a store.
    metrics: those that answer, such as `ended_ns`.
    properties: invariants of yours, judged in every run, as functions or `package.module:function`.
    The workers import them by that name.  progress: called with runs done and all runs.

    Raises ScenarioError for the problems of a plan. Raises UserError for a directory with another
    sweep or writer, for an unreachable cluster, or when the extra `sweeps` is not installed.
    """
    with extras_explained():
        place = None if out is None else Path(out)
        base = Path("out") if place is None else place.parent
        change = {**(set or {}), **designs_of(plan, core, mutant)}
        how: dict[str, Any] = {"seeds": seeds, "costs": costs, "metrics": metrics, "base": base}
        asked, names = plan_of(plan, vary=vary or {}, change=change, **how)
        return swept(
            asked,
            place,
            lambda: _session(spark, master, settings),
            base=base,
            resume=resume,
            properties=tuple(map(importable, own_properties(properties).values())),
            about={"spark": spark, "names": names},
            partitions=partitions,
            progress=lambda *, done, total: progress(done, total) if progress else None,
        )


def swept(
    plan: Plan,
    place: Path | None,
    session: Callable[[], AbstractContextManager[SparkSession]],
    *,
    resume: bool,
    properties: Sequence[str],
    base: Path = Path("out"),
    report: bool = False,
    about: Mapping[str, Any] = MappingProxyType({}),
    **how: Any,
) -> SweepResult:
    """Run a plan and write its tables. session: opens one. about: fields. how: of `run_sweep`."""
    from ckptsim.analysis.sweeps.plan import prepared
    from ckptsim.analysis.sweeps.sweep import run_sweep

    page = None
    ready = prepared(plan, place, base=base, resume=resume, properties=tuple(properties))
    with ready as (store, rows):
        try:
            with session() as spark:
                summary = run_sweep(spark, rows, store, **how)
                if report:
                    from ckptsim.analysis.report import write_report

                    page = write_report(store.directory, spark)
        except KeyboardInterrupt as stop:
            done = f"{len(store.run_keys())} of {size_of(plan).runs} runs"
            kept = f"{done} are kept in {store.directory}; the same command does the rest"
            raise KeyboardInterrupt(kept) from stop
    return sweep_result(store, summary, report=page, **about)


def read_sweep(directory: str | Path, *, spark: SparkSession | None = None) -> SweepResult:
    """Return the sweep that a directory holds, with a Spark session if given. Raises UserError."""
    with extras_explained():
        from ckptsim.analysis.tables.store import SweepStore

        store = SweepStore(Path(directory))
        return sweep_result(store, spark=spark)


def read_tables(directory: str | Path) -> dict[str, pd.DataFrame]:
    """Return the tables of a sweep as pandas frames, without Spark.

    "runs", "checkpoints", "task_checkpoints", "tasks", "releases", "recoveries", "violations" and
    "figures" have the columns of the row types of the same names (`RunRow`, ...). "goals" has
    run_key, goal and reached. Rows are by run key, then in the order of the run. "points" has one
    row per point of the plan: point, scenario, link, source, and parameters and document as JSON.
    Columns that may be empty have pandas' nullable types, so that nanoseconds stay exact.

    Raises UserError when the directory holds no sweep, or when the extra `sweeps` is not installed.
    """
    with extras_explained():
        from ckptsim.analysis.tables.frames import frames
        from ckptsim.analysis.tables.store import SweepStore

        return frames(SweepStore(Path(directory)))


def report(
    directory: SweepResult | str | Path,
    *,
    metrics: Sequence[str] = (),
    by: str | None = None,
    points: Mapping[str, Value] | None = None,
    compare: str | Path | None = None,
    spark: SparkSession | None = None,
) -> Report:
    """Write one page with figures and answers of the sweeps in a directory, there.

    directory: of a sweep, or of several. Or what `sweep` returned.  metrics: answer with these
    instead of the plan's.  by: the swept parameter along which figures are laid.
    points: swept parameter -> the value of the points to show.  compare: the directory of another
    sweep of the plan.  spark: a session, where rows are newer than their summaries.

    Raises UserError when there is no sweep, ScenarioError for a view of unknown points.
    """
    with extras_explained():
        from ckptsim.analysis.report import View, sweeps_in, write_report

        place = directory.directory if isinstance(directory, SweepResult) else Path(directory)
        view = View(
            metrics=tuple(metrics),
            by=by,
            points=tuple(f"{name}={text_of(value)}" for name, value in (points or {}).items()),
            compare=None if compare is None else Path(compare),
        )
        view.check()
        places = [place, *([view.compare] if view.compare else [])]
        stores = [store for one in places for store in sweeps_in(one)]
        if all(map(_is_current, stores)):
            path = write_report(place, view=view)
        else:
            with _session(spark, "local[*]", None) as session:
                path = write_report(place, session, view=view)
        return Report(path=path, sweeps=[read_sweep(one.directory) for one in sweeps_in(place)])


def demo(out: str | Path = Path("out", "demo"), *, master: str = "local[*]") -> Report:
    """Sweep some scenarios and write and print a report, as `ckptsim demo`. Raises UserError."""
    from ckptsim.sim.cli.main import EXIT_VIOLATED, main

    code = main(["demo", "--out", str(out), "--master", master])
    if code > EXIT_VIOLATED:
        raise UserError(f"demo: ended with exit code {code}; the lines above say why")
    with extras_explained():
        from ckptsim.analysis.report import PAGE, sweeps_in

        found = [read_sweep(one.directory) for one in sweeps_in(Path(out))]
        return Report(path=Path(out) / PAGE, sweeps=found)


# Sessions ----------------------------------------------------------------------------------------


@contextmanager
def _session(
    spark: SparkSession | None, master: str, settings: Mapping[str, str] | None
) -> Iterator[SparkSession]:
    from ckptsim.analysis.spark.session import lent, spark_session

    if spark is not None:
        with lent(spark) as session:
            yield session
    else:
        with spark_session(master, settings=settings) as session:
            yield session


def kept_session() -> SparkSession:
    """Return the session that is open, or open one that stays until this process ends."""
    with extras_explained():
        from pyspark.sql import SparkSession as Session

        from ckptsim.analysis.spark.session import spark_session

        active = Session.getActiveSession()
        if active is not None:
            return active
        session = _KEPT.enter_context(spark_session())
        atexit.register(_KEPT.close)
        return session


# Results -----------------------------------------------------------------------------------------


def _is_current(store: Any) -> bool:
    from ckptsim.analysis.summaries import is_current

    return is_current(store)


def _named(store: Any) -> dict[str, str]:
    """Return how the columns of swept parameters are called: in a word, or by the end of a path."""
    about: Any = store.about()
    words: Mapping[str, str] = about["words"]
    paths = [path for path, _ in about["axes"]]
    ends = [path if is_design(path) else path.rpartition(".")[2] for path in paths]
    short = {path: end for path, end in zip(paths, ends, strict=True) if ends.count(end) == 1}
    return {path: words.get(path, short.get(path, path)) for path in paths}


def sweep_result(
    store: Any,
    summary: Any = None,
    *,
    spark: SparkSession | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
    report: Path | None = None,
) -> SweepResult:
    """Return the content of a store. summary: of the runs of this call, None for none."""
    did = {"skipped": 0, "done": 0, "wall_s": 0.0} if summary is None else asdict(summary)
    return SweepResult(
        directory=store.directory,
        names={**_named(store), **names},
        spark=spark,
        report=report,
        **asdict(store.tally()),
        **did,
    )
