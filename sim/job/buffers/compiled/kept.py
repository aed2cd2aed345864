"""Where the compiled kernel is kept for the next process, and whether it is there.

It is found by a hash of the kernel's own text, so a changed kernel is never taken for the old one.
A file begins with a checksum of what follows and of its own name: one that is damaged, or that
belongs elsewhere, is compiled anew instead of being run.  A file is written under another name
first and renamed, so processes that compile at once do no harm.  One of them has a lock, and the
others load what it has made.

Machine code is run as it is, so the folder has to be the user's own and closed to others' writing.
There is no other place for it: the folder of temporary files belongs to all.
"""

from __future__ import annotations

import fcntl
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ckptsim.scenarios.files import written_whole
from ckptsim.sim.job.buffers.compiled.jit import is_interpreted

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_log = logging.getLogger(__name__)
_DIGEST_BYTES = 16
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# Neither a link nor a pipe is followed or waited for.
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def is_available() -> bool:
    """Return whether the kernel can be run here: numba is there, or not wanted."""
    return is_interpreted() or find_spec("numba") is not None


@cache
def is_ready() -> bool:
    """Return whether this kernel had been compiled on this machine when it was asked first."""
    folder = None if is_interpreted() else kept_in()
    return is_interpreted() or (folder is not None and any(folder.glob("*.o")))


@cache
def kept_in() -> Path | None:
    """Return the folder: in the user's cache folder, under the hash of the kernel's text.

    None where the user has no such folder, or others may write there.  A line says so, once.
    """
    try:
        root = _cache()
        folder = root / "ckptsim" / f"kernel-{_hash_of_text()}"
        for one in (folder.parent, folder):
            one.mkdir(mode=0o700, exist_ok=True)
            _check_own(one.lstat(), one)
    except (OSError, RuntimeError) as error:
        _say_not_kept(error)
        return None
    return folder


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one process of this machine compile, and those that would as well wait until it has.

    The lock ends with the process that holds it, however that ends.  Where nothing can be kept
    there is none to wait for.
    """
    folder = kept_in()
    lock = None
    try:
        if folder is not None:
            lock = os.open(folder / "lock", _READING | os.O_CREAT, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        _say_not_kept(error)
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def kept(name: str) -> bytes | None:
    """Return the bytes that are kept under a name. None if there are none, or they are damaged."""
    folder = kept_in()
    if folder is None:
        return None
    path = folder / name
    try:
        with os.fdopen(os.open(path, _READING), "rb") as file:
            _check_own(os.fstat(file.fileno()), path)
            whole = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        _say_not_kept(error)
        return None
    content = whole[_DIGEST_BYTES:]
    if whole[:_DIGEST_BYTES] != _digest(path, content):
        _log.warning("%s is damaged: the kernel is compiled anew", path)
        return None
    return content


def keep(name: str, content: bytes) -> None:
    """Keep a content under a name, so that a process that finds it finds all of it."""
    folder = kept_in()
    if folder is None:
        return
    try:
        written_whole(folder / name, _digest(folder / name, content) + content, mode=0o600)
    except OSError as error:
        _say_not_kept(error)


def _cache() -> Path:
    """Return the user's cache folder.

    Raises OSError or RuntimeError where the user has none: a home that is missing is not made.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        named.mkdir(mode=0o700, parents=True, exist_ok=True)
        return named
    folder = Path.home() / ".cache"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _check_own(found: os.stat_result, path: Path) -> None:
    """Raise PermissionError for a place that is not the user's own alone."""
    if stat.S_IFMT(found.st_mode) not in (stat.S_IFDIR, stat.S_IFREG):
        raise PermissionError(f"{path} is a link or a device")
    if found.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user")
    if found.st_mode & _OTHERS_WRITE:
        raise PermissionError(f"others may write to {path}: `chmod go-w` closes it")


def _say_not_kept(error: Exception) -> None:
    """Say once per process why nothing is kept."""
    if _reasons():
        return
    place, says = getattr(error, "filename", None), getattr(error, "strerror", None)
    _reasons().append(f"{place}: {says}" if place and says else str(error))
    _log.warning("the compiled kernel is not kept (%s): large jobs take longer", _reasons()[0])


@cache
def _reasons() -> list[str]:
    return []


def _digest(path: Path, content: bytes) -> bytes:
    key = f"{path.parent.name}/{path.name}".encode()
    return blake2b(content, digest_size=_DIGEST_BYTES, key=key[:64]).digest()


def _hash_of_text() -> str:
    here = files(__package__)
    text = blake2b(digest_size=8)
    for name in ("door.py", "jit.py"):
        text.update((here / name).read_bytes())
    for part in ("kernel", "columns"):
        for source in _texts(here / part):
            text.update(source)
    return text.hexdigest()


def _texts(folder: Traversable) -> Iterator[bytes]:
    """Return the text of every module below a folder, which may lie in an archive, in order."""
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _texts(entry)
        elif entry.name.endswith(".py"):
            yield entry.read_bytes()
