"""A limit of processor time for one run, for scenarios that nobody has looked at before."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class TooLongError(BaseException):
    """A run that does not end; no Exception, so that no handler takes it for one of a core."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End the block with TooLongError when it takes longer; in a main thread only.

    seconds: of the processor; infinite ones are no limit.
    """
    if seconds == float("inf") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, _too_long)
    # Again and again: a process of the simulation may have swallowed the first one.
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _too_long(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TooLongError
