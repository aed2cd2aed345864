"""One writer per directory: a lock that ends with its process, and names its owner.

The system holds the lock on an open file, so that a process that dies, however it dies, gives it
up. Nothing has to be found stale.  The content of the file is for people: who has it, since when.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ckptsim.scenarios.errors import UserError

LOCK = "sweep.lock"


class DirectoryInUseError(UserError):
    """Another process writes into the directory."""


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Be the only writer of a directory, which is made if it is not there.

    Raises DirectoryInUseError, which says who is and since when.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / LOCK
    held = _take(path)
    try:
        os.ftruncate(held, 0)
        about = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}
        os.pwrite(held, json.dumps(about).encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)  # while it is held: no one else's can be removed
        os.close(held)


def _take(path: Path) -> int:
    """Return an open file that holds the lock. Its name is the one of the path when it returns."""
    while True:
        try:
            held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}, expected a place for a lock") from error
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            said = _owner(os.pread(held, 4096, 0))
            os.close(held)
            raise DirectoryInUseError(
                f"{path.parent}: {said} writes here; wait for it, or choose another --out"
            ) from error
        # The owner before may have removed the file between the opening and the lock.
        if path.exists() and path.stat().st_ino == os.fstat(held).st_ino:
            return held
        os.close(held)


def _owner(text: bytes) -> str:
    """Say in words who holds the lock and for how long."""
    try:
        about = json.loads(text)
        minutes, seconds = divmod(max(0, round(time.time() - about["since"])), 60)
        age = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
        return f"process {about['pid']} on {about['host']}, since {age} ago,"
    except (ValueError, KeyError, TypeError, OverflowError):
        return "another process"
