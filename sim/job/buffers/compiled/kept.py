"""Where the compiled kernel is kept for the next process, and whether it is there.

It is found by a hash of the kernel's own text, so a changed kernel is never taken for the old one.
A file is written under another name first and renamed, so processes that compile at once do no
harm; that they do not all compile, one of them has a lock and the others load what it has made.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.compiled.jit import is_interpreted

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_log = logging.getLogger(__name__)


def is_available() -> bool:
    """Return whether the kernel can be run here: numba is there, or not wanted."""
    return is_interpreted() or find_spec("numba") is not None


@cache
def is_ready() -> bool:
    """Return whether this kernel had been compiled on this machine when it was asked first."""
    return is_interpreted() or any(kept_in().glob("*.o"))


@cache
def kept_in() -> Path:
    """Return the folder: in the user's cache folder, under the hash of the kernel's text.

    Where that cannot be written the folder of temporary files takes its place, and a line says so.
    """
    here = files(__package__)
    text = blake2b(digest_size=8)
    for name in ("door.py", "jit.py"):
        text.update((here / name).read_bytes())
    for part in ("kernel", "columns"):
        for source in _texts(here / part):
            text.update(source)
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "ckptsim" / f"kernel-{text.hexdigest()}"
    if _can_be_written(folder):
        return folder
    elsewhere = Path(gettempdir()) / "ckptsim" / folder.name
    elsewhere.mkdir(parents=True, exist_ok=True)
    _log.warning("%s cannot be written: the compiled kernel is kept in %s", folder, elsewhere)
    return elsewhere


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one process of this machine compile, and those that would as well wait until it has.

    The lock ends with the process that holds it, however that ends.  Raises OSError where there is
    no place for a lock.
    """
    with (kept_in() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that whoever finds it finds all of it."""
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)


def _texts(folder: Traversable) -> Iterator[bytes]:
    """Return the text of every module below a folder, which may lie in an archive, in order."""
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _texts(entry)
        elif entry.name.endswith(".py"):
            yield entry.read_bytes()


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
