"""The record writer of the reference driver: one record after the other, byte by byte."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from ckptsim.sim.job.buffers.output.record_writer import RecordWriter, close_full, records_in
from ckptsim.sim.job.buffers.output.segment import Segment
from ckptsim.sim.job.buffers.output.selectivity import Selectivity

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output.routing import Channels
    from ckptsim.sim.job.buffers.output.subpartition import Subpartition

# How many channel numbers are drawn at a time: speed only, no effect on results.
_BLOCK = 64


class ReferenceRecordWriter(RecordWriter):
    """Writes each record when its turn comes.

    selectivity: how many records come of those of the input; first: how many of these the task had
    processed when the attempt began.
    """

    __slots__ = ("_ahead", "_bytes", "_owed", "_processed", "_selectivity", "_sizes")

    def __init__(
        self,
        *arguments: Any,
        selectivity: Selectivity | None = None,
        first: int = 0,
        **named: Any,
    ) -> None:
        super().__init__(*arguments, **named)
        self._selectivity = Selectivity(1.0) if selectivity is None else selectivity
        self._processed = first
        self._owed = 0

    def attach(self, subpartitions: list[Subpartition]) -> None:
        """Give the writer its subpartitions."""
        self.subpartitions = subpartitions
        self._width = width = 1 if self._broadcast else len(subpartitions)
        self._open = [None] * width
        self._bytes = [0] * width
        self._sizes = [self._segment_bytes] * width
        self._ahead: deque[int] = deque()

    # Emission ---------------------------------------------------------------------------------

    def advance(self, count: int) -> None:
        """Process `count` records one by one; stops inside one that lacks a buffer."""
        for _ in range(count):
            self._owed += self._outputs_next()
            self._processed += 1
            self._pay()

    def retry(self) -> bool:
        """Continue with the record under way; True when all that it gives is written."""
        left, channel = self._pending.pop(), self._pending.pop()
        self.blocked = False
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
                    self._pending = [channel, left]
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
