"""Outputs of operators that emit less or more than one record for each that they process.

Which records are dropped or give several is fixed by their number alone, evenly spaced: after n
records floor(n * ratio) are out.  So a restored task continues as it would have, and how many
inputs lead to the next output buffer is arithmetic.  Assumption: what a filter drops is spread
evenly; in runs of drops the open buffers fill more unevenly than here.
"""

from __future__ import annotations

from itertools import pairwise

_PARTS = 1_000_000


class Selectivity:
    """How many records are out after so many have been processed; parts: per million."""

    __slots__ = ("parts",)

    def __init__(self, ratio: float) -> None:
        self.parts = round(ratio * _PARTS)

    def emitted(self, processed: int) -> int:
        """Return how many records are out after `processed` ones."""
        return processed * self.parts // _PARTS

    def outputs_of(self, processed: int, count: int) -> list[int]:
        """Return how many records come of each of the `count` ones behind `processed`."""
        out = [self.emitted(processed + place) for place in range(count + 1)]
        return [after - before for before, after in pairwise(out)]
