"""Many columns at once, from expressions in Spark's words.

Each call from Python into Java costs as much as an expression. A sweep has some forty metrics.  So
columns that are made together are one expression, a struct that is taken apart again.  PySpark also
asks Java for each name that it calls, and Java looks for it in all jars: `remember_names`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

# Classes that PySpark looks up by name for every column and every list, and their members.
_NAMES = {
    "functions": ("col",),
    "org.apache.spark.sql.functions": ("expr",),
    "PythonUtils": ("toSeq",),
    "org.apache.spark.sql.classic.SparkSession": ("getActiveSession",),
}


def remember_names(session: SparkSession) -> None:
    """Let the gateway of a session answer what PySpark asks for each column, without asking Java.

    Py4J keeps no class that it has found. An attribute of its own is found first.
    """
    java = session.sparkContext._jvm  # noqa: SLF001 - PySpark offers no other place to keep them
    for name, members in _NAMES.items():
        found = getattr(java, name)
        for member in members:
            setattr(found, member, getattr(found, member))
        setattr(java, name, found)


def struct(named: Mapping[str, str]) -> str:
    """Return the expression of a struct with these fields."""
    return f"struct({', '.join(f'{made} AS `{name}`' for name, made in named.items())})"


def _made(named: Mapping[str, str]) -> Column:
    return f.expr(struct(named)).alias("made")


def grouped(frame: DataFrame, keys: Sequence[str], named: Mapping[str, str]) -> DataFrame:
    """Return one row per group: its keys and these aggregates."""
    return frame.groupBy(*keys).agg(_made(named)).select(*keys, "made.*")


def derived(frame: DataFrame, keys: Sequence[str], named: Mapping[str, str]) -> DataFrame:
    """Return some columns as they are, and these made of the row, or of its window."""
    kept = {key: f"`{key}`" for key in keys}
    return frame.select(_made({**kept, **named})).select("made.*")


def unpivoted(
    frame: DataFrame, keys: Sequence[str], cells: Sequence[Mapping[str, str]]
) -> DataFrame:
    """Return several rows for each one: some columns as they are, and the fields of each cell."""
    return frame.select(*keys, f.expr(f"inline(array({', '.join(map(struct, cells))}))"))
