"""The program as one archive, which the driver ships to executors on other machines."""

from __future__ import annotations

import zipfile
from pathlib import Path

PACKAGES = ("models", "scenarios", "sim", "analysis")
SHIPPED_SUFFIXES = (".py", ".toml", ".properties", ".html", ".css")
ARCHIVE_NAME = "ckptsim.zip"
# A fixed time stamp: the same program gives the same bytes.
STAMP = (1980, 1, 1, 0, 0, 0)


def program_root() -> Path:
    """Return the directory that holds the packages of the running program."""
    return Path(__file__).resolve().parents[1]


def write_archive(directory: Path) -> Path:
    """Write the program's packages, with their data, as an importable zip file and return it."""
    path = directory / ARCHIVE_NAME
    root = program_root()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in sorted((root / package).rglob("*")):
                if file.suffix in SHIPPED_SUFFIXES and file.is_file():
                    entry = zipfile.ZipInfo(file.relative_to(root).as_posix(), STAMP)
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(entry, file.read_bytes())
    return path
