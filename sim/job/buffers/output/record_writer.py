"""The writing end of one output: which record opens which buffer, and how full the open ones are.

Nothing happens per record.  From a block of channel numbers the writer works out, with numpy, the
places in the record sequence at which a new buffer is opened; everything between two openings is
arithmetic.  How full the open buffers are is counted only when somebody looks: an event that closes
them, or the output flusher.

A record is `record_bytes` long and may span buffers.  A buffer that is exactly full is closed by
the record that opens the next one.

Source: Apache Flink 1.20.3, BufferWritingResultPartition, BufferBuilder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.output.openings import find_openings
from ckptsim.sim.job.buffers.output.segment import Segment

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output.local_buffer_pool import LocalBufferPool
    from ckptsim.sim.job.buffers.output.routing import Channels, Route
    from ckptsim.sim.job.buffers.output.subpartition import Subpartition

Counts = NDArray[np.int64]
"""One number per channel, shape (channels,)."""

# How many records are routed at a time: speed only, no effect on results.
_BLOCK_PER_CHANNEL = 64
_BLOCK_MIN = 512


class RecordWriter:
    """One output of a task: its pool, its subpartitions and the record sequence through them.

    to_next: how many records may be emitted before something happens; with the last of them a
    buffer is opened or the block ends.
    blocked: whether the record under way lacks a buffer.
    emitted: records so far.
    """

    __slots__ = (
        "_block",
        "_broadcast",
        "_capacity",
        "_drawn",
        "_fill",
        "_index",
        "_open",
        "_opening_channels",
        "_openings",
        "_pending",
        "_position",
        "_record_bytes",
        "_route",
        "_segment_bytes",
        "_size",
        "_width",
        "blocked",
        "emitted",
        "pool",
        "subpartitions",
        "supports_unaligned",
        "to_next",
    )

    def __init__(
        self,
        route: Route,
        pool: LocalBufferPool,
        *,
        record_bytes: int,
        segment_bytes: int,
        broadcast: bool,
        supports_unaligned: bool,
    ) -> None:
        self.pool = pool
        self.supports_unaligned = supports_unaligned
        self.subpartitions: list[Subpartition] = []
        self.emitted = 0
        self.blocked = False
        self.to_next = 0
        self._route = route
        self._record_bytes = record_bytes
        self._segment_bytes = segment_bytes
        self._broadcast = broadcast
        self._pending: list[int] = []
        self._position = 0
        self._index = 0
        self._drawn: Channels = np.zeros(0, dtype=np.int16)  # drawn, and behind the block

    def attach(self, subpartitions: list[Subpartition]) -> None:
        """Give the writer its subpartitions; a broadcast writes one sequence for all of them."""
        self.subpartitions = subpartitions
        self._width = width = 1 if self._broadcast else len(subpartitions)
        self._open: list[Segment | None] = [None] * width
        self._fill: Counts = np.zeros(width, dtype=np.int64)
        # `_size` of the open buffer; `_capacity` of those to come.
        self._size: Counts = np.zeros(width, dtype=np.int64)
        self._capacity: Counts = np.full(width, self._segment_bytes, dtype=np.int64)
        self._block = self._next_block()
        self._position = 0
        self._plan()

    # Emission ---------------------------------------------------------------------------------

    def advance(self, count: int) -> None:
        """Emit `count` records, at most `to_next`; the last one may open a buffer."""
        self._position = position = self._position + count
        self.emitted += count
        self.to_next -= count
        if self.to_next:
            return
        openings, index = self._openings, self._index
        while openings[index] == position:
            channel = self._opening_channels[index]
            if channel < 0:
                break
            index += 1
            if self._pending or not self.pool.request(channel):
                self._pending.append(channel)
                self.blocked = True
            else:
                self._open_buffer(channel)
        self._index = index
        if not self.blocked:
            self._settle()

    def retry(self) -> bool:
        """Open the buffers that the record under way still lacks; True when it has them all."""
        while self._pending:
            if not self.pool.request(self._pending[0]):
                return False
            self._open_buffer(self._pending.pop(0))
        self.blocked = False
        self._settle()
        return True

    def _settle(self) -> None:
        if self._position == len(self._block):
            self._rebase(self._fills())
        else:
            self.to_next = self._openings[self._index] - self._position

    def _open_buffer(self, channel: int) -> None:
        before = self._open[channel]
        head = 0 if before is None else close_full(before, self._record_bytes)
        segment = self._open[channel] = Segment(channel, self._capacity.item(channel), head)
        if self._broadcast:
            segment.owners = len(self.subpartitions)
            for subpartition in self.subpartitions:
                subpartition.add_segment(segment)
        else:
            self.subpartitions[channel].add_segment(segment)

    # Fill -------------------------------------------------------------------------------------

    def written(self, channel: int) -> tuple[int, int]:
        """Return bytes and records of a channel's open segment so far."""
        channel = 0 if self._broadcast else channel
        segment = self._open[channel]
        if segment is None:
            return 0, 0
        if channel in self._pending:  # the record under way fills it and waits for the next one
            return segment.size, records_in(segment, segment.size, self._record_bytes)
        count = int(np.count_nonzero(self._block[: self._position] == channel))
        fill = self._fill_after(channel, count)
        return fill, records_in(segment, fill, self._record_bytes)

    def close_all(self) -> None:
        """Close every open buffer, because an event follows."""
        fills = self._fills()
        for channel, segment in enumerate(self._open):
            if segment is None:
                continue
            segment.bytes = int(fills[channel])
            segment.records = records_in(segment, segment.bytes, self._record_bytes)
            segment.closed = True
            self._open[channel] = None
        self._rebase(np.zeros(self._width, dtype=np.int64))

    def resize(self, channel: int, size: int) -> None:
        """Let the buffers of a channel that are still to be opened take at most `size` bytes."""
        place = 0 if self._broadcast else channel
        size = max(1, min(size, self._segment_bytes))
        if size != self._capacity[place]:
            fills = self._fills()
            lacking = self._pending.count(place)
            if lacking:
                # The rest of the record under way goes into buffers of the new size: how much that
                # is stays as it was, how many it takes does not.
                rest = (lacking - 1) * int(self._capacity[place]) + int(fills[place])
                lacking = -(-rest // size)
                self._pending = [place] * lacking
                fills[place] = rest - (lacking - 1) * size
            self._capacity[place] = size
            self._rebase(fills)

    def _fills(self) -> Counts:
        """Count the bytes in the open buffers."""
        counts = np.bincount(self._block[: self._position], minlength=self._width)
        total = counts * self._record_bytes
        rest = total - (self._size - self._fill)
        opened = -(-rest // self._capacity)
        fills: Counts = np.where(
            rest <= 0, self._fill + total, rest - (opened - 1) * self._capacity
        )
        return fills

    def _fill_after(self, channel: int, count: int) -> int:
        total = count * self._record_bytes
        fill = int(self._fill[channel])
        rest = total - (int(self._size[channel]) - fill)
        if rest <= 0:
            return fill + total
        capacity = int(self._capacity[channel])
        return rest - (-(-rest // capacity) - 1) * capacity

    # What others look at ----------------------------------------------------------------------

    @property
    def record_bytes(self) -> int:
        """Length of a record."""
        return self._record_bytes

    @property
    def owed(self) -> int:
        """How many records of the one under way are still to be written."""
        return 0

    def outputs_of(self, count: int) -> list[int]:
        """Return how many records each of the next `count` records of the input gives."""
        return [1] * count

    @property
    def opens_next(self) -> bool:
        """Whether the next record of the input opens a buffer, or is the last of its block."""
        return self.to_next == 1

    @property
    def broadcast(self) -> bool:
        """Whether one sequence goes to all subpartitions."""
        return self._broadcast

    def upcoming(self, count: int) -> Channels:
        """Return the channels of the next `count` records without emitting them."""
        rest = self._block[self._position :]
        lacking = count - len(rest) - len(self._drawn)
        if lacking > 0:
            self._drawn = np.concatenate([self._drawn, self._route.block(lacking)])
        return np.concatenate([rest, self._drawn])[:count]

    # Planning ---------------------------------------------------------------------------------

    def _open_sizes(self) -> Counts:
        """Return the sizes of the open buffers, 0 where there is none.

        Where the record under way lacks one, all fills are those behind that record, so the buffer
        that counts is the last one that is still to be opened, not the full one before it.
        """
        sizes = np.array([0 if s is None else s.size for s in self._open], dtype=np.int64)
        for channel in self._pending[:1]:
            sizes[channel] = self._capacity[channel]
        return sizes

    def _next_block(self) -> Channels:
        count = max(_BLOCK_MIN, _BLOCK_PER_CHANNEL * self._width)
        if not len(self._drawn):
            return self._route.block(count)
        block, self._drawn = self._drawn[:count], self._drawn[count:]
        return block

    def _rebase(self, fills: Counts) -> None:
        """Plan what is left of the block, or a new one, from how full the open buffers are."""
        self._fill = fills
        self._size = self._open_sizes()
        rest = self._block[self._position :]
        self._block = rest if len(rest) else self._next_block()
        self._position = 0
        self._plan()

    def _plan(self) -> None:
        """Find the records of the block that open a buffer (n times if they open n of them)."""
        room = self._size - self._fill
        found = find_openings(self._block, room, self._capacity, self._record_bytes)
        order = np.argsort(found.ordinals, kind="stable")
        self._openings: list[int] = (found.ordinals[order] + 1).tolist()
        self._openings.append(len(self._block))
        self._opening_channels: list[int] = found.channels[order].tolist()
        self._opening_channels.append(-1)
        self._index = 0
        self.to_next = self._openings[0]


def close_full(segment: Segment, record_bytes: int) -> int:
    """Close a full segment; return how many bytes of its last record are still to follow."""
    size, head = segment.size, segment.head
    segment.bytes = size
    segment.closed = True
    if head > size:
        return head - size
    whole, tail = divmod(size - head, record_bytes)
    segment.records = whole + 1 if head else whole
    return record_bytes - tail if tail else 0


def records_in(segment: Segment, fill: int, record_bytes: int) -> int:
    """Count the records that end within the first `fill` bytes of a segment."""
    if fill < segment.head or not fill:
        return 0
    whole = (fill - segment.head) // record_bytes
    return whole + 1 if segment.head else whole
