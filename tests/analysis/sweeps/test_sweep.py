"""Sweeps on Spark, with a world that costs nothing."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.cloudpickle import dumps
from pyspark.sql import SparkSession

from ckptsim.analysis.sweeps.plan import sweep_rows
from ckptsim.analysis.sweeps.sweep import SweepSummary, chunk_task, run_sweep
from ckptsim.analysis.sweeps.worker import SweepRow, run_chunk
from ckptsim.analysis.tables.schema import TABLES
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.planning import plan_from
from tests.analysis.sweeps import synthetic

pytestmark = pytest.mark.spark
POINTS = [synthetic.point(checkpoints=count) for count in (1, 5, 3)]
ABOUT = {"plan": "p", "version": "1"}


def swept(
    spark: SparkSession,
    directory: Path,
    rows: list[SweepRow],
    *,
    world: str = synthetic.WORLD,
    partitions: int | None = 4,
) -> SweepSummary:
    store = SweepStore(directory)
    store.open(ABOUT)
    return run_sweep(spark, rows, store, world=world, partitions=partitions)


def contents(directory: Path) -> dict[str, bytes]:
    """Return all rows of each table, sorted by run, as the bytes of an Arrow table."""
    found = {}
    for table in TABLES:
        whole = parquet.read_table(directory / table).sort_by("run_key")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, whole.schema) as stream:
            stream.write_table(whole.combine_chunks())
        found[table] = sink.getvalue().to_pybytes()
    return found


def test_rows_are_the_same_for_every_partitioning(spark: SparkSession, tmp_path: Path) -> None:
    """1, 4 and 16 partitions leave byte-identical rows."""
    rows = synthetic.rows(POINTS, range(1, 13))
    for partitions in (1, 4, 16):
        swept(spark, tmp_path / str(partitions), rows, partitions=partitions)
    one = contents(tmp_path / "1")
    assert contents(tmp_path / "4") == one
    assert contents(tmp_path / "16") == one
    assert pa.ipc.open_stream(one["runs"]).read_all().num_rows == 36
    assert pa.ipc.open_stream(one["checkpoints"]).read_all().num_rows == 12 * (1 + 5 + 3)


def test_a_run_is_the_same_first_last_and_twice(spark: SparkSession, tmp_path: Path) -> None:
    """A run leaves the same rows whatever its worker ran before."""
    rows = synthetic.rows(POINTS, [1, 2, 3])
    probe = rows[4]
    shipped = [[probe, *rows, probe], [*rows, probe], [probe, probe, probe]]
    task = chunk_task(synthetic.WORLD, spark.sparkContext.accumulator(0))
    results = spark.sparkContext.parallelize(shipped, 1).map(task).collect()
    found = set()
    for result in results:
        for table in ("runs", "checkpoints"):
            whole = pa.ipc.open_stream(result.tables[table]).read_all().to_pylist()
            mine = [tuple(row.items()) for row in whole if row["run_key"] == probe.run_key]
            size = 1 if table == "runs" else 5
            found |= {(table, *mine[i : i + size]) for i in range(0, len(mine), size)}
    assert len(found) == 2


def test_a_sweep_resumes_where_it_was_interrupted(spark: SparkSession, tmp_path: Path) -> None:
    """Present files are skipped, partial ones are removed, and the result is the same."""
    rows = synthetic.rows(POINTS, [1, 2, 3, 4])
    swept(spark, tmp_path / "whole", rows)
    directory = tmp_path / "resumed"
    swept(spark, directory, rows[:5])
    (directory / "_staging").mkdir(exist_ok=True)
    (directory / "_staging" / "runs-half.parquet").write_bytes(b"half")
    orphan = f"{0:016x}.parquet"
    (directory / "checkpoints" / orphan).write_bytes(b"its runs were not moved in")
    listed = json.loads((directory / "pieces.json").read_text())
    (directory / "pieces.json").write_text(json.dumps([*listed, orphan]))
    assert len(SweepStore(directory).columns("checkpoints", ["run_key"])) == 9

    summary = swept(spark, directory, rows)
    assert (summary.skipped, summary.done) == (5, 7)
    assert contents(directory) == contents(tmp_path / "whole")
    again = swept(spark, directory, rows)
    assert (again.skipped, again.done) == (12, 0)


def test_an_interruption_leaves_whole_runs_only(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C between two moves of a piece loses that piece and nothing else."""
    rows = synthetic.rows(POINTS, [1, 2, 3, 4])
    plain_replace = Path.replace
    moves = 0

    def interrupted(self: Path, target: Path) -> Path:
        nonlocal moves
        moves += "_staging" in str(self)
        if moves == 4:
            raise KeyboardInterrupt
        return plain_replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        swept(spark, tmp_path / "cut", rows, partitions=1)
    monkeypatch.undo()
    assert SweepStore(tmp_path / "cut").run_keys() == set()
    swept(spark, tmp_path / "cut", rows)
    swept(spark, tmp_path / "whole", rows)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_what_a_chunk_hands_back_is_run_later(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks that may take no time do one run each and hand back the rest. All come in the end."""
    monkeypatch.setattr("ckptsim.analysis.sweeps.sweep.WAVE_S", 0.0)
    rows = synthetic.rows(POINTS, [1, 2, 3, 4])
    summary = swept(spark, tmp_path / "out", rows, partitions=2)
    assert summary.done == 12
    monkeypatch.undo()
    swept(spark, tmp_path / "whole", rows)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_chunk_begins_nothing_after_its_time() -> None:
    """A chunk does its first run whatever it takes, and says which runs it has done."""
    rows = synthetic.rows(POINTS, [1, 2])
    result = run_chunk(synthetic.WORLD, rows, each=lambda: None, budget_s=0.0)
    assert result.run_keys == (rows[0].run_key,)
    assert len(result.seconds) == 1
    assert pa.ipc.open_stream(result.tables["runs"]).read_all().num_rows == 1


def test_a_program_that_changes_meanwhile_ends_all_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Runs with other keys than requested are done once, not again and again."""
    rows = [
        replace(row, run_key=f"{row.run_key[:-1]}x") for row in synthetic.rows(POINTS, [1, 2, 3])
    ]
    summary = swept(spark, tmp_path / "out", rows, world=synthetic.WORLD)
    assert summary.done == 9
    assert parquet.read_table(tmp_path / "out" / "runs").num_rows == 9


def test_a_run_that_raises_becomes_a_row(spark: SparkSession, tmp_path: Path) -> None:
    """An error is recorded with its text and replay command. All other runs are done."""
    rows = synthetic.rows([synthetic.point(fails=3)], range(1, 9))
    swept(spark, tmp_path / "out", rows)
    runs = parquet.read_table(tmp_path / "out" / "runs").to_pylist()
    failed = [run for run in runs if run["outcome"] == "error"]
    assert len(runs) == 8
    assert [(run["seed"], run["error"], run["replay"]) for run in failed] == [
        (3, "ValueError: seed 3 is the one that fails", "replay 3")
    ]


def test_a_run_that_kills_its_worker_becomes_a_row(spark: SparkSession, tmp_path: Path) -> None:
    """A worker's death costs the run that caused it and no other."""
    rows = synthetic.rows([synthetic.point(dies=2)], range(1, 7))
    swept(spark, tmp_path / "out", rows, partitions=2)
    runs = parquet.read_table(tmp_path / "out" / "runs").to_pylist()
    outcomes = {run["seed"]: run["outcome"] for run in runs}
    assert outcomes == {seed: "error" if seed == 2 else "completed" for seed in range(1, 7)}


def test_global_random_is_refused_in_workers(spark: SparkSession, tmp_path: Path) -> None:
    """Two forked workers share the state of a global generator, so drawing from it raises."""
    rows = synthetic.rows([synthetic.point()], [1])
    swept(spark, tmp_path / "out", rows, world=synthetic.WORLD_OF_GLOBALS)
    (run,) = parquet.read_table(tmp_path / "out" / "runs").to_pylist()
    assert run["error"].startswith("GlobalRandomError")


def test_workers_hash_texts_alike(spark: SparkSession) -> None:
    """All workers have one hash seed, so that a slip shows as a difference to the driver."""

    def hashed(_: int) -> int:
        return hash("ckptsim")

    assert spark.sparkContext.parallelize(range(8), 8).map(hashed).distinct().count() == 1


def test_what_is_shipped_is_small(spark: SparkSession) -> None:
    """The shipped function captures names and a counter. Rows share the text of their scenario."""
    task = chunk_task(synthetic.WORLD, spark.sparkContext.accumulator(0))
    assert len(dumps(task)) < 600
    rows = synthetic.rows(POINTS[:1], range(100))
    assert len(pickle.dumps(rows)) < len(rows[0].document) + 100 * 250


def test_progress_ends_at_the_total(spark: SparkSession, tmp_path: Path) -> None:
    """The progress never goes back and ends with all runs done."""
    seen: list[tuple[int, int]] = []

    def progress(*, done: int, total: int) -> None:
        seen.append((done, total))

    store = SweepStore(tmp_path)
    store.open(ABOUT)
    rows = synthetic.rows(POINTS, range(20))
    run_sweep(spark, rows, store, world=synthetic.WORLD, partitions=4, progress=progress)
    assert seen == sorted(seen)
    assert seen[-1] == (60, 60)


def refused(check: Callable[[], None]) -> str:
    with pytest.raises(UserError) as caught:
        check()
    return str(caught.value)


def test_a_directory_belongs_to_one_sweep(tmp_path: Path) -> None:
    """Another plan, another program version or other files in the directory are refused."""
    SweepStore(tmp_path / "a").open(ABOUT)
    SweepStore(tmp_path / "a").open(ABOUT)
    other = refused(lambda: SweepStore(tmp_path / "a").open({"plan": "q", "version": "1"}))
    assert "another plan or program version" in other
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.txt").write_text("mine")
    assert "other files" in refused(lambda: SweepStore(tmp_path / "b").open(ABOUT))
    assert "no sweep.json" in refused(lambda: SweepStore(tmp_path / "c").about() and None)


def test_clearing_removes_nothing_but_a_sweep(tmp_path: Path) -> None:
    """The user's other files survive a replaced sweep."""
    store = SweepStore(tmp_path)
    store.open(ABOUT)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "runs").mkdir()
    store.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_violations_are_counted_while_a_sweep_runs(spark: SparkSession, tmp_path: Path) -> None:
    """The number only grows, and ends as the number of runs that violate a property."""
    found = {"name": "wrong", "scenario": "reference", "replications": 4,
             "grid": {"mutant": ["none", "no_ordering"]}}  # fmt: skip
    rows = sweep_rows(plan_from(found, source="test"))
    store = SweepStore(tmp_path / "out")
    store.open(ABOUT)
    store.write_points(rows)
    said: list[int] = []
    run_sweep(spark, rows, store, violated=said.append)
    assert said == sorted(said)
    assert said[-1] == store.tally().violated > 0
