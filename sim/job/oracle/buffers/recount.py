"""Counts once more, from the sequence of keys alone, what every channel was given."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.output import Channels, Route

Counts: TypeAlias = NDArray[np.int64]
_BLOCK = 4096


class Recount:
    """Follows one output's route once more, apart from the writer that uses it.

    broadcast outputs count as one channel.
    """

    def __init__(self, route: Route, channels: int) -> None:
        self._route = route.again()
        self._counts = np.zeros(channels, dtype=np.int64)
        self._counted = 0
        self._block: Channels = np.zeros(0, dtype=np.int16)

    def records(self, emitted: int) -> Counts:
        """Return how many of the first `emitted` records each channel got. They only grow.

        The array is its own: it holds until the next call.
        """
        while self._counted < emitted:
            if not len(self._block):
                self._block = self._route.block(_BLOCK)
            part = self._block[: emitted - self._counted]
            self._block = self._block[len(part) :]
            self._counts += np.bincount(part, minlength=len(self._counts))
            self._counted += len(part)
        return self._counts
