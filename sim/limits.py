"""Limits of one run: one that goes beyond them ends with an error that says so.

They are the user's, so no core is blamed that was at work just then.
"""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ckptsim.scenarios.errors import UserError

# A timer rings again should something have swallowed it: a world that fails softly.
_AGAIN_S = 1.0
_SIGNALS = {
    signal.ITIMER_REAL: signal.SIGALRM,
    signal.ITIMER_VIRTUAL: signal.SIGVTALRM,
    signal.ITIMER_PROF: signal.SIGPROF,
}


class RunTimeoutError(UserError):
    """A run took longer than it may."""


class TooLongError(BaseException):
    """A run that does not end. No Exception, so that no handler takes it for one of a core."""


class RunMemoryError(UserError):
    """A run needed more memory than it may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may take: wall-clock seconds, and bytes beyond what its process had before."""

    seconds: float | None = None
    memory_bytes: int | None = None


UNLIMITED = Limits()


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Raise RunTimeoutError or RunMemoryError in what goes beyond its limits."""
    with _timed(limits.seconds), _measured(limits.memory_bytes):
        yield


@contextmanager
def limited_cpu(seconds: float) -> Iterator[None]:
    """End the block with TooLongError when it takes longer. In a main thread only.

    seconds: of the processor. Infinite ones are no limit.
    """
    if seconds == float("inf") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooLongError

    with ringing(signal.ITIMER_PROF, seconds, ring):
        yield


@contextmanager
def ringing(
    timer: int,
    seconds: float,
    ring: Callable[[int, FrameType | None], None],
    *,
    again_s: float = _AGAIN_S,
) -> Iterator[None]:
    """Call `ring` after so many seconds of a timer of the system, and then again and again."""
    number = _SIGNALS[timer]
    before = signal.signal(number, ring)
    signal.setitimer(timer, seconds, again_s)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


@contextmanager
def _timed(seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise RunTimeoutError(f"the run took longer than {seconds:g} s (--run-timeout)")

    with ringing(signal.ITIMER_REAL, seconds, ring):
        yield


@contextmanager
def _measured(memory_bytes: int | None) -> Iterator[None]:
    """Bound the address space by what it is now and the run's own share."""
    if memory_bytes is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space_bytes() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (least(wanted, soft, hard), hard))
    try:
        yield
    except MemoryError as error:
        raise RunMemoryError(
            f"the run needed more than {memory_bytes} bytes (--run-memory)"
        ) from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space_bytes() -> int:
    """Return what the process has of the address space. Nothing where the system does not say."""
    sizes = Path("/proc/self/statm")
    return int(sizes.read_text().split()[0]) * resource.getpagesize() if sizes.exists() else 0


def least(*limits: int) -> int:
    """Return the least of some limits of a resource, without those that are none."""
    return min((each for each in limits if each != resource.RLIM_INFINITY), default=limits[0])
