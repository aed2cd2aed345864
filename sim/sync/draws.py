"""Random durations and ids, each drawn by what it is for and not by when it is drawn.

The n-th upload of a run takes as long whatever happened before, and so do a reader's opening and
the n-th send.  Two runs of one seed that differ in a parameter then differ by that parameter, not
by luck: common random numbers, which paired comparisons live on.
"""

from __future__ import annotations

import math
import string
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Environment

_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits
_STANDARD_NORMAL = NormalDist()
_HALF_A_STEP = 2.0**-54  # keyed numbers are multiples of 2**-53; their cells' middles avoid 0
_CHARACTERS_PER_DRAW = 8  # 62**8 is below 2**53


class Draws:
    """Draws that are addressed by (component, index, counter)."""

    def __init__(self, env: Environment) -> None:
        self._keyed = env.streams.keyed

    def lognormal_ns(self, where: tuple[str, int, int], *, median_ns: int, spread: float) -> int:
        """Return a log-normal duration by its median and the deviation of its logarithm."""
        if not spread:
            return median_ns
        normal = _STANDARD_NORMAL.inv_cdf(self._keyed(*where) + _HALF_A_STEP)
        return round(median_ns * math.exp(spread * normal))

    def up_to(self, where: tuple[str, int, int], highest: int) -> int:
        """Return a whole number from 0 to `highest`, all equally likely up to 2**-53."""
        return int(self._keyed(*where) * (highest + 1))

    def identifier(self, where: tuple[str, int, int], characters: int) -> str:
        """Return a random text of letters and digits."""
        component, index, counter = where
        text = ""
        for part in range(0, characters, _CHARACTERS_PER_DRAW):
            count = min(_CHARACTERS_PER_DRAW, characters - part)
            number = self.up_to((f"{component}.{part}", index, counter), 62**count - 1)
            for _ in range(count):
                number, place = divmod(number, 62)
                text += _ALPHABET[place]
        return text
