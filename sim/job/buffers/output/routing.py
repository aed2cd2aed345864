"""Which channel each record of an output takes, in blocks of records.

The order of channels is a property of the partitioner and, for keys, of the random key sequence. It
does not depend on time.  It is made in blocks with numpy, and how long the blocks are changes
nothing in the sequence.

Source: Apache Flink 1.20.3, RebalancePartitioner, RescalePartitioner, GlobalPartitioner,
KeyGroupStreamPartitioner.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

from ckptsim.models.recovery.key_groups import default_max_parallelism, key_group_range

Channels = NDArray[np.int16]
"""Channel numbers, shape (records,)."""

_HALF = np.uint64(32)


def kept_shares(shares: Sequence[float], *, sender: int, senders: int) -> list[float]:
    """Return the weights of receivers among the records of one sender that got them by their key.

    A sender has the records of its key groups, so it sends only to receivers that own some of
    these, and to those as much as they own.  shares: of the receivers among all records, which may
    favour some of a sender's.
    """
    receivers = len(shares)
    count = default_max_parallelism(max(senders, receivers))
    own = key_group_range(sender, max_parallelism=count, parallelism=senders)
    found = []
    for receiver, share in enumerate(shares):
        theirs = key_group_range(receiver, max_parallelism=count, parallelism=receivers)
        common = max(0, min(own.stop, theirs.stop) - max(own.start, theirs.start))
        found.append(common * share / len(theirs))
    return found if any(found) else list(shares)


class Route(Protocol):
    """An endless sequence of channel numbers."""

    def block(self, count: int) -> Channels:
        """Return the channels of the next `count` records."""

    def again(self) -> Route:
        """Return a route that begins where this one began."""


class SingleRoute:
    """Every record takes the same channel (forward, global, a key that stays where it is)."""

    def __init__(self, channel: int) -> None:
        self.channel = channel

    def block(self, count: int) -> Channels:
        """Return the channels of the next `count` records."""
        return np.full(count, self.channel, dtype=np.int16)

    def again(self) -> SingleRoute:
        """Return a route that begins where this one began."""
        return SingleRoute(self.channel)


class RoundRobinRoute:
    """Records take the channels in turn (rebalance, rescale), beginning anywhere."""

    def __init__(self, channels: int, start: int) -> None:
        self._width = channels
        self._start = start
        self._next = start % channels

    def block(self, count: int) -> Channels:
        """Return the channels of the next `count` records."""
        picks = np.arange(self._next, self._next + count) % self._width
        self._next = (self._next + count) % self._width
        return picks.astype(np.int16)

    @property
    def upcoming(self) -> int:
        """The channel of the next record."""
        return self._next

    def again(self) -> RoundRobinRoute:
        """Return a route that begins where this one began."""
        return RoundRobinRoute(self._width, self._start)


class RandomRoute:
    """Each record takes a channel at random, in proportion to the channels' weights.

    Keys of records are drawn independently, so only the channel that a key leads to is drawn here.
    name: of the random stream, with the run's seed.  first: how many records have gone before.
    """

    def __init__(self, weights: Sequence[int], *, seed: int, name: str, first: int = 0) -> None:
        self._made_of = (weights, seed, name, first)
        entropy = blake2b(f"{seed}\0{name}".encode(), digest_size=16).digest()
        self._bits = PCG64(SeedSequence(int.from_bytes(entropy, "big")))
        self._bits.advance(first)  # one word each
        self._width = np.uint64(len(weights))
        self.is_uniform = len(set(weights)) == 1
        self._bounds = np.cumsum(np.array(weights, dtype=np.uint64))

    def block(self, count: int) -> Channels:
        """Return the channels of the next `count` records, one raw word each."""
        drawn = self._bits.random_raw(count)
        drawn >>= _HALF  # in place: long blocks cost more to hold than to work out
        drawn *= self._width if self.is_uniform else self._bounds[-1]
        drawn >>= _HALF
        if self.is_uniform:
            return drawn.astype(np.int16)
        picks: Channels = np.searchsorted(self._bounds, drawn, side="right").astype(np.int16)
        return picks

    @property
    def state(self) -> tuple[int, int]:
        """State and increment of the generator, of 128 bits each."""
        found = self._bits.state["state"]
        return found["state"], found["inc"]

    @property
    def bounds(self) -> list[int]:
        """Sums of the weights up to each channel."""
        found: list[int] = self._bounds.tolist()
        return found

    def again(self) -> RandomRoute:
        """Return a route that begins where this one began."""
        weights, seed, name, first = self._made_of
        return RandomRoute(weights, seed=seed, name=name, first=first)
