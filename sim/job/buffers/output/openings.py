"""Which record of a sequence opens which buffer, for whole blocks of records.

A record goes to one channel; it opens a buffer there when it does not end within the room that is
left.  Only the places in the sequence at which that happens are looked up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.output.routing import Channels

Ints = NDArray[np.int64]
_Keys = NDArray[np.uint32 | np.uint64]

_SMALL = 1 << 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Openings:
    """The buffers that a sequence opens, channel by channel, in the order of opening.

    counts, room: per channel, how many, and bytes that go into the last one afterwards, or into the
    one that was open before, shape (channels,).
    channels, ordinals: per opening, where and by which record, 0 for the first one; begins: its
    first byte, counted from the first one of the sequence in its channel.
    """

    counts: Ints
    room: Ints
    channels: Ints
    ordinals: Ints
    begins: Ints


def find_openings(sequence: Channels, room: Ints, capacity: Ints, record_bytes: int) -> Openings:
    """Find what a sequence of channels opens.

    room, capacity: per channel, bytes that go into the open buffer and into each one to come.
    """
    width, length = len(capacity), len(sequence)
    keys, starts = _by_channel(sequence, width)
    beyond = np.diff(starts) * record_bytes - room
    counts: Ints = np.maximum(-(-beyond // capacity), 0)
    channels = np.repeat(np.arange(width), counts)
    first: Ints = np.cumsum(counts) - counts
    places: Ints = np.arange(len(channels)) - first[channels]
    begins: Ints = room[channels] + places * capacity[channels]
    found = keys[starts[channels] + begins // record_bytes].astype(np.int64)
    return Openings(
        counts=counts,
        room=counts * capacity - beyond,
        channels=channels,
        ordinals=found - channels * length,
        begins=begins,
    )


def _by_channel(sequence: Channels, width: int) -> tuple[_Keys, Ints]:
    """Sort the places of a sequence by channel.

    Returns channel x length + place for each element, and where those of each channel begin, with
    the end of the last one.  Sorting numbers is several times as fast as finding their order.
    """
    length = len(sequence)
    kind = np.dtype(np.uint32 if width * length < _SMALL else np.uint64)
    keys: _Keys = sequence.astype(kind)
    keys *= length
    keys += np.arange(length, dtype=kind)
    keys.sort()
    bounds: _Keys = np.arange(width, dtype=kind) * length
    return keys, np.append(np.searchsorted(keys, bounds), length)
