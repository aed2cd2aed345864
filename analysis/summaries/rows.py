"""The rows of a sweep as Spark DataFrames: the pieces that are whole, with the declared schema."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, types
from pyspark.sql import functions as f

from ckptsim.analysis.spark.session import is_local
from ckptsim.analysis.summaries.schema import POINT
from ckptsim.analysis.tables.pieces import Piece, count_rows, read_piece
from ckptsim.analysis.tables.schema import TABLES, arrow_schema, columns
from ckptsim.analysis.tables.store import MANIFEST, SweepStore

# The tables that summaries are made of.
READ = ("runs", "checkpoints", "recoveries", "tasks", "violations", "goals", "figures")
_TYPES = {
    str: types.StringType(),
    int: types.LongType(),
    float: types.DoubleType(),
    bool: types.BooleanType(),
}


def spark_schema(table: str) -> types.StructType:
    """Return a table's schema for Spark."""
    fields = [
        types.StructField(column.name, _TYPES[column.type], column.nullable)
        for column in columns(TABLES[table])
    ]
    return types.StructType(fields)


def is_shared(session: SparkSession, directory: Path) -> bool:
    """Return whether the executors see a directory as the driver does.

    Local ones do.  The ones of a cluster are asked: each task looks for the list of pieces there.
    """
    context = session.sparkContext
    if is_local(context.master):
        return True
    path, content = directory.resolve() / MANIFEST, (directory / MANIFEST).read_bytes()

    def sees(_: int) -> bool:
        return path.is_file() and path.read_bytes() == content

    tasks = 2 * context.defaultParallelism
    return all(context.parallelize(range(tasks), tasks).map(sees).collect())


def rows_of(session: SparkSession, store: SweepStore, *, by_path: bool) -> dict[str, DataFrame]:
    """Return each table of a sweep. A run that is there twice counts once, in its first piece.

    by_path: executors read the files. Else the driver reads piece by piece and ships the rows.
    """
    pieces = store.pieces()
    if by_path:
        return {table: _read(session, store.directory, table, pieces) for table in READ}
    shipped: dict[str, list[DataFrame]] = {table: [] for table in READ}
    for piece in pieces:
        for table, rows in read_piece(store.directory, piece).items():
            if table in shipped:
                shipped[table].append(_shipped(session, rows, spark_schema(table)))
    return {table: reduce(DataFrame.unionAll, parts) for table, parts in shipped.items()}


def _read(session: SparkSession, directory: Path, table: str, pieces: Sequence[Piece]) -> DataFrame:
    """Return one table by its files. A release that did not have it wrote none."""
    schema = spark_schema(table)

    def of(some: Sequence[Piece]) -> DataFrame:
        paths = [directory.resolve() / table / piece.name for piece in some]
        filled = [path.as_uri() for path in paths if path.exists() and count_rows(path)]
        if filled:
            return session.read.schema(schema).parquet(*filled)
        # Spark plans nothing for a table that it knows to be empty.
        return _shipped(session, arrow_schema(table).empty_table(), schema)

    whole = of([piece for piece in pieces if not piece.repeated])
    for piece in pieces:
        if piece.repeated:
            again = f.col("run_key").isin(sorted(piece.repeated))
            whole = whole.unionAll(of([piece]).where(~again))
    return whole


def points_of(session: SparkSession, points: Sequence[dict[str, Any]]) -> DataFrame:
    """Return the points of a sweep: their position and their names."""
    schema = types.StructType(
        [types.StructField("point", types.IntegerType(), nullable=False)]
        + [types.StructField(name, types.StringType(), nullable=False) for name in POINT]
    )
    positions = pa.array(range(len(points)), pa.int32())
    named = {name: [point[name] for point in points] for name in POINT}
    return _shipped(session, pa.table({"point": positions, **named}), schema)


def _shipped(session: SparkSession, rows: pa.Table, schema: types.StructType) -> DataFrame:
    return session.createDataFrame(rows, schema)
