"""What it takes to aggregate a large sweep: `python -m tests.bench summaries`.

Rows are drawn, not run.  `python -m tests.bench.summaries RUNS` measures another number of runs,
with the memory of Python and of Java beside it.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa

from ckptsim.analysis import summaries
from ckptsim.analysis.spark.session import spark_session
from ckptsim.analysis.sweeps.worker import SweepRow
from ckptsim.analysis.tables.schema import TABLES, arrow_schema
from ckptsim.analysis.tables.store import SweepStore
from tests.bench import Figure

RUNS = 20_000
CHECKPOINTS = 20  # of each run
POINTS = 10
RUNS_PER_PIECE = 20_000
ABOUT = {"plan": "drawn", "says": "", "scenario": "s", "program": "1", "axes": []}
Columns = dict[str, object]


def measure() -> list[Figure]:
    """Return the seconds that a sweep of drawn rows takes to aggregate."""
    return [aggregated(RUNS)]


def aggregated(runs: int) -> Figure:
    """Draw the rows of so many runs, aggregate them, and return how long that took."""
    with tempfile.TemporaryDirectory() as name:
        store = drawn(Path(name) / "sweep", runs)
        Path("/proc/self/clear_refs").write_text("5")  # forget what drawing has taken
        with spark_session() as session:
            began = perf_counter()
            summaries.refresh(session, store)
            seconds = perf_counter() - began
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        status = dict(line.split(":", 1) for line in lines)
        driver = int(status["VmHWM"].split()[0]) / 1024
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Figure(
        name=f"aggregating {runs:,} runs x {CHECKPOINTS} checkpoints",
        value=seconds,
        unit="s",
        says=f"{cpu.ru_utime + cpu.ru_stime:.0f} s of CPU in Java; "
        f"at most {driver:.0f} MB in Python and {cpu.ru_maxrss / 1024:.0f} MB in Java",
    )


def drawn(directory: Path, runs: int) -> SweepStore:
    """Write the rows of so many runs, each point with its share of the seeds."""
    store = SweepStore(directory)
    with store.writing():
        store.open({**ABOUT, "runs": runs})
        store.write_points(
            [
                SweepRow(
                    **dict.fromkeys(("run_key", "ties", "version", "replay"), ""),
                    link="sync",
                    source="s",
                    scenario="s",
                    seed=0,
                    point=point,
                    document='{"violates": []}',
                    parameters=_parameters(point),
                )
                for point in range(POINTS)
            ]
        )
        for tables in _pieces(runs):
            store.commit([tables])
    return store


def _parameters(point: int) -> str:
    return json.dumps({"sync.sockets.count": point}, separators=(",", ":"))


def _pieces(runs: int) -> Iterator[dict[str, bytes]]:
    draws = np.random.default_rng(1)
    for first in range(0, runs, RUNS_PER_PIECE):
        numbers = np.arange(first, min(runs, first + RUNS_PER_PIECE))
        rows = {"runs": _runs(numbers, draws), "checkpoints": _checkpoints(numbers, draws)}
        yield {table: _stream(table, rows.get(table, {})) for table in TABLES}


def _runs(numbers: np.ndarray, draws: np.random.Generator) -> Columns:
    count = len(numbers)
    return {
        "run_key": [f"{number:032x}" for number in numbers],
        "scenario": ["s"] * count,
        "seed": numbers // POINTS,
        "ties": ["structural"] * count,
        "outcome": ["completed"] * count,
        "ended_ns": draws.integers(10**9, 10**11, count),
        "records_produced": draws.integers(0, 10**6, count),
        "records_committed": draws.integers(0, 10**6, count),
        "checkpoints_completed": np.full(count, CHECKPOINTS - 2),
        "checkpoints_failed": np.full(count, 2),
        "parameters": [_parameters(int(number) % POINTS) for number in numbers],
        "replay": [f"ckptsim run s --seed {number}" for number in numbers],
    }


def _checkpoints(numbers: np.ndarray, draws: np.random.Generator) -> Columns:
    count = len(numbers) * CHECKPOINTS
    took = draws.lognormal(17, 1, count).astype(np.int64)
    place = np.tile(np.arange(CHECKPOINTS), len(numbers))
    return {
        "run_key": np.repeat([f"{number:032x}" for number in numbers], CHECKPOINTS),
        "scope": ["*"] * count,
        "checkpoint_id": place,
        "attempt": np.ones(count, dtype=np.int64),
        "kind": ["periodic"] * count,
        "status": np.where(place < 2, "aborted", "completed"),
        "triggered_ns": place * 10**9,
        "completed_ns": place * 10**9 + took,
        "duration_ns": took,
        "wait_records_ns": took // 2,
        "wait_upload_ns": took - took // 2,
        "persisted_bytes": took // 1000,
        "inner": np.zeros(count, dtype=bool),
    }


def _stream(table: str, columns: Columns) -> bytes:
    """Return columns as an Arrow stream. Those that are not drawn are zero, or empty."""
    schema = arrow_schema(table)
    size = len(columns["run_key"]) if columns else 0  # type: ignore[arg-type]
    zeros = {pa.string(): "", pa.int64(): 0, pa.float64(): 0.0, pa.bool_(): False}
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(size, field.type)
        if field.nullable
        else pa.array([zeros[field.type]] * size, field.type)
        for field in schema
    ]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_table(pa.Table.from_arrays(arrays, schema=schema))
    found: bytes = sink.getvalue().to_pybytes()
    return found


if __name__ == "__main__":
    print(aggregated(int(sys.argv[1])))
