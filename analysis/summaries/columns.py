"""Many columns at once, from expressions in Spark's words.

Each call from Python into Java costs as much as an expression; a sweep has some forty metrics.  So
columns that are made together are one expression, a struct that is taken apart again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f


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
    return frame.select(*keys, _made(named)).select(*keys, "made.*")


def unpivoted(
    frame: DataFrame, keys: Sequence[str], cells: Sequence[Mapping[str, str]]
) -> DataFrame:
    """Return several rows for each one: some columns as they are, and the fields of each cell."""
    return frame.select(*keys, f.expr(f"inline(array({', '.join(map(struct, cells))}))"))
