"""The first choices of scenarios that are drawn anew, spread evenly over the runs.

They say which kind of scenario it is.  By chance alone a kind that is meant for one run in forty
would now and then be missing from a hundred runs; here it has its turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ckptsim.sim.kernel import Streams
from ckptsim.sim.search.explore.run import LIBRARY_EVERY

_TWO_POW_64 = 1 << 64
# By the places of the choices, what is added from run to run in shares of 2**64: for the tie policy
# sqrt(2) - 1; for whether the scenario comes from the library 1 / 6, so that it does every sixth
# time; for its kind the golden ratio, which spreads any number of runs.  Between them lies the
# seed, which is drawn like all that follows.
# Source: Knuth, The Art of Computer Programming 3, 6.4 (the golden ratio spreads best).
_STEPS = {
    0: 7_640_891_576_956_012_808,
    2: _TWO_POW_64 // LIBRARY_EVERY,
    3: 11_400_714_819_323_198_485,
}


def evenly(seed: int, number: int) -> Callable[[int, int], int]:
    """Return what draws the choices of a run, given the exploration's seed and the run's number."""
    drawn = Streams(seed).stream("choices", number).integer
    begin = _begin(seed)
    place = -1

    def choose(low: int, high: int) -> int:
        nonlocal place
        place += 1
        step = _STEPS.get(place)
        if step is None:
            return drawn(low, high)
        share = (begin[place] + number * step) % _TWO_POW_64
        return low + (share * (high - low + 1) >> 64)

    return choose


@lru_cache(maxsize=1)
def _begin(seed: int) -> dict[int, int]:
    streams = Streams(seed)
    return {place: streams.stream("turns", place).bits() for place in _STEPS}
