"""Lists of choices: those that reached something new, changed ones, and those drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ckptsim.sim.kernel import Stream, Streams
from ckptsim.sim.search.explore.run import LIBRARY_EVERY

# Of the runs of an exploration with a corpus, how many draw everything anew. An assumption.
_ANEW = 0.8
# Of the changed lists, how many get another seed: what depends on the seed alone, such as the walks
# of cores, would be the same again. An assumption.
_RESEEDED = 0.5


@dataclass(slots=True)
class Corpus:
    """Lists of choices in the order in which they were found."""

    entries: list[tuple[int, ...]] = field(default_factory=list)

    def next(self, stream: Stream) -> tuple[int, ...]:
        """Return the beginning of a list. What it lacks is drawn, so an empty one is all new."""
        if not self.entries or stream.chance(_ANEW):
            return ()
        # Later entries reached what earlier ones did not: each half is twice as likely as the last.
        behind = min(stream.integer(0, len(self.entries) - 1) for _ in range(2))
        chosen = self.entries[len(self.entries) - 1 - behind]
        return _changed(chosen, self.entries, stream)


def _changed(
    chosen: tuple[int, ...], others: Sequence[tuple[int, ...]], stream: Stream
) -> tuple[int, ...]:
    """Return the list with one to four changes of any kind."""
    found = list(chosen)
    for _ in range(stream.integer(1, 4)):
        if not found:
            break
        at = stream.integer(0, len(found) - 1)
        kind = stream.integer(0, 6)
        if kind == 0:
            found[at] = stream.integer(0, 1 << 20)
        elif kind == 1:
            found[at] = max(0, found[at] + stream.choice((-1, 1)))
        elif kind == 2:
            found[at] = stream.integer(0, 3)
        elif kind == 3:
            del found[at : at + stream.integer(1, 4)]
        elif kind == 4:
            found[at:at] = [stream.integer(0, 9) for _ in range(stream.integer(1, 3))]
        elif kind == 5:  # another seed and another order of ties of the same scenario
            found[:2] = [stream.integer(0, 1 << 20) for _ in range(2)]
        else:  # the beginning of this one, the end of another
            found[at:] = stream.choice(others)[at:]
    if len(found) > 1 and stream.chance(_RESEEDED):
        found[1] = stream.integer(0, 1 << 20)
    return tuple(found)


_TWO_POW_64 = 1 << 64
# By the places of the choices, everything that is added from run to run in shares of 2**64: for the
# tie policy sqrt(2) - 1. For whether the scenario comes from the library 1 / 6, so that it does
# every sixth time. For its kind the golden ratio, which spreads any number of runs.  Between them
# lies the seed, which is drawn like all that follows.
# Source: Knuth, The Art of Computer Programming 3, 6.4 (the golden ratio spreads best).
_STEPS = {
    0: 7_640_891_576_956_012_808,
    2: _TWO_POW_64 // LIBRARY_EVERY,
    3: 11_400_714_819_323_198_485,
}


def evenly(seed: int, number: int) -> Callable[[int, int], int]:
    """Return what draws the choices of a run, given the exploration's seed and the run's number.

    The first choices say which kind of scenario it is.  By chance alone a kind that is meant for
    one run in forty would now and then be missing from a hundred runs. Here it has its turn.
    """
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
