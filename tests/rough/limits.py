"""Time and memory of one command that runs inside the tests, and what it came to."""

from __future__ import annotations

import contextlib
import io
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from ckptsim.sim.cli import main
from ckptsim.sim.job.buffers.compiled.door import kernel

MEMORY_BYTES = 2 << 30
_WAITED_TIMES = 20  # a command that waits is cut at so many times the limit of its CPU time
CUT = -1  # the command was ended at its limit of time


class _TooLong(BaseException):
    """The time is over. Nothing of the program may catch it."""


def code_of(words: list[str], *, seconds: float) -> tuple[int, str]:
    """Run a command within limits. Return its exit code, or CUT, and what it said of faults.

    seconds: of CPU time, so that as much is run beside others as alone.
    """
    kernel()  # an alarm within its import would leave this process half of it
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with _within(seconds):
                code = main(words)
        except _TooLong:
            code = CUT
    return code, err.getvalue()


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = [signal.signal(each, ring) for each in (signal.SIGPROF, signal.SIGALRM)]
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY_BYTES, hard))
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)
    signal.setitimer(signal.ITIMER_REAL, _WAITED_TIMES * seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
