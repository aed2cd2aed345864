"""What ends a verb from outside: what the system refuses about the user's files, and signals."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from ckptsim.sim.slots.guest import TIMEOUT_VARIABLE

# Whatever file it was about, nobody but the user can make room, or give leave to write.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
_DEFAULT = Path("out")  # where verbs write when no place is named


class Terminated(KeyboardInterrupt):
    """The process was asked to end; it tidies up as after an interrupt from the keyboard."""


def was_terminated(stop: BaseException) -> bool:
    """Tell whether an interrupt, or what it was raised from, is a request to end."""
    cause: BaseException | None = stop
    while cause is not None:
        if isinstance(cause, Terminated):
            return True
        cause = cause.__cause__
    return False


@contextmanager
def terminating() -> Iterator[None]:
    """Let a request to end unwind what is under way, where signals are ours to handle."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def core_timeout(arguments: argparse.Namespace) -> Iterator[None]:
    """Let a core take as long for a call as the user says, here and in processes of this one."""
    seconds = getattr(arguments, "core_timeout", None)
    if seconds is None:
        yield
        return
    before = os.environ.get(TIMEOUT_VARIABLE)
    os.environ[TIMEOUT_VARIABLE] = str(seconds)
    try:
        yield
    finally:
        if before is None:
            del os.environ[TIMEOUT_VARIABLE]
        else:
            os.environ[TIMEOUT_VARIABLE] = before


def refusal_of(error: OSError, arguments: argparse.Namespace) -> str | None:
    """Return what the system refused about a place that the user has named, or None.

    A file that the user named nowhere is ours, and so is the fault.
    """
    reason = (error.strerror or str(error)).partition("\n")[0]
    if error.errno in _NO_ROOM or "No space left" in str(error):
        return f"{_text(error.filename) or 'the output'}: {reason}"
    if error.filename is None:
        return None
    found = Path(_text(error.filename)).absolute()
    for place in _named(arguments):
        absolute = place.absolute()
        if found == absolute or absolute in found.parents or found in absolute.parents:
            return f"{_text(error.filename)}: {reason}, expected a place to read or write"
    return None


def _named(arguments: argparse.Namespace) -> Iterator[Path]:
    """Yield every place that the arguments name, or may name."""
    yield _DEFAULT
    for name, value in vars(arguments).items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Path):
                yield each
            elif isinstance(each, str) and each and "\0" not in each and name != "verb":
                yield Path(each)


def _text(name: object) -> str:
    """Return the name of a file as the system gave it."""
    if isinstance(name, bytes):
        return os.fsdecode(name)
    return "" if name is None else str(name)
