"""How far long work has come, on a terminal only: a bar of runs, the simulated time of one run."""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self, TextIO

from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.cli.printing import terminal

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Environment

SHOWN_EVERY_S = 0.5
LONG_S = 2.0  # a run that is over by then shows nothing
_SECOND_NS = 1_000_000_000
_TENTH_NS = _SECOND_NS // 10
_CLEAR = "\r\x1b[K"


class ProgressBar:
    """Shows how many runs are done, how many per second, and the time left."""

    def __init__(self, says: str) -> None:
        self._says = says
        self._done = 0
        self._bar: Any = None
        self._began_s = 0.0
        self._violated = ""

    def violated(self, runs: int) -> None:
        """Show beside the runs, from now on, how many of them violate a property."""
        self._violated = f"{runs:,} violate a property" if runs else ""

    def __enter__(self) -> Self:
        self._began_s = time.time()  # the clock of tqdm
        return self

    def step(self, about: int) -> None:
        """Show that one more is over. about: how many there are, unless one needs more."""
        self._done += 1
        self(done=self._done, total=about)

    def __call__(self, *, done: int, total: int | None, note: str = "") -> None:
        """Show how many of all runs are done, and a note. total: None if only time bounds them."""
        shown = terminal()
        if shown is None:
            return
        if self._bar is None:
            from tqdm import tqdm

            size = get_terminal_size()  # some terminals do not say theirs
            self._bar = tqdm(
                desc=self._says,
                file=shown,
                total=total,
                unit="run",
                ncols=size.columns,
                nrows=size.lines,
                # The mean of all so far: a rate of the last moments is wild where runs are long.
                smoothing=0,
            )
            # The first to be heard of may be the end of a long run, which counts in the mean too.
            self._bar.start_t = self._began_s
        if note or self._violated:
            self._bar.set_postfix_str(note or self._violated, refresh=False)
        self._bar.update(done - self._bar.n)

    def __exit__(self, *_failure: object) -> None:
        if self._bar is not None:
            self._bar.close()


class SimulatedTime:
    """Shows the simulated time of one long run, how fast it passes, and the time left.

    Another thread looks at the clock of the run: the fence is around the run's own thread, and
    nothing of the run depends on who looks.  until_ns: when the run is over, where that is known.
    """

    def __init__(self, until_ns: int | None) -> None:
        self._until_ns = until_ns
        self._env: Environment | None = None
        self._over = Event()
        self._thread: Thread | None = None

    def watch(self, env: Environment) -> None:
        """Look at the clock of this environment from now on."""
        self._env = env

    def __enter__(self) -> Self:
        shown = terminal()
        if shown is not None:
            self._thread = Thread(target=self._show, args=(shown,), daemon=True)
            self._thread.start()
        return self

    def _show(self, terminal: TextIO) -> None:
        began_s, shown = time.monotonic(), False
        while not self._over.wait(SHOWN_EVERY_S):
            took_s = time.monotonic() - began_s
            if self._env is None or took_s < LONG_S:
                continue
            terminal.write(_CLEAR + progress_text(self._env.now, self._until_ns, took_s))
            terminal.flush()
            shown = True
        if shown:
            terminal.write(_CLEAR)
            terminal.flush()

    def __exit__(self, *_failure: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()


def progress_text(now_ns: int, until_ns: int | None, took_s: float) -> str:
    """Return how far a run has come, how fast it was so far, and how much is left at that speed."""
    until = "" if until_ns is None else f" of {duration_text(until_ns)}"
    speed = now_ns / _SECOND_NS / took_s
    text = f"simulated {duration_text(now_ns // _TENTH_NS * _TENTH_NS)}{until} in {took_s:.0f} s"
    text += f", {speed:,.{speed < 10:d}f} times real time"
    if until_ns is not None and now_ns:
        left_s = (until_ns - now_ns) / _SECOND_NS / speed
        text += f", {duration_text(round(left_s) * _SECOND_NS)} left"
    return text


def say(text: str) -> None:
    """Print a step of the work, on standard error and on a terminal only."""
    if terminal() is not None:
        print(text, file=sys.stderr)
