"""The program as one archive, which the driver ships to executors on other machines."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import ckptsim

NAME = "ckptsim"
FOLDERS = ("models", "scenarios", "sim", "analysis")
SHIPPED_SUFFIXES = (".py", ".toml", ".properties", ".html", ".css")
ARCHIVE_NAME = "ckptsim.zip"
# A fixed time stamp: the same program gives the same bytes.
STAMP = (1980, 1, 1, 0, 0, 0)


def program_root() -> Path:
    """Return the directory that holds the package of the running program."""
    return Path(ckptsim.__file__).parents[1]


def write_archive(directory: Path) -> Path:
    """Write the program's packages, with their data, as an importable zip file and return it."""
    path = directory / ARCHIVE_NAME
    root = program_root()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _shipped(root / NAME):
            entry = zipfile.ZipInfo(file.relative_to(root).as_posix(), STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return path


def _shipped(package: Path) -> Iterator[Path]:
    """Yield the package's files in a fixed order; in a checkout its folders are links."""
    here = sorted(path for path in package.iterdir() if path.is_file())
    inside = [path for name in FOLDERS for path in sorted((package / name).rglob("*"))]
    for file in here + inside:
        if file.suffix in SHIPPED_SUFFIXES and file.is_file():
            yield file
