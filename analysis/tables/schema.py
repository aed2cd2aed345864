"""The result tables: their names, and their columns as Arrow declares them.

They are derived from the row dataclasses, so that a new column is declared in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

import pyarrow as pa

from ckptsim.sim.rows import (
    CheckpointRow,
    FigureRow,
    PendingRow,
    RecoveryRow,
    ReleaseRow,
    RunResult,
    RunRow,
    TaskCheckpointRow,
    TaskRow,
    ViolationRow,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalRow:
    """How often one run reached one "sometimes" situation."""

    run_key: str
    goal: str
    reached: int


# Table -> row type.  The runs come last: a run counts as there when its row is.
TABLES: dict[str, type] = {
    "checkpoints": CheckpointRow,
    "task_checkpoints": TaskCheckpointRow,
    "tasks": TaskRow,
    "releases": ReleaseRow,
    "recoveries": RecoveryRow,
    "violations": ViolationRow,
    "goals": GoalRow,
    "figures": FigureRow,
    "runs": RunRow,
}
# Tables of one run that no sweep keeps.
OF_ONE_RUN: dict[str, type] = {"pending": PendingRow}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its name, its Python type and whether it may be empty."""

    name: str
    type: type
    nullable: bool


def columns(row_type: type) -> tuple[Column, ...]:
    """Return the columns of a row type in the order of its fields."""
    hints = get_type_hints(row_type)
    return tuple(_column(field.name, hints[field.name]) for field in fields(row_type))


def _column(name: str, hint: Any) -> Column:
    if not isinstance(hint, UnionType):
        return Column(name, hint, nullable=False)
    (inner,) = (part for part in get_args(hint) if part is not NoneType)
    return Column(name, inner, nullable=True)


def arrow_schema(table: str) -> pa.Schema:
    """Return a table's schema for Arrow and Parquet."""
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    return pa.schema(
        [
            pa.field(column.name, types[column.type], nullable=column.nullable)
            for column in columns((TABLES | OF_ONE_RUN)[table])
        ]
    )


def arrow_table(table: str, rows: Sequence[object]) -> pa.Table:
    """Return rows of a table's row type as an Arrow table, in the order given."""
    schema = arrow_schema(table)
    arrays = [
        pa.array(map(attrgetter(field.name), rows), type=field.type, size=len(rows))
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def arrow_stream(table: str, rows: Sequence[object]) -> bytes:
    """Return rows of a table's row type as an Arrow IPC stream."""
    content = arrow_table(table, rows)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, content.schema) as stream:
        stream.write_table(content)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def rows_of(result: RunResult) -> dict[str, list[Any]]:
    """Return the rows that one run adds to each table."""
    key = result.run.run_key
    goals = [
        GoalRow(run_key=key, goal=goal, reached=reached)
        for goal, reached in sorted(result.goals.items())
    ]
    return {
        "checkpoints": result.checkpoints,
        "task_checkpoints": result.task_checkpoints,
        "tasks": result.tasks,
        "releases": result.releases,
        "recoveries": result.recoveries,
        "violations": result.violations,
        "goals": goals,
        "figures": result.figures,
        "runs": [result.run],
    }
