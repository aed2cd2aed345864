"""Sweeps from Python: run a plan or a varied scenario on Spark, read what one has written."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ckptsim import scenarios
from ckptsim._api.scenario import Named, Scenario, Value, scenario_of, text_of
from ckptsim._api.subject import Cores, cores_of
from ckptsim._api.sweeps.asked import asked_plan
from ckptsim._api.sweeps.swept import Report, SweepResult
from ckptsim.scenarios import ScenarioError, UserError, scenario_key
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import to_toml, written_whole
from ckptsim.scenarios.planning import (
    Plan,
    is_design,
    load_plan,
    plan_from,
    size_of,
    with_parameters,
)
from ckptsim.sim.extras import extras_explained
from ckptsim.sim.own_properties import Function, own_properties
from ckptsim.sim.slots.load import name_of

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

_SEEDS = 10
_KEY = 8  # digits of the name of a file
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
    out: the directory of the tables; without it `out/NAME` in the working directory, or the first
    of `out/NAME-2`, ... that is free or holds this very sweep.  Runs that are there are skipped,
    unless `resume` is False, which replaces them.
    spark: a session of yours, which stays open and keeps its settings; else one is opened on
    `master`, any Spark master, with `settings`, and closed.  partitions: tasks per Spark job, four
    per core when not given.  costs: a file of measured costs of a store.
    metrics: those that answer, such as `ended_ns`.
    properties: invariants of yours, judged in every run, as functions or `package.module:function`;
    the workers import them by that name.  progress: called with runs done and all runs.

    Raises ScenarioError for what is wrong in a plan, UserError for a directory that holds another
    sweep or that another process writes into, for a cluster that is not reached, or when the extra
    `sweeps` is not installed.
    """
    with extras_explained():
        base = Path("out") if out is None else Path(out).parent
        designs = _designs(plan, core, mutant)
        asked, names = _plan(
            plan,
            vary=vary or {},
            change={**(set or {}), **designs},
            seeds=seeds,
            costs=costs,
            metrics=metrics,
            base=base,
        )
        return swept(
            asked,
            None if out is None else Path(out),
            lambda: _session(spark, master, settings),
            base=base,
            resume=resume,
            properties=tuple(map(_importable, own_properties(properties).values())),
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
    """Run a plan and write its tables; session: opens the session when these are ready for it.

    report: write the page, too; about: fields of the result; how: as of `run_sweep`.
    """
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
    """Return the sweep that a directory holds, wherever it was made; it runs nothing.

    spark: a session for `spark=True` of its methods.
    Raises UserError when the directory holds no sweep, or when the extra `sweeps` is not installed.
    """
    with extras_explained():
        from ckptsim.analysis.tables.store import SweepStore

        store = SweepStore(Path(directory))
        return sweep_result(store, spark=spark)


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

    directory: of a sweep, or of several; or what `sweep` returned.  metrics: answer with these
    instead of the plan's.  by: the swept parameter along which figures are laid.
    points: swept parameter -> the value of the points to show.  compare: the directory of another
    sweep of the plan.  spark: a session, where rows are newer than their summaries.

    Raises UserError when there is no sweep, ScenarioError for a view of what is not there.
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
    """Sweep some scenarios of the library and write a report, as `ckptsim demo` does.

    It prints what it does.  Raises UserError where the command would refuse.
    """
    from ckptsim.sim.cli.main import EXIT_VIOLATED, main

    code = main(["demo", "--out", str(out), "--master", master])
    if code > EXIT_VIOLATED:
        raise UserError(f"demo: ended with exit code {code}; the lines above say why")
    with extras_explained():
        from ckptsim.analysis.report import PAGE, sweeps_in

        found = [read_sweep(one.directory) for one in sweeps_in(Path(out))]
        return Report(path=Path(out) / PAGE, sweeps=found)


# What is swept -----------------------------------------------------------------------------------


def _plan(
    plan: Plan | Mapping[str, object] | Named,
    *,
    vary: Mapping[str, Sequence[Value]],
    change: Mapping[str, Value],
    seeds: int | None,
    costs: str | Path | None,
    metrics: Sequence[str],
    base: Path,
) -> tuple[Plan, dict[str, str]]:
    """Return the plan that is asked for, and how its swept parameters were called, by path."""
    if isinstance(plan, Plan | Mapping):
        if vary or change or metrics or costs is not None:
            raise UserError("sweep: found vary, set, core or costs beside a plan, expected its own")
        found = plan if isinstance(plan, Plan) else plan_from(plan, source="plan")
        return (replace(found, replications=seeds, seeds=()) if seeds else found), {}
    source, own = str(plan), dict[str, object]()
    if isinstance(plan, scenarios.Scenario):
        source, own = _source_of(plan, base)
    words = [f"{name}={text_of(value)}" for name, value in {**own, **change}.items()]
    if not vary and not isinstance(plan, scenarios.Scenario):
        found = load_plan(source)
        if not words and not metrics and costs is None:
            return (replace(found, replications=seeds, seeds=()) if seeds else found), {}
    axes = {name: [_axis_text(one) for one in values] for name, values in vary.items()}
    if not axes and isinstance(plan, scenarios.Scenario):
        raise UserError("vary: found nothing, expected option -> values that are swept")
    try:
        asked = asked_plan(
            source,
            vary=axes,
            change=words,
            seeds=seeds or (_SEEDS if vary else None),
            costs=None if costs is None else Path(costs),
            metrics=metrics,
        )
    except ScenarioError as error:
        raise ScenarioError([_here(problem) for problem in error.problems]) from error
    return asked, dict(zip([*asked.grid][len(asked.grid) - len(vary) :], vary, strict=True))


def _here(problem: scenarios.Problem) -> scenarios.Problem:
    path = problem.path.replace("--vary", "vary", 1).replace("--set", "set", 1)
    return scenarios.Problem(path, problem.found, problem.expected)


def _source_of(scenario: scenarios.Scenario, base: Path) -> tuple[str, dict[str, object]]:
    """Return a file or name from which a scenario comes, and what is set in it by path.

    One that was made or changed here is written beside the tables, so that commands can repeat its
    runs.
    """
    bare = scenario_of(scenario)
    if isinstance(scenario, Scenario) and scenario.origin is not None:
        origin = scenario.origin
        scalars = not any(isinstance(v, list | dict) for v in origin.parameters.values())
        try:
            now = with_parameters(by_name(origin.source), origin.parameters)
        except ScenarioError:
            now = None
        if scalars and now == bare:
            return origin.source, dict(origin.parameters)
    path = base / f"{bare.name}-{scenario_key(bare)[:_KEY]}.toml"
    written_whole(path, to_toml(bare))
    return str(path), {}


def _axis_text(value: Value) -> str:
    """Return a value of an axis as text; a core as the name by which workers import it."""
    return _importable(value) if callable(value) else text_of(value)


def _designs(
    plan: Plan | Mapping[str, object] | Named, core: Cores | None, mutant: str | None
) -> dict[str, str]:
    """Return the cores and the mutant of all points, by the paths of plans."""
    designs = {} if mutant is None else {"mutant": mutant}
    if core is None:
        return designs
    if isinstance(core, Mapping):
        named = dict(core)
    else:
        if isinstance(plan, Plan | Mapping):
            raise UserError("core: found a text beside a plan, expected slot -> core")
        named = cores_of(scenario_of(plan), core)
    return designs | {
        f"core.{slot}": _importable(one) if callable(one) else one for slot, one in named.items()
    }


def _importable(function: Any) -> str:
    """Return `package.module:name` of a function that workers can import.

    Raises UserError for one that they cannot.
    """
    name = name_of(function)
    module, _, inside = name.partition(":")
    if module == "__main__" or "<" in inside:
        expected = "one of a module, which the workers can import"
        raise UserError(f"sweep: found {name}, a function of this session, expected {expected}")
    return name


# Sessions ----------------------------------------------------------------------------------------


@contextmanager
def _session(
    spark: SparkSession | None, master: str, settings: Mapping[str, str] | None
) -> Iterator[SparkSession]:
    """Lend a session of the user's, or open one for now."""
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
    """Return what is in a store; summary: of the runs of this call, None for none."""
    did = {"skipped": 0, "done": 0, "wall_s": 0.0} if summary is None else asdict(summary)
    return SweepResult(
        directory=store.directory,
        names={**_named(store), **names},
        spark=spark,
        report=report,
        **asdict(store.tally()),
        **did,
    )
