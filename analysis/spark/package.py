"""The program and the user's modules as archives, which the driver ships to other machines."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import ckptsim

NAME = "ckptsim"
FOLDERS = ("models", "scenarios", "sim", "analysis")
SHIPPED_SUFFIXES = (".py", ".pyi", ".toml", ".properties", ".html", ".css")
ARCHIVE_NAME = "ckptsim.zip"
OWN_NAME = "own.zip"
# A fixed time stamp: the same program gives the same bytes.
STAMP = (1980, 1, 1, 0, 0, 0)


def program_root() -> Path:
    """Return the directory that holds the package of the running program."""
    return Path(ckptsim.__file__).parents[1]


def write_archive(directory: Path) -> Path:
    """Write the program's packages, with their data, as an importable zip file and return it."""
    root = program_root()
    return _written(directory / ARCHIVE_NAME, root, _shipped(root / NAME))


def write_own_archive(directory: Path) -> Path | None:
    """Write the user's modules as an importable zip file. None where there are none.

    They are the ones of the working directory that this process has imported: cores and properties,
    and what these import.
    """
    here = Path.cwd()
    apart = (program_root(), Path(sys.prefix))
    places = [
        str(getattr(module, "__file__", None))
        for name, module in sys.modules.items()
        if name != "__main__"
    ]
    found = {Path(place).resolve() for place in places if place.endswith(".py")}
    own = [
        file
        for file in sorted(found)
        if file.is_relative_to(here) and not any(map(file.is_relative_to, apart))
    ]
    return _written(directory / OWN_NAME, here, own) if own else None


def _written(path: Path, root: Path, files: Iterable[Path]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.relative_to(root).as_posix(), STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return path


def _shipped(package: Path) -> Iterator[Path]:
    """Yield the package's files in a fixed order. In a checkout its folders are links."""
    here = sorted(path for path in package.iterdir() if path.is_file())
    inside = [path for name in FOLDERS for path in sorted((package / name).rglob("*"))]
    for file in here + inside:
        if file.suffix in SHIPPED_SUFFIXES and file.is_file():
            yield file
