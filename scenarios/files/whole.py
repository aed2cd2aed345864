"""Files that are written whole, into folders that may hold anything: links, and other names."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ckptsim.scenarios.errors import UserError


def written_whole(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Write a file, or replace a link, as a whole. Raises OSError with the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:200]}.")
        scratch = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
            scratch.chmod(mode)
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def real_folder(folder: Path) -> Path:
    """Return a folder below an output folder, made if needed. Raises UserError for a link."""
    if folder.is_symlink():
        raise UserError(f"{folder}: found a link, expected a folder; nothing was changed there")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def alone_in(folder: Path, *, busy: str | None = None) -> Iterator[None]:
    """Lock a folder, made if needed. busy: UserError's text, None to wait."""
    folder.mkdir(parents=True, exist_ok=True)
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX if busy is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(held)
        raise UserError(f"{folder}: {busy}") from error
    try:
        yield
    finally:
        os.close(held)
