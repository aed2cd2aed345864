"""A directory for what a session writes beside its results. It never outlives the next session.

It is removed at the end, and where its process was killed before that, by the next one.  Whether a
process still uses its directory is reported by a lock, which the system ends with the process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "ckptsim-"
_LOCK = "owner.lock"


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """Make a private directory, and remove it with what killed processes have left of theirs."""
    remove_left_over()
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    beside = directory / "new.lock"
    held = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        beside.rename(directory / _LOCK)  # others look for this name: it is locked when it appears
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        os.close(held)


def remove_left_over() -> None:
    """Remove the scratch directories of ended processes of this user."""
    for directory in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        lock = directory / _LOCK
        try:
            if directory.is_symlink() or directory.stat().st_uid != os.getuid():
                continue
            held = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # of someone else, just being made, or just being removed
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # in use
        else:
            shutil.rmtree(directory, ignore_errors=True)
        finally:
            os.close(held)
