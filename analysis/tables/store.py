"""The directory of a sweep: Parquet tables that are written once and never half.

Every batch of runs becomes one piece: a file of the same name in each table's folder.  Pieces are
written beside the tables and moved in when complete, the runs last. A piece without its runs is no
piece and is removed by the next writer.  So a run is there with all of its rows or not at all.

What a sweep has written is in its manifest before it is moved in.  Nothing else is ever
removed: a directory that is no sweep's is looked at and refused, and what others put beside the
tables stays.  A directory has one writer at a time.  Should a run be there twice all the same,
because tables of two sweeps were put together, readers take its first piece.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import parquet

from ckptsim.analysis.sweeps.worker import SweepRow
from ckptsim.analysis.tables import aggregates
from ckptsim.analysis.tables.lock import LOCK, locked
from ckptsim.analysis.tables.pieces import Piece, count_rows, read_table
from ckptsim.analysis.tables.schema import TABLES, arrow_schema
from ckptsim.scenarios.dialect import shown
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import real_folder, written_whole

STAGING = "_staging"
ABOUT = "sweep.json"
POINTS = "points.parquet"
MANIFEST = "pieces.json"
# As `commit` names a piece.  Whatever else a manifest lists is no piece, and no path either.
_PIECE = re.compile(r"[0-9a-f]{16}\.parquet")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return type(value) is int


def _is_axes(value: object) -> bool:
    """Return whether a value is a list of pairs of a path and a list."""
    return isinstance(value, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], list)
        for pair in value
    )


REPORTED = ("plan", "says", "scenario", "program", "runs", "axes")
# What `about_sweep` puts into the file, key by key.
ABOUT_FITS: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("plan", "says", "question", "scenario", "program", "keys"), _is_text),
    **dict.fromkeys(("runs", "points"), _is_count),
    "answers": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "words": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "axes": _is_axes,
    "overrides": lambda value: isinstance(value, dict),
}


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
        self._lock_depth = 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer of the directory. Within itself it does nothing.

        Raises UserError when another process is, or when the directory is not there to write in.
        """
        self._look_at_place()
        with locked(self.directory) if self._lock_depth == 0 else nullcontext():
            self._lock_depth += 1
            try:
                yield
            finally:
                self._lock_depth -= 1

    def open(self, about: Mapping[str, object]) -> None:
        """Make the directory ready for the sweep that `about` describes.

        Raises UserError when the directory holds another sweep, a damaged one, or something else.
        """
        self._look_at_place()
        path = self.directory / ABOUT
        if not path.exists():
            self._look_for_others()
        elif self.differs(about):
            raise UserError(
                f"{self.directory}: found the results of another plan or program version, "
                "expected this sweep's; choose another --out, or --no-resume to replace them"
            )
        self.directory.mkdir(parents=True, exist_ok=True)
        self._remove_unfinished()
        written_whole(path, _text(about))

    def differs(self, about: Mapping[str, object]) -> bool:
        """Return whether the directory holds a sweep that is not the described one.

        Raises UserError when what it says of its sweep is damaged.
        """
        path = self.directory / ABOUT
        if not path.exists():
            return False
        self.about()
        return path.read_bytes() != _text(about).encode()

    def write_points(self, rows: Sequence[SweepRow]) -> None:
        """Write what each point of the sweep is, for those who read its results."""
        points = {row.point: row for row in rows}
        columns = (
            *("point", "scenario", "link", "source", "parameters", "document"),
            *("cores", "mutant"),
        )
        table = pa.table(
            {name: [getattr(row, name) for row in points.values()] for name in columns}
        )
        sink = pa.BufferOutputStream()
        parquet.write_table(table, sink, compression="zstd")
        written_whole(self.directory / POINTS, sink.getvalue().to_pybytes())

    def points(self) -> list[dict[str, Any]]:
        """Return the points of the sweep in its order, as `write_points` has written them.

        Raises UserError where they are damaged.
        """
        path = self.directory / POINTS
        found: list[dict[str, Any]] = read_table(path).to_pylist()
        for point in found:
            try:
                list(json.loads(point["document"])["violates"])
                dict(json.loads(point["parameters"]))
                str(point["scenario"])
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                raise UserError(
                    f"{path}: cannot be read ({error}), expected what a sweep has written"
                ) from error
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
        found = _document(path, dict)
        for name, fits in ABOUT_FITS.items():
            if name in found and not fits(found[name]):
                words = f"found {str(found[name])[:80]}, expected what a sweep has written"
                raise UserError(f"{path}: {name}: {words}")
        return found

    def swept(self) -> dict[str, object]:
        """Return what the sweep says of itself, with all that a report needs.

        Raises UserError as `about` does, and where something is missing.
        """
        found = self.about()
        missing = [name for name in REPORTED if name not in found]
        if missing:
            names = ", ".join(missing)
            raise UserError(f"{self.directory / ABOUT}: found no {names}, expected it there")
        return found

    def clear(self) -> None:
        """Remove what an earlier sweep has written here, and nothing else.

        Raises UserError, with nothing removed, when the directory holds files and no sweep, or
        tables that the sweep in it has not written.
        """
        if not (self.directory / ABOUT).exists():
            self._look_for_others()
            return
        self._look_at_place()
        self.about()
        listed = self._manifest()
        tables = (path for table in TABLES for path in sorted((self.directory / table).glob("*")))
        strange = [path for path in tables if path.name not in listed]
        for path in (*strange, *aggregates.strange_in(self.directory)):
            raise UserError(
                f"{path}: found a file that no sweep has written, nothing was removed; "
                "remove it, or choose another --out"
            )
        aggregates.remove(self.directory)
        self._remove_staged()
        for piece in listed:
            self._remove_piece(piece)
        for table in TABLES:
            _remove_if_empty(self.directory / table)
        for name in (POINTS, MANIFEST, ABOUT):  # as long as there is more, it is a sweep's
            (self.directory / name).unlink(missing_ok=True)

    def run_keys(self) -> set[str]:
        """Return the keys of the runs that are there. Order plays no part in their use."""
        return {row["run_key"] for row in self.columns("runs", ["run_key"])}

    def commit(self, streams: Sequence[Mapping[str, bytes]]) -> None:
        """Add the tables of finished runs as one piece, each table sorted by run key.

        Raises UserError where there is no room. The present state already stays whole.
        """
        tables = {name: _joined(name, [part[name] for part in streams]) for name in TABLES}
        keys = "\n".join(tables["runs"]["run_key"].to_pylist())
        piece = hashlib.blake2b(keys.encode(), digest_size=8).hexdigest() + ".parquet"
        try:
            self._move_in(tables, piece)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            says = f"{reason}; earlier runs are kept, and the same command does the rest"
            raise UserError(f"{self.directory}: {says}") from error

    def _move_in(self, tables: Mapping[str, pa.Table], piece: str) -> None:
        staging = real_folder(self.directory / STAGING)
        for name, table in tables.items():
            parquet.write_table(table, staging / f"{name}-{piece}", compression="zstd")
        self._list([*self._manifest(), piece])
        for name in TABLES:  # the runs are the last
            folder = real_folder(self.directory / name)
            (staging / f"{name}-{piece}").replace(folder / piece)
        staging.rmdir()

    def pieces(self) -> list[Piece]:
        """Return the pieces that are there, each with all rows of its runs.

        Raises UserError when there is none.
        """
        seen: set[str] = set()
        found = []
        for path in self._files("runs"):
            keys = read_table(path, ["run_key"])["run_key"].to_pylist()
            found.append(Piece(name=path.name, repeated=frozenset(seen.intersection(keys))))
            seen.update(keys)
        if not found:
            raise UserError(f"{self.directory}: found no run, expected a sweep that has begun")
        return found

    def piece_names(self) -> list[str]:
        """Return the names of the pieces that are there, in their order."""
        return [path.name for path in self._files("runs")]

    def row_count(self) -> int:
        """Return how many rows the tables have together, from the feet of their files."""
        files = [path for table in TABLES for path in self._files(table) if path.exists()]
        return sum(count_rows(path) for path in files)

    def tally(self) -> Tally:
        """Count runs, errors and unexpected violations, without Spark."""
        declared = {
            (point["scenario"], point["parameters"]): json.loads(point["document"])["violates"]
            for point in self.points()
        }
        runs = self.columns("runs", ["run_key", "scenario", "parameters", "outcome"])
        try:
            allowed = {run["run_key"]: declared[run["scenario"], run["parameters"]] for run in runs}
        except KeyError as error:
            expected = f"expected those that {POINTS} has"
            raise UserError(f"{self.directory}: found runs of another point, {expected}") from error
        broken = {
            row["run_key"]
            for row in self.columns("violations", ["run_key", "property"])
            if row["property"] not in allowed.get(row["run_key"], ())
        }
        errors = sum(run["outcome"] == "error" for run in runs)
        return Tally(runs=len(runs), errors=errors, violated=len(broken))

    def columns(self, table: str, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return some columns of one table, of all runs that are there, without Spark.

        names: with `run_key` among them, by which runs that are there twice are reported.
        """
        found: list[dict[str, Any]] = []
        for piece in self.pieces() if self._files("runs") else ():
            rows = read_table(self.directory / table / piece.name, names).to_pylist()
            found.extend(row for row in rows if row["run_key"] not in piece.repeated)
        return found

    def _files(self, table: str) -> list[Path]:
        """Return a table's files that belong to complete pieces, in the order of their names."""
        pieces = sorted(path.name for path in (self.directory / "runs").glob("*.parquet"))
        return [self.directory / table / piece for piece in pieces]

    def _remove_unfinished(self) -> None:
        """Remove what an interrupted writer left: staged files and pieces without their runs."""
        self._remove_staged()
        listed = self._manifest()
        whole = [piece for piece in listed if (self.directory / "runs" / piece).exists()]
        for piece in listed:
            if piece not in whole:
                self._remove_piece(piece)
        if whole != listed:
            self._list(whole)

    def _remove_piece(self, piece: str) -> None:
        for table in reversed(TABLES):  # the runs first: without them it is no piece any more
            (self.directory / table / piece).unlink(missing_ok=True)

    def _remove_staged(self) -> None:
        staging = self.directory / STAGING
        for table in TABLES:
            for path in sorted(staging.glob(f"{table}-*.parquet")):
                path.unlink()
        _remove_if_empty(staging)

    def _manifest(self) -> list[str]:
        """Return the names of the pieces that this sweep has written."""
        path = self.directory / MANIFEST
        found = _document(path, list) if path.exists() else []
        for index, name in enumerate(found):
            if not isinstance(name, str) or not _PIECE.fullmatch(name):
                words = f"found {shown(name)}, expected a name such as '{'0' * 16}.parquet'"
                raise UserError(f"{path}: [{index}]: {words}; nothing was changed")
        return found

    def _list(self, pieces: list[str]) -> None:
        written_whole(self.directory / MANIFEST, json.dumps(pieces) + "\n")

    def _look_at_place(self) -> None:
        """Raise UserError where a file or a link is in the place of a folder."""
        for folder in (STAGING, aggregates.STAGED, aggregates.FOLDER, *TABLES):
            if (self.directory / folder).is_symlink():
                found = f"found a link {self.directory / folder}"
                raise UserError(f"--out {self.directory}: {found}, expected a folder")
        for place in (self.directory, *self.directory.parents):
            if place.is_dir():
                return
            if place.exists() or place.is_symlink():
                raise UserError(f"--out {self.directory}: found a file {place}, expected a folder")

    def _look_for_others(self) -> None:
        """Raise UserError where the directory holds anything but a lock."""
        if self.directory.exists() and any(p.name != LOCK for p in self.directory.iterdir()):
            raise UserError(f"{self.directory}: found other files, expected an empty directory")


DocumentT = TypeVar("DocumentT", dict[str, object], list[str])


def _document(path: Path, kind: type[DocumentT]) -> DocumentT:
    """Return what a small file says. Raises UserError when it is not what a sweep has written."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        # JSON can escape halves of characters, which no text that is written can hold.
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        words = f"found no JSON ({error}), expected what a sweep has written"
        raise UserError(f"{path}: {words}") from error
    if not isinstance(found, kind):
        raise UserError(f"{path}: found another document, expected what a sweep has written")
    return found


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _joined(table: str, streams: Sequence[bytes]) -> pa.Table:
    parts = [pa.ipc.open_stream(stream).read_all() for stream in streams]
    whole = pa.concat_tables([arrow_schema(table).empty_table(), *parts])
    # The sort is stable: rows of one run stay in the order in which the run made them.
    return whole.sort_by("run_key").combine_chunks()


def _text(about: Mapping[str, object]) -> str:
    return json.dumps(about, indent=1, sort_keys=True) + "\n"
