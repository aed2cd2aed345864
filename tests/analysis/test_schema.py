"""The declared schemas of the result tables, derived from their row types."""

from __future__ import annotations

from dataclasses import fields

import pyarrow as pa
import pytest
from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType

from ckptsim.analysis.schema import TABLES, arrow_schema, arrow_table, columns, spark_schema
from ckptsim.sim.rows import CheckpointRow, RunResult

PAIRS = {
    pa.string(): StringType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.bool_(): BooleanType(),
}


@pytest.mark.parametrize("table", TABLES)
def test_arrow_and_spark_declare_the_same(table: str) -> None:
    """Both have the fields of the row type, in order, with the same types and the same gaps."""
    arrow, spark = arrow_schema(table), spark_schema(table)
    assert arrow.names == spark.names == [field.name for field in fields(TABLES[table])]
    assert [PAIRS[field.type] for field in arrow] == [field.dataType for field in spark]
    assert [field.nullable for field in arrow] == [field.nullable for field in spark]


def test_every_list_of_rows_of_a_run_has_a_table() -> None:
    """A kind of row that a run leaves is not forgotten."""
    left = {field.name for field in fields(RunResult) if str(field.type).endswith("Row]")}
    assert left | {"runs", "goals"} == set(TABLES)
    assert list(TABLES)[-1] == "runs"


def test_rows_survive_as_they_are() -> None:
    """Large integers, texts, truth values and gaps come back unchanged."""
    row = CheckpointRow(
        run_key="k",
        scope="ü*",
        checkpoint_id=2**62,
        attempt=1,
        kind="state",
        status="completed",
        reason=None,
        triggered_ns=0,
        completed_ns=2**53 + 1,
        duration_ns=None,
        unaligned=True,
    )
    (back,) = arrow_table("checkpoints", [row]).to_pylist()
    assert back == {column.name: getattr(row, column.name) for column in columns(CheckpointRow)}


def test_a_gap_where_none_is_allowed_is_refused() -> None:
    """A value of the wrong type does not become a table."""
    (good,) = [CheckpointRow(
        run_key="k", scope="*", checkpoint_id=1, attempt=1, kind="state", status="completed",
        reason=None, triggered_ns=0, completed_ns=1, duration_ns=1,
    )]  # fmt: skip
    object.__setattr__(good, "triggered_ns", "soon")
    with pytest.raises(pa.ArrowInvalid):
        arrow_table("checkpoints", [good])
