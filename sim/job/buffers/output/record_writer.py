"""The writing end of one output: one record after the other, byte by byte.

A record is `record_bytes` long and may span buffers.  A buffer that is exactly full is closed by
the record that opens the next one.

Source: Apache Flink 1.20.3, BufferWritingResultPartition, BufferBuilder.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from ckptsim.sim.job.buffers.output.segment import Segment

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output.local_buffer_pool import LocalBufferPool
    from ckptsim.sim.job.buffers.output.routing import Channels, Route
    from ckptsim.sim.job.buffers.output.selectivity import Selectivity
    from ckptsim.sim.job.buffers.output.subpartition import Subpartition

# How many channel numbers are drawn at a time: speed only, no effect on results.
_BLOCK = 64


class RecordWriter:
    """One output of a task: its pool, its subpartitions and the record sequence through them.

    selectivity: how many records come of those of the input; first: how many of these the task had
    processed when the attempt began.
    blocked: whether the record under way lacks a buffer.
    emitted: records so far.
    """

    __slots__ = (
        "_ahead",
        "_broadcast",
        "_bytes",
        "_open",
        "_owed",
        "_pending",
        "_processed",
        "_record_bytes",
        "_route",
        "_segment_bytes",
        "_selectivity",
        "_sizes",
        "blocked",
        "emitted",
        "pool",
        "subpartitions",
        "supports_unaligned",
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
        selectivity: Selectivity,
        first: int = 0,
    ) -> None:
        self.pool = pool
        self.supports_unaligned = supports_unaligned
        self.subpartitions: list[Subpartition] = []
        self.emitted = 0
        self.blocked = False
        self._route = route
        self._record_bytes = record_bytes
        self._segment_bytes = segment_bytes
        self._broadcast = broadcast
        self._selectivity = selectivity
        self._processed = first
        self._owed = 0
        # The channel of the record under way that lacks a buffer, and how many of its bytes do.
        self._pending = 0, 0
        self._ahead: deque[int] = deque()

    def attach(self, subpartitions: list[Subpartition]) -> None:
        """Give the writer its subpartitions; a broadcast writes one sequence for all of them."""
        self.subpartitions = subpartitions
        width = 1 if self._broadcast else len(subpartitions)
        self._open: list[Segment | None] = [None] * width
        self._bytes = [0] * width
        # Of the buffers that are still to be opened.
        self._sizes = [self._segment_bytes] * width

    # Emission ---------------------------------------------------------------------------------

    def advance(self) -> None:
        """Process the next record of the input; stops inside one that lacks a buffer."""
        self._owed += self._outputs_next()
        self._processed += 1
        self._pay()

    def retry(self) -> bool:
        """Continue with the record under way; True when all that it gives is written."""
        self.blocked = False
        channel, left = self._pending
        self._write(channel, left)
        self._pay()
        return not self.blocked

    def _pay(self) -> None:
        """Write what is owed, up to a record that lacks a buffer."""
        while self._owed and not self.blocked:
            self._owed -= 1
            self.emitted += 1
            self._draw(1)
            self._write(self._ahead.popleft(), self._record_bytes)

    def _write(self, channel: int, left: int) -> None:
        while left:
            segment = self._open[channel]
            if segment is None or self._bytes[channel] == segment.size:
                if not self.pool.request(channel):
                    self._pending = channel, left
                    self.blocked = True
                    return
                segment = self._open_next(channel, segment)
            part = min(left, segment.size - self._bytes[channel])
            self._bytes[channel] += part
            left -= part

    def _open_next(self, channel: int, before: Segment | None) -> Segment:
        head = 0 if before is None else close_full(before, self._record_bytes)
        segment = Segment(channel, self._sizes[channel], head)
        self._open[channel] = segment
        self._bytes[channel] = 0
        if self._broadcast:
            segment.owners = len(self.subpartitions)
            for subpartition in self.subpartitions:
                subpartition.add_segment(segment)
        else:
            self.subpartitions[channel].add_segment(segment)
        return segment

    # What others look at ----------------------------------------------------------------------

    @property
    def record_bytes(self) -> int:
        """Length of a record."""
        return self._record_bytes

    @property
    def broadcast(self) -> bool:
        """Whether one sequence goes to all subpartitions."""
        return self._broadcast

    @property
    def owed(self) -> int:
        """How many records of the one under way are still to be written."""
        return self._owed

    @property
    def opens_next(self) -> bool:
        """Whether the next record of the input opens a buffer."""
        count = self._outputs_next()
        self._draw(count)
        fills: dict[int, int] = {}
        for place in range(count):
            channel = self._ahead[place]
            segment = self._open[channel]
            fill = fills.get(channel, self._bytes[channel]) + self._record_bytes
            if segment is None or fill > segment.size:
                return True
            fills[channel] = fill
        return False

    def _outputs_next(self) -> int:
        emitted = self._selectivity.emitted
        return emitted(self._processed + 1) - emitted(self._processed)

    def outputs_of(self, count: int) -> list[int]:
        """Return how many records each of the next `count` records of the input gives."""
        return self._selectivity.outputs_of(self._processed, count)

    def upcoming(self, count: int) -> Channels:
        """Return the channels of the next `count` records without emitting them."""
        self._draw(count)
        return np.array([self._ahead[place] for place in range(count)], dtype=np.int16)

    def written(self, channel: int) -> tuple[int, int]:
        """Return bytes and records of a channel's open segment so far."""
        channel = 0 if self._broadcast else channel
        segment = self._open[channel]
        if segment is None:
            return 0, 0
        fill = self._bytes[channel]
        return fill, records_in(segment, fill, self._record_bytes)

    def _draw(self, count: int) -> None:
        while len(self._ahead) < count:
            self._ahead += self._route.block(_BLOCK).tolist()

    # What others change -----------------------------------------------------------------------

    def close_all(self) -> None:
        """Close every open buffer."""
        for channel, segment in enumerate(self._open):
            if segment is not None:
                segment.bytes, segment.records = self.written(channel)
                segment.closed = True
                self._open[channel] = None

    def resize(self, channel: int, size: int) -> None:
        """Let the buffers of a channel that are still to be opened take at most `size` bytes."""
        place = 0 if self._broadcast else channel
        self._sizes[place] = max(1, min(size, self._segment_bytes))


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
