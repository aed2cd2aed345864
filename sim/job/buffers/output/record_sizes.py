"""How long the records of an output are: all alike, or drawn for each of them.

A record takes a fixed part and an exponential one, as the service of an operator does.  Everything
that is drawn is a function of the output's key, the open buffer's lane and the record's number in
it, not of a stream: so a receiver, who knows how many records have come over a channel, knows how
long each of them is, and nothing has to travel with the data.

Assumption: a record that is read again after a restart may have another size.
"""

from __future__ import annotations

import math

_MASK = (1 << 64) - 1
_UNIT = 2.0**-53
# The numbers 1 - n * 2^-53 have no smaller logarithm.
_TAIL = 53 * math.log(2)
# Source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014: the
# increment and the finalizer of SplitMix64, which is a function of (key, number of the draw).
_GOLDEN, _FIRST_FACTOR, _SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
# Room for the numbers of the records of a lane. The ones of the next one follow.
_LANE_BITS = 40


class RecordSizes:
    """Sizes of the records of one output.

    mean: in bytes. fixed, varying: their parts of it. key: of 64 bits, for those that are drawn.
    """

    __slots__ = ("_totals", "fixed", "is_steady", "key", "largest", "mean", "varying")

    def __init__(self, mean: int, variation: float = 0.0, key: int = 0) -> None:
        self.mean = mean
        self.varying = mean * variation
        self.fixed = round(mean - self.varying)
        self.is_steady = not variation
        self.key = key
        self.largest = self.fixed + math.ceil(_TAIL * self.varying)
        self._totals: dict[int, tuple[int, int]] = {}

    def size(self, lane: int, number: int) -> int:
        """Return the bytes of a record."""
        if self.is_steady:
            return self.mean
        word = (self.key + (lane << _LANE_BITS | number) * _GOLDEN) & _MASK
        word = ((word ^ (word >> 30)) * _FIRST_FACTOR) & _MASK
        word = ((word ^ (word >> 27)) * _SECOND_FACTOR) & _MASK
        uniform = ((word ^ (word >> 31)) >> 11) * _UNIT
        return max(1, self.fixed + round(-self.varying * math.log(1.0 - uniform)))

    def total(self, lane: int, first: int, count: int) -> int:
        """Return the bytes of so many records of a lane, from a number on."""
        if self.is_steady:
            return count * self.mean
        return sum(self.size(lane, number) for number in range(first, first + count))

    def rest(self, lane: int, first: int, records: int, size: int) -> int:
        """Return what of so many bytes, in which records end, belongs to one that does not.

        first: number of the first of these records. Below 0 where a restart has put them back.
        """
        if first < 0 and not self.is_steady:
            return 0 if records else size  # how long each of them is no one knows any more
        return size - self.total(lane, first, records)

    def unread(self, lane: int, end: int, count: int) -> int:
        """Return the bytes of the records of a lane before number `end`.

        Where a restart has put them back (`end` is 0 or less) they count as of mean size.
        """
        return count * self.mean if end <= 0 else self.total(lane, end - count, count)

    def first(self, lane: int, count: int) -> int:
        """Return the bytes of the first records of a lane. Quick for who asks for ever more."""
        known, size = self._totals.get(lane, (0, 0))
        if count < known:
            known = size = 0
        size += self.total(lane, known, count - known)
        self._totals[lane] = count, size
        return size
