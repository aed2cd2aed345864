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
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from analysis.schema import TABLES, arrow_schema, spark_schema
from scenarios.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STAGING = "_staging"
ABOUT = "sweep.json"


class SweepStore:
    """Reads and writes the tables of one sweep."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def open(self, about: Mapping[str, object]) -> None:
        """Make the directory ready for the sweep that `about` describes.

        Raises UserError when the directory holds another sweep, or something else.
        """
        path = self.directory / ABOUT
        text = json.dumps(about, indent=1, sort_keys=True) + "\n"
        if path.exists():
            if path.read_text() != text:
                raise UserError(
                    f"{self.directory}: found the results of another plan or program version, "
                    "expected this sweep's; choose another --out, or --no-resume to replace them"
                )
        elif self.directory.exists() and any(self.directory.iterdir()):
            raise UserError(f"{self.directory}: found other files, expected an empty directory")
        self.directory.mkdir(parents=True, exist_ok=True)
        self._remove_unfinished()
        _write_whole(path, text)

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
        (self.directory / ABOUT).unlink(missing_ok=True)

    def run_keys(self) -> set[str]:
        """Return the keys of the runs that are there; order plays no part in their use."""
        keys: set[str] = set()
        for path in self._files("runs"):
            column = parquet.read_table(path, columns=["run_key"])["run_key"]
            keys.update(column.to_pylist())
        return keys

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

    def read(self, session: SparkSession, table: str) -> DataFrame:
        """Return one table, with its declared schema, of all runs that are there."""
        paths = [str(path) for path in self._files(table)]
        schema = spark_schema(table)
        if not paths:
            return session.createDataFrame([], schema)
        return session.read.schema(schema).parquet(*paths)

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


def _joined(table: str, streams: Sequence[bytes]) -> pa.Table:
    parts = [pa.ipc.open_stream(stream).read_all() for stream in streams]
    whole = pa.concat_tables([arrow_schema(table).empty_table(), *parts])
    # The sort is stable: rows of one run stay in the order in which the run made them.
    return whole.sort_by("run_key").combine_chunks()


def _write_whole(path: Path, text: str) -> None:
    """Write a small file so that readers see all of it or none."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)
