"""One piece of a sweep's tables: a file per table that holds all rows of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute
from pyarrow import parquet

from ckptsim.analysis.tables.schema import TABLES, arrow_schema
from ckptsim.scenarios.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One file per table: its name, and the runs in it that an earlier piece has already."""

    name: str
    repeated: frozenset[str] = frozenset()


def read_piece(directory: Path, piece: Piece) -> dict[str, pa.Table]:
    """Return all tables of one piece, with their declared schemas, without repeated runs.

    A table that the sweep's release did not have is empty, and so are columns that it lacked.
    """
    found = {table: _read(directory / table / piece.name, arrow_schema(table)) for table in TABLES}
    if not piece.repeated:
        return found
    repeated = pa.array(sorted(piece.repeated), pa.string())
    return {
        name: table.filter(pa.compute.invert(pa.compute.is_in(table["run_key"], repeated)))
        for name, table in found.items()
    }


def read_table(
    path: Path, names: Sequence[str] | None = None, *, filters: list[Any] | None = None
) -> pa.Table:
    """Return a table, or some columns or rows of it. Raises UserError when it is damaged.

    filters: conditions that a row meets, as PyArrow has them.
    """
    try:
        columns = None if names is None else list(names)
        found: pa.Table = parquet.read_table(path, columns=columns, filters=filters)
        found.validate(full=True)  # texts may hold other bytes
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, error) from error
    return found


def count_rows(path: Path) -> int:
    """Return how many rows a table has, from the foot of its file. Raises UserError."""
    try:
        return int(parquet.read_metadata(path).num_rows)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, error) from error


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    if not path.exists():
        return schema.empty_table()
    try:
        found: pa.Table = parquet.read_table(path, schema=schema)
        found.validate(full=True)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, error) from error
    return found


def _damaged(path: Path, error: Exception) -> UserError:
    first = str(error).partition("\n")[0]
    return UserError(f"{path}: cannot be read ({first}), expected a table that a sweep has written")
