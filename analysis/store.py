"""The directory of a sweep: Parquet tables that are written once and never half.

Every wave of runs becomes one piece: a file of the same name in each table's folder.  Pieces are
written beside the tables and moved in when complete, the runs last; a piece without its runs is no
piece and is removed by the next writer.  So a run is there with all of its rows or not at all.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from ckptsim.analysis.schema import TABLES, arrow_schema
from ckptsim.analysis.worker import SweepRow
from ckptsim.scenarios.errors import UserError

STAGING = "_staging"
ABOUT = "sweep.json"
POINTS = "points.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What a sweep's runs came to: all of them, errors, and those that broke a property.

    A property that a scenario is declared to violate, as an anti-pattern, does not count.
    """

    runs: int
    errors: int
    violated: int


class SweepStore:
    """Reads and writes the tables of one sweep."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def open(self, about: Mapping[str, object]) -> None:
        """Make the directory ready for the sweep that `about` describes.

        Raises UserError when the directory holds another sweep, or something else.
        """
        path = self.directory / ABOUT
        if self.differs(about):
            raise UserError(
                f"{self.directory}: found the results of another plan or program version, "
                "expected this sweep's; choose another --out, or --no-resume to replace them"
            )
        if not path.exists() and self.directory.exists() and any(self.directory.iterdir()):
            raise UserError(f"{self.directory}: found other files, expected an empty directory")
        self.directory.mkdir(parents=True, exist_ok=True)
        self._remove_unfinished()
        _write_whole(path, _text(about))

    def differs(self, about: Mapping[str, object]) -> bool:
        """Tell whether the directory holds a sweep that is not the described one."""
        path = self.directory / ABOUT
        return path.exists() and path.read_text(encoding="utf-8") != _text(about)

    def write_points(self, rows: Sequence[SweepRow]) -> None:
        """Write what each point of the sweep is, for those who read its results."""
        points = {row.point: row for row in rows}
        columns = ("point", "scenario", "link", "source", "parameters", "document")
        table = pa.table(
            {name: [getattr(row, name) for row in points.values()] for name in columns}
        )
        beside = self.directory / (POINTS + ".new")
        parquet.write_table(table, beside, compression="zstd")
        beside.replace(self.directory / POINTS)

    def points(self) -> list[dict[str, Any]]:
        """Return the points of the sweep in its order, as `write_points` has written them."""
        found: list[dict[str, Any]] = parquet.read_table(self.directory / POINTS).to_pylist()
        return found

    def about(self) -> dict[str, object]:
        """Return what the sweep says of itself.

        Raises UserError when the directory holds no sweep.
        """
        path = self.directory / ABOUT
        if not path.is_file():
            raise UserError(
                f"{self.directory}: found no {ABOUT}, expected the directory of a sweep"
            )
        found: dict[str, object] = json.loads(path.read_text())
        return found

    def clear(self) -> None:
        """Remove the tables of an earlier sweep, and nothing else."""
        for name in (*TABLES, STAGING):
            shutil.rmtree(self.directory / name, ignore_errors=True)
        for name in (ABOUT, POINTS):
            (self.directory / name).unlink(missing_ok=True)

    def run_keys(self) -> set[str]:
        """Return the keys of the runs that are there; order plays no part in their use."""
        return {row["run_key"] for row in self.columns("runs", ["run_key"])}

    def commit(self, streams: Sequence[Mapping[str, bytes]]) -> None:
        """Add the tables of finished runs as one piece, each table sorted by run key."""
        tables = {name: _joined(name, [part[name] for part in streams]) for name in TABLES}
        keys = "\n".join(tables["runs"]["run_key"].to_pylist())
        piece = hashlib.blake2b(keys.encode(), digest_size=8).hexdigest() + ".parquet"
        staging = self.directory / STAGING
        staging.mkdir(exist_ok=True)
        for name, table in tables.items():
            parquet.write_table(table, staging / f"{name}-{piece}", compression="zstd")
        for name in TABLES:  # the runs are the last
            folder = self.directory / name
            folder.mkdir(exist_ok=True)
            (staging / f"{name}-{piece}").replace(folder / piece)
        staging.rmdir()

    def pieces(self) -> list[str]:
        """Return the names of the pieces that are there, each with all rows of its runs.

        Raises UserError when there is none.
        """
        found = sorted(path.name for path in (self.directory / "runs").glob("*.parquet"))
        if not found:
            raise UserError(f"{self.directory}: found no run, expected a sweep that has begun")
        return found

    def row_count(self) -> int:
        """Return how many rows the tables have together, from the feet of their files."""
        files = [path for table in TABLES for path in self._files(table) if path.exists()]
        return sum(int(parquet.read_metadata(path).num_rows) for path in files)

    def tally(self) -> Tally:
        """Count runs, errors and unexpected violations, without Spark."""
        declared = {
            (point["scenario"], point["parameters"]): json.loads(point["document"])["violates"]
            for point in self.points()
        }
        runs = self.columns("runs", ["run_key", "scenario", "parameters", "outcome"])
        allowed = {run["run_key"]: declared[run["scenario"], run["parameters"]] for run in runs}
        broken = {
            row["run_key"]
            for row in self.columns("violations", ["run_key", "property"])
            if row["property"] not in allowed[row["run_key"]]
        }
        errors = sum(run["outcome"] == "error" for run in runs)
        return Tally(runs=len(runs), errors=errors, violated=len(broken))

    def columns(self, table: str, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return some columns of one table, of all runs that are there, without Spark."""
        found: list[dict[str, Any]] = []
        for path in self._files(table):
            found.extend(parquet.read_table(path, columns=list(names)).to_pylist())
        return found

    def _files(self, table: str) -> list[Path]:
        """Return a table's files that belong to complete pieces, in the order of their names."""
        pieces = sorted(path.name for path in (self.directory / "runs").glob("*.parquet"))
        return [self.directory / table / piece for piece in pieces]

    def _remove_unfinished(self) -> None:
        """Remove what an interrupted writer left: staged files and pieces without their runs."""
        shutil.rmtree(self.directory / STAGING, ignore_errors=True)
        for name in TABLES:
            for path in sorted((self.directory / name).glob("*.parquet")):
                if not (self.directory / "runs" / path.name).exists():
                    path.unlink()


def read_piece(directory: Path, piece: str) -> dict[str, pa.Table]:
    """Return all tables of one piece, with their declared schemas.

    A table that the sweep's release did not have is empty, and so are columns that it lacked.
    """
    return {table: _read(directory / table / piece, arrow_schema(table)) for table in TABLES}


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    if not path.exists():
        return schema.empty_table()
    found: pa.Table = parquet.read_table(path, schema=schema)
    return found


def _joined(table: str, streams: Sequence[bytes]) -> pa.Table:
    parts = [pa.ipc.open_stream(stream).read_all() for stream in streams]
    whole = pa.concat_tables([arrow_schema(table).empty_table(), *parts])
    # The sort is stable: rows of one run stay in the order in which the run made them.
    return whole.sort_by("run_key").combine_chunks()


def _text(about: Mapping[str, object]) -> str:
    return json.dumps(about, indent=1, sort_keys=True) + "\n"


def _write_whole(path: Path, text: str) -> None:
    """Write a small file so that readers see all of it or none."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)
