"""What outputs open and send while their tasks emit a known number of records.

The channel sequence of a writer is looked at ahead of time, not consumed: which record opens
which buffer does not depend on time, so the same emission may be worked out again for a shorter
stretch.  Arrays are in the order of channels and, inside one, of openings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.output import find_openings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.buffers.output import RecordWriter

Ints = NDArray[np.int64]


class Emission:
    """The openings of one writer within its next `count` records.

    opened: openings per channel, shape (channels,); room: bytes that go into the last one of each
    channel, or into the one open before, afterwards.
    ordinals: the record that opens, 0 for the next one; records: how many records end in the
    buffer that is opened, once it is full; heads: bytes of a record begun in the buffer before.
    times: when, set by whoever knows when the task emits.
    """

    __slots__ = ("count", "heads", "opened", "ordinals", "records", "room", "times", "writer")

    def __init__(self, writer: RecordWriter, count: int) -> None:
        self.writer = writer
        self.count = count
        record, capacity = writer.record_bytes, writer.capacity
        found = find_openings(writer.upcoming(count), writer.room(), capacity, record)
        self.opened = found.counts
        self.room = found.room
        self.ordinals = found.ordinals
        ends = found.begins + capacity[found.channels]
        self.records: Ints = ends // record - found.begins // record
        self.heads: Ints = -found.begins % record
        self.times: Ints = self.ordinals


class Feed:
    """The emissions of several writers in one; channels are counted over all of them.

    first: where the openings of a channel begin; opened, capacity: per channel, shape (channels,);
    records, heads, times: per opening, as in an emission; `heads` has one more at its end.
    """

    __slots__ = ("capacity", "first", "heads", "opened", "records", "times")

    def __init__(self, emissions: Sequence[Emission]) -> None:
        self.opened: Ints = np.concatenate([e.opened for e in emissions])
        self.first: Ints = np.cumsum(self.opened) - self.opened
        self.capacity: Ints = np.concatenate([e.writer.capacity for e in emissions])
        self.records: Ints = np.concatenate([e.records for e in emissions])
        self.heads: Ints = np.concatenate([*(e.heads for e in emissions), [0]])
        self.times: Ints = np.concatenate([e.times for e in emissions])


def may_emit(writer: RecordWriter, count: int) -> bool:
    """Tell whether a writer has buffers enough for `count` records if none comes back."""
    pool = writer.pool
    capacity = writer.capacity
    if count * writer.record_bytes // int(capacity.min()) >= pool.size:
        return False
    emitted = np.bincount(writer.upcoming(count), minlength=len(capacity))
    opened = -(-(emitted * writer.record_bytes - writer.room()) // capacity)
    opened = np.maximum(opened, 0)
    held = opened + np.array(pool.held)
    return bool(opened.sum() < pool.free and held.max() < pool.most_per_channel)
