"""How well a sweep on Spark uses two cores, beside a pool of processes and a serial loop.

All run the same worlds, make the same tables and write them. Spark's session and the pool's
processes are started before the clock.  Spark runs them once more with the aggregation of rows,
which costs the same for short runs and long ones.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from ckptsim.analysis.spark.session import spark_session
from ckptsim.analysis.sweeps.plan import about_sweep, sweep_rows
from ckptsim.analysis.sweeps.sweep import WORLD, run_sweep
from ckptsim.analysis.sweeps.worker import ChunkResult, SweepRow, run_chunk
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.planning import Plan, plan_from
from tests.bench import Figure, interleaved, ratio, ratio_spread

CORES = 2
ROUNDS = 5
POOL_CHUNK = 25  # runs that a process of the pool takes at a time: the best of 8, 25 and 100
PLAN = {
    "name": "bench",
    "scenario": "reference",
    "replications": 200,
    "overrides": {"sync.streams[*].records": 1000},
}


def measure() -> list[Figure]:
    """Return the efficiency of each way, the serial loop's time over the one of two ideal cores."""
    plan = plan_from(PLAN, source="bench")
    rows = sweep_rows(plan)
    with (
        spark_session(f"local[{CORES}]") as session,
        multiprocessing.get_context("forkserver").Pool(CORES) as pool,
    ):

        def on_spark() -> None:
            with tempfile.TemporaryDirectory() as name:
                run_sweep(session, rows, _store(name, plan, rows))

        def aggregated() -> None:
            with tempfile.TemporaryDirectory() as name:
                store = _store(name, plan, rows)
                store.write_points(rows)
                run_sweep(session, rows, store)

        def on_pool() -> None:
            with tempfile.TemporaryDirectory() as name:
                chunks = [rows[i : i + POOL_CHUNK] for i in range(0, len(rows), POOL_CHUNK)]
                _save(_store(name, plan, rows), pool.map(_chunk, chunks, chunksize=1))

        def serial() -> None:
            with tempfile.TemporaryDirectory() as name:
                _save(_store(name, plan, rows), [_chunk(rows)])

        cases = {"serial": serial, "pool": on_pool, "spark": on_spark, "aggregated": aggregated}
        seconds = interleaved(cases, rounds=ROUNDS, clock=perf_counter)
    run_ms = 1000 * median(seconds["serial"]) / len(rows)
    extra = [b - a for a, b in zip(seconds["spark"], seconds["aggregated"], strict=True)]
    says = f"{len(rows)} runs of {run_ms:.0f} ms; serial / ({CORES} x wall)"
    ideal = [each / CORES for each in seconds["serial"]]
    return [
        Figure(
            name="Spark, efficiency on two cores",
            value=ratio(ideal, seconds["spark"]),
            spread=ratio_spread(ideal, seconds["spark"]),
            says=f"local[{CORES}], {says}",
        ),
        Figure(
            name="pool of processes, efficiency on two cores",
            value=ratio(ideal, seconds["pool"]),
            spread=ratio_spread(ideal, seconds["pool"]),
            says=f"multiprocessing.Pool({CORES}) in chunks of {POOL_CHUNK}, {says}",
        ),
        Figure(
            name="Spark / pool",
            value=ratio(seconds["pool"], seconds["spark"]),
            spread=ratio_spread(seconds["pool"], seconds["spark"]),
            at_least=0.95,
            says=f"the pool's wall time over that of Spark, {ROUNDS} rounds in turn",
        ),
        Figure(
            name="Spark / pool, aggregation included",
            value=ratio(seconds["pool"], seconds["aggregated"]),
            spread=ratio_spread(seconds["pool"], seconds["aggregated"]),
            at_least=0.95,
            says=f"the aggregation takes {median(extra):.1f} s of {len(rows)} runs, of any length",
        ),
    ]


def _chunk(rows: list[SweepRow]) -> ChunkResult:
    return run_chunk(WORLD, rows, each=partial(int))


def _store(name: str, plan: Plan, rows: list[SweepRow]) -> SweepStore:
    store = SweepStore(Path(name) / "sweep")
    store.open(about_sweep(plan, rows))
    return store


def _save(store: SweepStore, results: list[ChunkResult]) -> None:
    store.commit([result.tables for result in results])
