"""The folder of a sweep's summaries: its content, its rows, and how it changes as a whole.

`summaries/NAME/part-NNNNN.parquet` are tables, `summaries/manifest.json` has the version of their
columns and the pieces that they were made from.  The manifest is removed before a table changes and
written when all have: without it, or with other pieces, summaries are stale, never wrong.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import real_folder, written_whole

FOLDER = "summaries"
STAGED = "_summaries"  # what Spark writes until it is complete
_MANIFEST = "manifest.json"
_PART = re.compile(r"[a-z_]+/part-\d{5}\.parquet")


def made_from(directory: Path) -> object:
    """Return what the summaries of a sweep were made from. None without any."""
    path = directory / FOLDER / _MANIFEST
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (ValueError, RecursionError):
        return None  # damaged: it is made again


def files_of(directory: Path, table: str) -> list[Path]:
    """Return the files of a table in their order. Raises UserError where there is none."""
    found = sorted((directory / FOLDER / table).glob("part-*.parquet"))
    if not found:
        raise UserError(
            f"{directory / FOLDER / table}: found no table, expected a table of a sweep"
        )
    return found


def staged(directory: Path) -> Path:
    """Return an empty folder for tables that are not complete."""
    folder = real_folder(directory / STAGED)
    shutil.rmtree(folder)
    folder.mkdir()
    return folder


def move_in(directory: Path, tables: Iterable[str], made: Mapping[str, object]) -> None:
    """Put the staged tables in the place of those that are there, their manifest last."""
    _remove_files(directory)
    for table in tables:
        folder = real_folder(directory / FOLDER / table)
        parts = sorted((directory / STAGED / table).glob("part-*.parquet"))
        for number, part in enumerate(parts):
            part.replace(folder / f"part-{number:05}.parquet")
    shutil.rmtree(directory / STAGED)
    written_whole(directory / FOLDER / _MANIFEST, json.dumps(made) + "\n")


def strange_in(directory: Path) -> list[Path]:
    """Return the files beside the summaries that no sweep has written."""
    folder = directory / FOLDER
    found = sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return [path for path in found if not _is_ours(path, folder)]


def remove(directory: Path) -> None:
    """Remove the summaries, and nothing else."""
    if (directory / STAGED).is_dir():
        shutil.rmtree(directory / STAGED)
    _remove_files(directory)
    folder = directory / FOLDER
    for path in [*sorted(folder.glob("*/")), folder]:
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _remove_files(directory: Path) -> None:
    """Remove the manifest, by which the tables count, and then them."""
    folder = directory / FOLDER
    (folder / _MANIFEST).unlink(missing_ok=True)
    for path in sorted(folder.glob("*/part-*.parquet")):
        if _is_ours(path, folder):
            path.unlink()


def _is_ours(path: Path, folder: Path) -> bool:
    name = path.relative_to(folder).as_posix()
    return name == _MANIFEST or _PART.fullmatch(name) is not None
