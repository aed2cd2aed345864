"""Named random streams: a draw somewhere never shifts a draw elsewhere.

A stream is addressed by (seed, component, index).  Its bits come from PCG64. The distributions are
written out here, because the methods of a numpy `Generator` may change between releases while the
raw output of a bit generator does not.  Every draw consumes raw words one after the other, so how
many are fetched at a time changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

from ckptsim.sim.kernel.ties import derive_key

Item = TypeVar("Item")

_BLOCK = 128
_TWO_POW_64 = 1 << 64
_UNIT = 2.0**-53
_WORD = (1 << 32) - 1
_STATE = (1 << 128) - 1
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_STANDARD_NORMAL = NormalDist()


class Stream:
    """One random stream. Made by `Streams.stream` or `Environment.stream`."""

    __slots__ = ("_entropy", "_fetch", "_left")

    def __init__(self, entropy: int) -> None:
        self._entropy = entropy
        self._fetch: PCG64 | None = None
        self._left: list[int] = []

    @property
    def state(self) -> tuple[int, int]:
        """State and increment of PCG64 before the next draw, of 128 bits each."""
        generator = PCG64(SeedSequence(self._entropy))
        if self._fetch is not None:
            generator.state = self._fetch.state
            generator.advance(-len(self._left))  # those have been fetched and not been drawn
        found = generator.state["state"]
        return found["state"], found["inc"]

    def resume(self, state: tuple[int, int]) -> None:
        """Go on from a state: others have drawn meanwhile."""
        self._fetch = PCG64(SeedSequence(self._entropy))
        found = self._fetch.state
        found["state"] = {"state": state[0], "inc": state[1]}
        self._fetch.state = found
        self._left = []

    def bits(self) -> int:
        """Draw 64 random bits."""
        if not self._left:
            self._refill()
        return self._left.pop()

    def uniform(self) -> float:
        """Draw from [0, 1), a multiple of 2**-53."""
        return (self.bits() >> 11) * _UNIT

    def integer(self, low: int, high: int) -> int:
        """Draw an integer with low <= value <= high. Raises ValueError for a bad range."""
        span = high - low + 1
        if not 0 < span <= _TWO_POW_64:
            raise ValueError(f"found {low} to {high}, expected low <= high within 2**64 values")
        limit = _TWO_POW_64 - _TWO_POW_64 % span
        while True:
            drawn = self.bits()
            if drawn < limit:
                return low + drawn % span

    def chance(self, ratio: float) -> bool:
        """Draw True with probability `ratio`."""
        return self.uniform() < ratio

    def exponential_ns(self, mean_ns: float) -> int:
        """Draw an exponential duration, rounded to the nanosecond."""
        return round(-mean_ns * math.log(1.0 - self.uniform()))

    def uniform_ns(self, low_ns: int, high_ns: int) -> int:
        """Draw a duration from low to high, both included."""
        return self.integer(low_ns, high_ns)

    def normal(self, mean: float, deviation: float) -> float:
        """Draw from a normal distribution by inversion: one raw word per draw.

        Source: Wichura, Algorithm AS 241 (1988), as in the standard library.
        """
        # The middle of a cell of width 2**-53, so that 0 and 1 cannot occur.
        return mean + deviation * _STANDARD_NORMAL.inv_cdf(((self.bits() >> 11) + 0.5) * _UNIT)

    def lognormal_ns(self, median_ns: float, sigma: float) -> int:
        """Draw a log-normal duration by its median and the deviation of its logarithm."""
        return round(median_ns * math.exp(self.normal(0.0, sigma)))

    def choice(self, items: Sequence[Item]) -> Item:
        """Draw one of the items, all equally likely. Raises ValueError when there is none."""
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in random order (Fisher and Yates). The argument is left alone."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.integer(0, last)
            result[last], result[other] = result[other], result[last]
        return result

    def _refill(self) -> None:
        if self._fetch is None:
            self._fetch = PCG64(SeedSequence(self._entropy))
        words: list[int] = self._fetch.random_raw(_BLOCK).tolist()
        words.reverse()  # `pop` takes from the end
        self._left = words


class Streams:
    """All streams of one seed, by name. Asking again for a name continues its stream."""

    __slots__ = ("_streams", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._streams: dict[tuple[str, int], Stream] = {}

    def stream(self, component: str, index: int = 0) -> Stream:
        """Return the stream of (seed, component, index)."""
        name = (component, index)
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Stream(_entropy(self.seed, component, index))
        return found

    def states(self, components: Sequence[str]) -> list[tuple[int, int]]:
        """Return the state of each component's stream before its next draw, all at once."""
        found = _first_states([_entropy(self.seed, one, 0) for one in components])
        drawn = ((place, self._streams.get((one, 0))) for place, one in enumerate(components))
        for place, stream in drawn:
            if stream is not None:
                found[place] = stream.state
        return found

    def keyed(self, component: str, index: int, counter: int) -> float:
        """Return a uniform number of (component, index, counter), without any state, for faults."""
        key = derive_key(self.seed, "keyed", component, index, counter)
        return (key >> 11) * _UNIT


def _entropy(seed: int, component: str, index: int) -> int:
    text = f"{seed}\0{component}\0{index}"
    return int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "big")


def _first_states(entropies: Sequence[int]) -> list[tuple[int, int]]:
    """Seed PCG64 from numbers of 128 bits, all at once, in a quarter of the time.

    Source: O'Neill, Developing a seed_seq Alternative, 2015 (`seed_seq_fe`, a pool of four words),
    with numpy's constants (`numpy.random.SeedSequence`). O'Neill, PCG, 2014 (`pcg_setseq_128`).
    """
    # One array per word, so that each step is done for all seeds together.
    pool = [
        np.array([(one >> shift) & _WORD for one in entropies], dtype=np.uint32)
        for shift in (0, 32, 64, 96)
    ]
    hashed = _Hash(0x43B0D7E5, 0x931E8875)
    pool = [hashed(word) for word in pool]
    for source in range(4):
        for target in range(4):
            if source != target:
                mixed = np.uint32(0xCA01F9DD) * pool[target]
                mixed -= np.uint32(0x4973F715) * hashed(pool[source])
                pool[target] = mixed ^ (mixed >> np.uint32(16))
    hashed = _Hash(0x8B51F9DD, 0x58F38DED)
    words = [hashed(pool[place % 4]).tolist() for place in range(8)]
    states = []
    for low, high, *rest in zip(*_joined(words), strict=True):
        step = (((rest[0] << 64 | rest[1]) << 1) | 1) & _STATE
        start = (step + (low << 64 | high)) & _STATE
        states.append(((start * _MULTIPLIER + step) & _STATE, step))
    return states


def _joined(words: list[list[int]]) -> list[list[int]]:
    """Join neighbours to words of 64 bits, the lower half first."""
    return [
        [low | high << 32 for low, high in zip(words[place], words[place + 1], strict=True)]
        for place in range(0, len(words), 2)
    ]


class _Hash:
    """A hash of words with another constant at each call."""

    def __init__(self, constant: int, multiplier: int) -> None:
        self._constant = constant
        self._multiplier = multiplier

    def __call__(self, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        found = words ^ np.uint32(self._constant)
        self._constant = self._constant * self._multiplier & _WORD
        found *= np.uint32(self._constant)
        found ^= found >> np.uint32(16)
        return found
