"""Aggregate the rows of a sweep on Spark and write the summaries, each a table of Spark's.

A small sweep is read as one partition, so that nothing is shuffled, and its expressions are
interpreted, because they would take longer to compile than to evaluate.  The summaries of a large
one are the same, row by row and byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from ckptsim.analysis.summaries import checkpoints, points, runs, seeds
from ckptsim.analysis.summaries.columns import remember_names
from ckptsim.analysis.summaries.rows import is_shared, points_of, rows_of
from ckptsim.analysis.summaries.schema import ORDER, SUMMARIES
from ckptsim.analysis.tables import aggregates
from ckptsim.analysis.tables.pieces import read_table
from ckptsim.analysis.tables.store import SweepStore

SMALL_ROWS = 200_000  # up to here one task is quicker than a shuffle
ROWS_PER_PARTITION = 500_000
VALUES_PER_FILE = 4_000_000  # of the metrics of runs
THREADS = 2
_PARQUET = {
    "compression": "zstd",
    # Row groups are cut by the memory that writers share. This is too little for that.
    "parquet.block.size": str(16 << 20),
    # A column's footer lists its encodings in the order of hashes, which each Java process draws
    # anew.  Pages of this version without a dictionary have one encoding.
    "parquet.writer.version": "v2",
    "parquet.enable.dictionary": "false",
    # The manifest lists the complete summaries.
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
QUICK = {
    "spark.sql.maxPlanStringLength": "0",  # no one reads the plans, which are long
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.optimizer.disableHints": "true",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much there is to aggregate. seeds_max: at least the seeds of any point."""

    rows: int
    runs: int
    seeds_max: int
    tie_policies: int

    @property
    def is_small(self) -> bool:
        """Whether one task is quicker than several."""
        return self.rows <= SMALL_ROWS


def aggregate(session: SparkSession, store: SweepStore, *, by_path: bool | None = None) -> None:
    """Write the summaries of all rows that a sweep has. The caller is the writer.

    by_path: whether executors read and write the directory. Found out when not given.
    """
    size = _size(store)
    remember_names(session)
    own = session.newSession()  # its settings are ours alone
    for name, value in (QUICK if size.is_small else thorough(size)).items():
        own.conf.set(name, value)
    shared = is_shared(session, store.directory) if by_path is None else by_path
    _Aggregation(own, store, size, shared=shared).run()


def _size(store: SweepStore) -> Size:
    seeds: set[int] = set()
    ties: set[str] = set()
    count = 0
    for piece in store.pieces():
        found = read_table(store.directory / "runs" / piece.name, ["seed", "ties"])
        count += found.num_rows
        seeds.update(found["seed"].unique().to_pylist())
        ties.update(found["ties"].unique().to_pylist())
    return Size(rows=store.row_count(), runs=count, seeds_max=len(seeds), tie_policies=len(ties))


def thorough(size: Size) -> dict[str, str]:
    """Return the settings of Spark for a large sweep."""
    partitions = max(4, size.rows // ROWS_PER_PARTITION)
    return {
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.adaptive.enabled": "false",
        # One group at a time: all values of a metric at a point are put in order together.
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "1",
    }


class _Aggregation:
    """One aggregation of a sweep: the intermediate and the written tables."""

    def __init__(
        self, session: SparkSession, store: SweepStore, size: Size, *, shared: bool
    ) -> None:
        self._session = session
        self._store = store
        self._size = size
        self._shared = shared
        self._kept: list[DataFrame] = []
        self._staged = Path()

    def run(self) -> None:
        """Write all summaries, two at a time, and put them in the place of older ones."""
        self._staged = aggregates.staged(self._store.directory)
        try:
            rows = rows_of(self._session, self._store, by_path=self._shared)
            where = points_of(self._session, self._store.points())
            if self._size.is_small:
                rows = {table: frame.coalesce(1) for table, frame in rows.items()}
                where = where.coalesce(1)
            members = self._keep(runs.members(rows, where))
            lasting = self._keep(runs.lasting(rows, members))
            with ThreadPoolExecutor(THREADS) as threads:
                futures = [
                    threads.submit(self._of_seeds, rows, members, lasting),
                    threads.submit(self._of_points, rows, members, lasting),
                ]
                for future in futures:
                    future.result()
        finally:
            for frame in self._kept:
                frame.unpersist()

    def _of_seeds(self, rows: runs.Rows, members: DataFrame, lasting: DataFrame) -> None:
        metrics = self._write("metrics", runs.metrics(rows, members, lasting))
        ties, seeds_max = self._size.tie_policies, self._size.seeds_max
        values = seeds.replications(metrics, tie_policies=ties)
        values = self._write("replications", values)
        parts = (
            seeds.values_of_means(values),
            seeds.values_of_differences(values, baseline=0),
            seeds.values_of_theory(rows["figures"], members),
        )
        self._write("estimates", seeds.estimates(*parts, seeds_max=seeds_max))

    def _of_points(self, rows: runs.Rows, members: DataFrame, lasting: DataFrame) -> None:
        steps = self._keep(checkpoints.durations(lasting))
        made: dict[str, Callable[[], DataFrame]] = {
            "latency": lambda: checkpoints.latency(steps),
            "distribution": lambda: checkpoints.distribution(steps),
            "phases": lambda: checkpoints.phases(lasting),
            "first_barriers": lambda: checkpoints.first_barriers(lasting),
            "outliers": lambda: checkpoints.outliers(lasting),
            "outcomes": lambda: points.outcomes(members),
            "tasks": lambda: points.tasks(rows["tasks"], members),
            "violations": lambda: points.violations(rows["violations"], members),
            "errors": lambda: points.errors(members),
            "goals": lambda: points.goals(rows["goals"]),
        }
        for table, make in made.items():
            self._write(table, make())

    def _keep(self, frame: DataFrame) -> DataFrame:
        """Return a frame that is computed once: later frames do not plan it again."""
        if self._size.is_small:
            return frame.localCheckpoint(eager=False)
        self._kept.append(frame.persist())
        return frame

    def _write(self, table: str, frame: DataFrame) -> DataFrame:
        """Write a summary in its order with its schema. Return it as it is read."""
        schema = SUMMARIES[table]
        cast = [f"CAST({name} AS {kind}) AS {name}" for name, kind in schema.items()]
        found = frame.selectExpr(*cast)
        files = 1 + self._size.runs // VALUES_PER_FILE
        if not self._size.is_small:
            keys = ["metric", "seed"] if table in ("metrics", "replications") else []
            found = found.repartition(files if keys else 1, *keys)
        found = found.sortWithinPartitions(*map(f.expr, ORDER[table]))
        path = self._staged / table
        if self._shared:
            found.write.options(**_PARQUET).parquet(path.resolve().as_uri())
            return self._session.read.schema(found.schema).parquet(path.resolve().as_uri())
        # No one but the driver sees the directory: rows come home, and it writes them.
        rows = found.toArrow()
        path.mkdir()
        parquet.write_table(rows, path / "part-00000.parquet", compression="zstd")
        return self._session.createDataFrame(rows)
