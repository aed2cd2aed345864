"""What a Python worker does: run the worlds of one chunk of a sweep and return their tables.

A pure function of its input.  Nothing is kept between rows or chunks, so it makes no difference
in which worker, in which order or how often a row is run.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ckptsim.analysis.tables.schema import TABLES, arrow_stream, rows_of
from ckptsim.scenarios.files import document
from ckptsim.scenarios.spec import Scenario
from ckptsim.sim.judging import Judging
from ckptsim.sim.limits import UNLIMITED, Limits, limited
from ckptsim.sim.rows import RunResult, RunRow

World = Callable[..., RunResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow:
    """One run of a sweep, as it is shipped to a worker: plain values only.

    point: position of the swept point. Rows of one point differ in seed or ties only.
    source: what a command line names to get the scenario without the parameters.
    document: the scenario's document as JSON.
    parameters: the parameters that the plan sets, as canonical JSON.
    properties: of the user's, `package.module:function` each.
    cores: those that are not ours, slot -> `package.module:factory`, as canonical JSON. mutant: the
    name of a faulty one of ours.
    """

    run_key: str
    point: int
    scenario: str
    link: str
    source: str
    document: str
    parameters: str
    seed: int
    ties: str
    version: str
    replay: str
    properties: tuple[str, ...] = ()
    cores: str = "{}"
    mutant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkResult:
    """The tables of a chunk's runs as Arrow streams, and what each point cost.

    run_keys: of its runs, in the order of running.
    seconds: (point, seconds of this worker) per run, in the order of running.
    violated: how many of its runs violate a property that their scenario does not expect to.
    """

    run_keys: tuple[str, ...]
    tables: dict[str, bytes]
    seconds: list[tuple[int, float]]
    violated: int = 0


def run_chunk(
    world: str,
    rows: Sequence[SweepRow],
    *,
    each: Callable[[], None],
    limits: Limits = UNLIMITED,
    budget_s: float = math.inf,
) -> ChunkResult:
    """Run the world `package.module:function` once per row. `each` is called after each run.

    budget_s: no run begins after this time but the first. The result lacks those that have not.
    """
    function = load_world(world)
    scenarios: dict[str, Scenario] = {}
    results: list[RunResult] = []
    seconds: list[tuple[int, float]] = []
    violated = 0
    started = began = time.perf_counter()
    for row in rows:
        if results and began - started > budget_s:
            break
        results.append(_run(function, row, scenarios, limits))
        allowed = scenarios[row.document].violates if row.document in scenarios else ()
        violated += any(found.property not in allowed for found in results[-1].violations)
        ended = time.perf_counter()
        seconds.append((row.point, ended - began))
        began = ended
        each()
    # The keys that were asked for: a program that was changed meanwhile gives its runs others.
    keys = tuple(row.run_key for row in rows[: len(results)])
    tables = _streams(results)
    return ChunkResult(run_keys=keys, tables=tables, seconds=seconds, violated=violated)


def died(row: SweepRow, error: str) -> ChunkResult:
    """Return the result of a chunk of one run that took its worker with it."""
    tables = _streams([_failed(row, error)])
    return ChunkResult(run_keys=(row.run_key,), tables=tables, seconds=[])


def _streams(results: Sequence[RunResult]) -> dict[str, bytes]:
    """Return the rows of some runs as one Arrow stream per table, in the order of the runs."""
    collected: dict[str, list[object]] = {table: [] for table in TABLES}
    for result in results:
        for table, rows in rows_of(result).items():
            collected[table].extend(rows)
    return {table: arrow_stream(table, rows) for table, rows in collected.items()}


def load_world(world: str) -> World:
    """Return the function that `package.module:function` names."""
    module, _, attribute = world.partition(":")
    function: World = getattr(import_module(module), attribute)
    return function


def _run(
    function: World, row: SweepRow, scenarios: dict[str, Scenario], limits: Limits
) -> RunResult:
    """Run one row. Whatever it raises becomes a row that says so."""
    try:
        if row.document not in scenarios:
            scenarios[row.document] = document.read(
                json.loads(row.document), source=f"sweep point {row.point}"
            )
        with limited(limits):
            return function(
                scenarios[row.document],
                seed=row.seed,
                ties=row.ties,
                parameters=row.parameters,
                source=row.source,
                judging=Judging(properties=row.properties),
                **_design(row),
            )
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one bad run must not stop a sweep
        return _failed(row, f"{type(error).__name__}: {error}")


def _design(row: SweepRow) -> dict[str, Any]:
    """Return what a world is notified of cores that are not ours.

    They are judged as `check` does.
    """
    told: dict[str, Any] = {} if row.mutant is None else {"mutant": row.mutant}
    cores = json.loads(row.cores)
    if cores:
        from ckptsim.sim.rules.contract import Contracts  # no other row needs it

        told |= {"cores": cores, "watch": Contracts()}
    return told


def _failed(row: SweepRow, error: str) -> RunResult:
    """Return the result of a run that ended in an error: a row of outcome "error"."""
    run = RunRow(
        run_key=row.run_key,
        scenario=row.scenario,
        link=row.link,
        seed=row.seed,
        ties=row.ties,
        version=row.version,
        digest="",
        outcome="error",
        error=error[:4000],
        ended_ns=0,
        events=0,
        records_produced=0,
        records_committed=0,
        checkpoints_completed=0,
        checkpoints_failed=0,
        violations=0,
        attempts=0,
        parameters=row.parameters,
        replay=row.replay,
        cores=row.cores,
        mutant=row.mutant,
    )
    return RunResult(run=run)
