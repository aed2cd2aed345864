"""How long records are, as `output/record_sizes.py`. Most writers have all of one size."""

from __future__ import annotations

import math

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import channel, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_FIRST_SHIFT, _SECOND_SHIFT, _THIRD_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)
_LOST = np.uint64(11)
_UNIT = 2.0**-53
_LANE_BITS = 40


@compiled
def varies(m: Memory, w: int) -> bool:
    """Return whether the records of a writer are not all of one size."""
    return m[w + writer.COUNTS] >= 0


@compiled
def size_of(m: Memory, w: int, place: int, number: int) -> int:
    """Return the bytes of a record, by its number in the lane at a place of the writer."""
    word = np.uint64(m[w + writer.SIZES_KEY]) + np.uint64((place << _LANE_BITS) | number) * _GOLDEN
    word = (word ^ (word >> _FIRST_SHIFT)) * _FIRST_FACTOR
    word = (word ^ (word >> _SECOND_SHIFT)) * _SECOND_FACTOR
    uniform = np.float64((word ^ (word >> _THIRD_SHIFT)) >> _LOST) * _UNIT
    mean = np.int64(m[w + writer.VARYING_BYTES]).view(np.float64)
    return max(1, m[w + writer.FIXED_BYTES] + int(np.rint(-mean * math.log(1.0 - uniform))))


@compiled
def place_of(m: Memory, w: int, lane: int) -> int:
    """Return the place of a lane among the ones of its writer."""
    return (lane - m[w + writer.FIRST_LANE]) // writer.LANE_WIDTH


@compiled
def next_size(m: Memory, w: int, lane: int) -> int:
    """Return the bytes of the next record of a lane that is neither written nor ahead."""
    if not varies(m, w):
        return m[w + writer.RECORD_BYTES]
    place = place_of(m, w, lane)
    return size_of(m, w, place, m[m[w + writer.COUNTS] + place])


@compiled
def count_records(m: Memory, w: int, lane: int, records: int) -> None:
    """Count records of a lane that are written or ahead, where that says how long the next is."""
    if varies(m, w):
        m[m[w + writer.COUNTS] + place_of(m, w, lane)] += records


@compiled
def counted(m: Memory, w: int, lane: int) -> int:
    """Return how many records of a lane are written or ahead."""
    return m[m[w + writer.COUNTS] + place_of(m, w, lane)]


@compiled
def restored(m: Memory, c: int) -> int:
    """Return where the records are counted that a restart has put back into a channel."""
    w = m[c + channel.WRITER]
    return m[w + writer.RESTORED] + (c - m[w + writer.FIRST_CHANNEL]) // channel.WIDTH


@compiled
def count_restored(m: Memory, c: int, records: int) -> None:
    """Count records that a restart puts back, where it matters that they are none of a lane."""
    if varies(m, m[c + channel.WRITER]):
        m[restored(m, c)] += records


@compiled
def rest_of(m: Memory, c: int, records: int, size: int) -> int:
    """Return how many of the bytes belong to an incomplete record.

    The records are the next ones that the receiver takes. size: with what it had of the first.
    """
    w = m[c + channel.WRITER]
    first = m[c + channel.RECORDS] - m[restored(m, c)]
    if first < 0:
        return 0 if records else size
    place = place_of(m, w, m[c + channel.LANE])
    for number in range(first, first + records):
        size -= size_of(m, w, place, number)
    return size
