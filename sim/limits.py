"""Limits of one run: one that goes beyond them ends with an error that says so.

They are the user's, so no core is blamed that was at work just then.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ckptsim.scenarios.errors import UserError

# The alarm rings again should something have swallowed it: a world that fails softly.
_AGAIN_S = 1.0


class RunTimeoutError(UserError):
    """A run took longer than it may."""


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
def _timed(seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise RunTimeoutError(f"the run took longer than {seconds:g} s (--run-timeout)")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _measured(memory_bytes: int | None) -> Iterator[None]:
    """Bound the address space by what it is now and the run's own share."""
    if memory_bytes is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space_bytes() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (_least(wanted, soft, hard), hard))
    try:
        yield
    except MemoryError as error:
        raise RunMemoryError(
            f"the run needed more than {memory_bytes} bytes (--run-memory)"
        ) from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space_bytes() -> int:
    """Return what the process has of the address space; nothing where the system does not say."""
    sizes = Path("/proc/self/statm")
    return int(sizes.read_text().split()[0]) * resource.getpagesize() if sizes.exists() else 0


def _least(*limits: int) -> int:
    return min((each for each in limits if each != resource.RLIM_INFINITY), default=limits[0])
