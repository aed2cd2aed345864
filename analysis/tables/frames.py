"""The tables of a sweep as pandas frames, without Spark."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa

from ckptsim.analysis.tables.pieces import read_piece, read_table
from ckptsim.analysis.tables.schema import TABLES, arrow_schema
from ckptsim.analysis.tables.store import POINTS, SweepStore

# Whole numbers with gaps would become floats in plain pandas, and nanoseconds would be rounded.
_NULLABLE = {
    pa.string(): pd.StringDtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def frames(store: SweepStore) -> dict[str, pd.DataFrame]:
    """Return the points of a sweep in its order, and each table with the rows of all its runs.

    Rows are sorted by run key. The ones of one run are in the order in which it made them, so the
    frames do not depend on the pieces in which they were written. Raises UserError when the
    directory holds no sweep, or no run of it.
    """
    store.about()
    pieces = [read_piece(store.directory, piece) for piece in store.pieces()]
    found = {"points": read_table(store.directory / POINTS).to_pandas()}
    return found | {name: _frame(name, [piece[name] for piece in pieces]) for name in TABLES}


def frame_of(table: str, rows: pa.Table) -> pd.DataFrame:
    """Return rows of one table in their order. Columns that may be empty have nullable types."""
    plain: pd.DataFrame = rows.to_pandas()
    nullable: Any = rows.to_pandas(types_mapper=_NULLABLE.get)
    gaps = [field.name for field in arrow_schema(table) if field.nullable]
    return plain.assign(**{name: nullable[name] for name in gaps})


def _frame(table: str, parts: list[pa.Table]) -> pd.DataFrame:
    return frame_of(table, pa.concat_tables(parts).sort_by("run_key"))
