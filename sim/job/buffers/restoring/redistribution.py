"""Which records in flight of old channels a new channel takes, as shares of their bytes.

Data here has sizes and counts and no keys.  The records of an old pair of subtasks are numbered in
the order in which the sender wrote them: those at the receiver first, the rest at the sender. Where
an old subtask's data goes to several new ones, record n falls into a key group by n alone. So every
taker agrees, and it is kept once. A record that was cut keeps the bytes of both its parts.

Assumption: in-flight records are spread evenly over the key groups of their old subtask, and over
the keys that a custom partitioner sends there, by their rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ckptsim.models.recovery import GateAssignment, Mapper, key_group_range
from ckptsim.models.recovery.key_groups import default_max_parallelism
from ckptsim.sim.job.buffers.state import Span

Kept = NDArray[np.bool_]
"""Which records of a pair a taker keeps, shape (records,)."""

# Multiples of the golden ratio, as fractions of 2**32, are spread evenly however many there are.
_GOLDEN = 0x9E3779B9
_TURN = 1 << 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """What of one old pair of subtasks is in flight, at its receiver and at its sender.

    The pair's bytes are whole records.  Assumption: where these are not of one size, those that end
    in one buffer count as if they were.
    """

    received: Sequence[Span]
    sent: Sequence[Span]

    @property
    def counts(self) -> tuple[int, int]:
        """Return how many records end at the receiver and at the sender."""
        return _records(self.received), _records(self.sent)

    def filtered(self, kept: Kept) -> tuple[list[Span], list[Span]]:
        """Return the buffers of both ends with the bytes of some records only."""
        place = _Place(kept, self._bounds(len(kept)))
        return list(place.of(self.received)), list(place.of(self.sent))

    def _bounds(self, count: int) -> NDArray[np.int64]:
        """Return where each record ends, in bytes, after a 0: in the buffer that counts it."""
        spans = np.array([*self.received, *self.sent], dtype=np.int64)
        ends, counts = np.cumsum(spans, axis=0).T
        even: NDArray[np.int64] = np.arange(count + 1) * ends[-1] // count
        if (np.searchsorted(even, ends, side="right") - 1 == counts).all():
            return even
        parts = ((end, *span) for end, span in zip(ends, spans, strict=True))
        found = [end - size * (n - k) // n for end, size, n in parts for k in range(1, n + 1)]
        return np.array([0, *found], dtype=np.int64)


class _Place:
    """Walks through the buffers of a pair. Buffers that keep nothing are left out."""

    def __init__(self, kept: Kept, bounds: NDArray[np.int64]) -> None:
        self._kept = kept
        self._bounds = bounds  # of the records, in bytes
        self._records_before = np.concatenate([[0], np.cumsum(kept)])
        self._bytes_before = np.concatenate([[0], np.cumsum(kept * np.diff(bounds))])
        self._bytes = self._records = 0

    def of(self, spans: Sequence[Span]) -> Iterable[Span]:
        """Yield the parts of the next buffers that this subtask keeps."""
        for size, records in spans:
            first_byte, first = self._bytes, self._records
            self._bytes += size
            self._records += records
            kept_bytes = self._kept_below(self._bytes) - self._kept_below(first_byte)
            if kept_bytes:
                kept = self._records_before[self._records] - self._records_before[first]
                yield kept_bytes, int(kept)

    def _kept_below(self, position: int) -> int:
        """Return how many of the pair's first bytes are kept."""
        whole = int(np.searchsorted(self._bounds, position, side="right")) - 1
        if whole >= len(self._kept):
            return int(self._bytes_before[-1])
        rest = position - int(self._bounds[whole])
        return int(self._bytes_before[whole]) + rest * bool(self._kept[whole])


def kept_by(
    subtask: int,
    taken: int,
    parallelisms: tuple[int, int],
    count: int,
    *,
    mapper: Mapper | None = Mapper.RANGE,
) -> Kept:
    """Return which of `count` records of an old subtask a new one keeps: those for its key groups.

    parallelisms: of the old job and of the new one.  mapper: FULL of keys that go by their rest.
    """
    found: Kept
    if mapper is Mapper.FULL:
        found = (taken + parallelisms[0] * np.arange(count)) % parallelisms[1] == subtask
        return found
    groups_all = default_max_parallelism(max(parallelisms))
    held = key_group_range(taken, max_parallelism=groups_all, parallelism=parallelisms[0])
    own = key_group_range(subtask, max_parallelism=groups_all, parallelism=parallelisms[1])
    turns = np.arange(count, dtype=np.uint64) * np.uint64(_GOLDEN) % np.uint64(_TURN)
    groups = held.start + (turns.astype(np.int64) * len(held) >> 32)
    found = (groups >= own.start) & (groups < own.stop)
    return found


@dataclass(frozen=True, slots=True)
class Taken:
    """What a new channel takes of one old pair. kept: of its records, None for all."""

    pair: tuple[int, int]
    kept: Kept | None


def taken_by(
    gate: GateAssignment,
    channel: int,
    subtask: int,
    parallelisms: tuple[int, int],
    counts: dict[tuple[int, int], int],
    *,
    mapper: Mapper | None,
) -> list[Taken]:
    """Return what a new channel of a gate takes, pair by pair, in the order of its replay.

    parallelisms: of the receiving vertex, old and new. counts: records in flight by old pair.
    """
    found = []
    for taken, upstream in gate.virtual_channels(channel):
        count = counts.get((upstream, taken), 0)
        ambiguous = taken in gate.ambiguous
        kept = None
        if ambiguous:
            kept = kept_by(subtask, taken, parallelisms, count, mapper=mapper)
        if count:
            found.append(Taken((upstream, taken), kept))
    return found


def _records(spans: Sequence[Span]) -> int:
    return sum(records for _, records in spans)
