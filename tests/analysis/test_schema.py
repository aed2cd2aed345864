"""The declared schemas of the result tables, derived from their row types."""

from __future__ import annotations

from dataclasses import fields

import pyarrow as pa
import pytest

from ckptsim.analysis.tables.schema import OF_ONE_RUN, TABLES, arrow_schema, arrow_table, columns
from ckptsim.sim.rows import CheckpointRow, RunResult


@pytest.mark.parametrize("table", [*TABLES, *OF_ONE_RUN])
def test_a_table_has_the_fields_of_its_row_type(table: str) -> None:
    """Columns stand in the order of the fields, and only optional ones may be empty."""
    schema = arrow_schema(table)
    assert schema.names == [field.name for field in fields((TABLES | OF_ONE_RUN)[table])]
    optional = ["None" in str(field.type) for field in fields((TABLES | OF_ONE_RUN)[table])]
    assert [field.nullable for field in schema] == optional


def test_every_list_of_rows_of_a_run_has_a_table() -> None:
    """A kind of row that a run leaves is not forgotten."""
    left = {field.name for field in fields(RunResult) if str(field.type).endswith("Row]")}
    assert list(OF_ONE_RUN) == ["pending"]
    assert left | {"runs", "goals"} == {*TABLES, *OF_ONE_RUN}
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
