"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size
from types import TracebackType
from typing import Any, Self


class ProgressBar:
    """Shows how many runs are done, how many per second, and the time left."""

    def __init__(self, says: str) -> None:
        self._says = says
        self._bar: Any = None
        self._began_s = 0.0

    def __enter__(self) -> Self:
        self._began_s = time.time()  # the clock of tqdm
        return self

    def __call__(self, *, done: int, total: int | None, note: str = "") -> None:
        """Show that so many of all runs are done; total: None where only time bounds them.

        note: what else there is to show.
        """
        if not sys.stderr.isatty():
            return
        if self._bar is None:
            from tqdm import tqdm

            size = get_terminal_size()  # some terminals do not say theirs
            self._bar = tqdm(
                desc=self._says,
                total=total,
                unit="run",
                ncols=size.columns,
                nrows=size.lines,
                # The mean of all so far: a rate of the last moments is wild where runs are long.
                smoothing=0,
            )
            # The first to be heard of may be the end of a long run, which counts in the mean too.
            self._bar.start_t = self._began_s
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def say(text: str) -> None:
    """Say what is being done, on standard error and on a terminal only."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)
