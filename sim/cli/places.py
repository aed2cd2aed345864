"""Places that a verb writes to, looked at when the command is read."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

_NAME_BYTES_MAX = 255  # Source: Linux, NAME_MAX. The same on the usual file systems elsewhere


def output_folder(text: str) -> Path:
    """Return a folder that is there, or can be made. For `type=` of an argument."""
    path = _writable(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"found {text!r}, a file, expected a folder")
    return path


def output_file(text: str) -> Path:
    """Return a file that is there, or can be made. For `type=` of an argument."""
    path = _writable(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"found {text!r}, a folder, expected a file")
    return path


def kept_folder(text: str) -> Path:
    """Return a folder that is read, and written if it is there. For `type=` of an argument."""
    return output_folder(text) if Path(text).is_dir() else Path(text)


def default_folder(path: Path) -> Path:
    """Return a folder that no argument names, or a private one where it cannot be written.

    No result is lost in a read-only working folder. A line says where it is.
    """
    try:
        return _writable(str(path))
    except argparse.ArgumentTypeError as error:
        place = _private() / path.name
        print(f"{path} cannot be written ({error}): {place} takes its place", file=sys.stderr)
        return place


@cache
def _private() -> Path:
    return Path(tempfile.mkdtemp(prefix="ckptsim-out-"))


def _writable(text: str) -> Path:
    """Return a path if the nearest folder above it that is there can be written."""
    path = Path(text)
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a path")
    if any(len(os.fsencode(part)) > _NAME_BYTES_MAX for part in path.parts):
        expected = f"names of at most {_NAME_BYTES_MAX} bytes"
        raise argparse.ArgumentTypeError(f"found a name of {len(text)} characters, {expected}")
    for place in (path, *path.absolute().parents):
        if place.is_dir():
            if not os.access(place, os.W_OK | os.X_OK):
                raise argparse.ArgumentTypeError(f"found {str(place)!r}, which is read-only")
            return path
        if place.is_symlink() and not place.exists():
            found = f"found {str(place)!r}, a link to nothing"
            raise argparse.ArgumentTypeError(f"{found}, expected a place to write")
        if place != path and place.exists():
            found = f"found {str(place)!r}, a file"
            raise argparse.ArgumentTypeError(f"{found}, expected a folder above {text!r}")
    return path
