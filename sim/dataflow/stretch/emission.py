"""What one output opens and sends while its task emits a known number of records.

The channel sequence of the writer is looked at ahead of time, not consumed: which record opens
which buffer does not depend on time, so the same emission may be worked out again for a shorter
stretch.  Arrays are in the order of channels and, inside one, of openings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sim.dataflow.segment import Segment

if TYPE_CHECKING:
    from sim.dataflow.writer import Writer

Ints = NDArray[np.int64]


class Emission:
    """The openings of one writer within its next `count` records.

    opened: openings per channel, shape (channels,); first: where those of a channel begin.
    ordinals: the record that opens, 0 for the next one; records: how many records end in the
    buffer that is opened, once it is full; heads: bytes of a record begun in the buffer before.
    times: when, set by whoever knows when the task emits.
    """

    __slots__ = ("count", "first", "heads", "opened", "ordinals", "records", "times", "writer")

    def __init__(self, writer: Writer, count: int) -> None:
        self.writer = writer
        self.count = count
        record, capacity = writer.record_bytes, writer.capacity
        sequence = writer.upcoming(count)
        emitted = np.bincount(sequence, minlength=len(capacity))
        room = writer.room()
        self.opened = np.maximum(-(-(emitted * record - room) // capacity), 0)
        self.first = np.cumsum(self.opened) - self.opened
        channels = np.repeat(np.arange(len(capacity)), self.opened)
        places = np.arange(len(channels)) - self.first[channels]
        begins = room[channels] + places * capacity[channels]
        order = np.argsort(sequence, kind="stable")
        starts = np.cumsum(emitted) - emitted
        self.ordinals: Ints = order[starts[channels] + begins // record].astype(np.int64)
        ends = begins + capacity[channels]
        self.records: Ints = ends // record - begins // record
        self.heads: Ints = -begins % record
        self.times: Ints = self.ordinals

    def segment(self, channel: int, place: int) -> Segment:
        """Return the buffer of one opening, as the writer would have made it."""
        index = int(self.first[channel]) + place
        size = int(self.writer.capacity[channel])
        return Segment(channel, size, int(self.heads[index]))


def may_emit(writer: Writer, count: int) -> bool:
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
