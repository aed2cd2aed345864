"""The writing end of one output: one record after the other, byte by byte.

A record may span buffers.  A buffer that is exactly full is closed by the record that opens the
next one.

Source: Apache Flink 1.20.3, BufferWritingResultPartition, BufferBuilder.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ckptsim.sim.job.buffers.output.segment import Segment

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output.local_buffer_pool import LocalBufferPool
    from ckptsim.sim.job.buffers.output.record_sizes import RecordSizes
    from ckptsim.sim.job.buffers.output.routing import Channels, Route
    from ckptsim.sim.job.buffers.output.subpartition import Subpartition
    from ckptsim.sim.job.buffers.state import OutputLog

# How many channel numbers are drawn at a time: speed only, no effect on results.
_BLOCK = 64


class RecordWriter:
    """One output of a task: its pool, its subpartitions and the record sequence through them.

    sizes: of the records. selectivity: how many of them come of the ones of the input. first: how
    many of these the task had processed when the attempt began.
    blocked: whether the record under way lacks a buffer.
    emitted: records so far.  log: takes each closed buffer, where all is logged.
    """

    __slots__ = (
        "_ahead",
        "_broadcast",
        "_bytes",
        "_capacities",
        "_counts",
        "_open",
        "_owed",
        "_pending",
        "_processed",
        "_route",
        "_segment_bytes",
        "_selectivity",
        "blocked",
        "emitted",
        "log",
        "pool",
        "sizes",
        "subpartitions",
        "supports_unaligned",
    )

    def __init__(
        self,
        route: Route,
        pool: LocalBufferPool,
        *,
        sizes: RecordSizes,
        segment_bytes: int,
        broadcast: bool,
        supports_unaligned: bool,
        selectivity: Selectivity,
        first: int = 0,
    ) -> None:
        self.pool = pool
        self.sizes = sizes
        self.supports_unaligned = supports_unaligned
        self.subpartitions: list[Subpartition] = []
        self.emitted = 0
        self.blocked = False
        self.log: OutputLog | None = None
        self._route = route
        self._segment_bytes = segment_bytes
        self._broadcast = broadcast
        self._selectivity = selectivity
        self._processed = first
        self._owed = 0
        # The channel of the record under way that lacks a buffer, and how many of its bytes do.
        self._pending = 0, 0
        self._ahead: deque[int] = deque()

    def attach(self, subpartitions: list[Subpartition]) -> None:
        """Give the writer its subpartitions. A broadcast writes one sequence for all of them."""
        self.subpartitions = subpartitions
        width = 1 if self._broadcast else len(subpartitions)
        self._open: list[Segment | None] = [None] * width
        self._bytes = [0] * width
        # Records of each lane that are written whole.
        self._counts = [0] * width
        # Of the buffers that are still to be opened.
        self._capacities = [self._segment_bytes] * width

    # Emission ---------------------------------------------------------------------------------

    def advance(self) -> None:
        """Process the next record of the input. Stops inside one that lacks a buffer."""
        self._owed += self._outputs_next()
        self._processed += 1
        self._pay()

    def retry(self) -> bool:
        """Continue with the record under way. True when all that it gives is written."""
        self.blocked = False
        channel, left = self._pending
        self._write(channel, left)
        self._pay()
        return not self.blocked

    def _pay(self) -> None:
        """Write the owed records, up to one that lacks a buffer."""
        while self._owed and not self.blocked:
            self._owed -= 1
            self.emitted += 1
            self._draw(1)
            channel = self._ahead.popleft()
            self._write(channel, self.sizes.size(channel, self._counts[channel]))

    def _write(self, channel: int, left: int) -> None:
        while left:
            segment = self._open[channel]
            if segment is None or self._bytes[channel] == segment.size:
                if segment is not None and self._extends(segment, left):
                    continue
                if not self.pool.request(channel):
                    self._pending = channel, left
                    self.blocked = True
                    return
                segment = self._open_next(channel, segment)
            part = min(left, segment.size - self._bytes[channel])
            self._bytes[channel] += part
            left -= part
        self._counts[channel] += 1

    def _extends(self, segment: Segment, left: int) -> bool:
        """Let an open buffer that was to stay small take the rest of a record.

        It does so where the pool has no other one.  Without that, debloated buffers leave a writer
        of many records without memory (FLINK-33077).
        Source: Apache Flink 1.20.3, BufferWritingResultPartition.append.
        """
        if self.pool.free or segment.size >= self._segment_bytes:
            return False
        segment.size = min(self._segment_bytes, segment.size + left)
        return True

    def _open_next(self, channel: int, before: Segment | None) -> Segment:
        if before is not None:
            self._close(channel, before)
        segment = Segment(channel, self._capacities[channel], self._counts[channel])
        self._open[channel] = segment
        self._bytes[channel] = 0
        if self._broadcast:
            segment.owners = len(self.subpartitions)
            for subpartition in self.subpartitions:
                subpartition.add_segment(segment)
        else:
            self.subpartitions[channel].add_segment(segment)
        return segment

    def _close(self, channel: int, segment: Segment) -> None:
        segment.bytes = self._bytes[channel]
        segment.records = self._counts[channel] - segment.first
        segment.closed = True
        if self.log is not None:
            lanes = self.subpartitions if self._broadcast else [self.subpartitions[channel]]
            self.log.append([one.core.index for one in lanes], segment.bytes)

    # What others look at ----------------------------------------------------------------------

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
        seen: dict[int, tuple[int, int]] = {}
        for place in range(count):
            channel = self._ahead[place]
            segment = self._open[channel]
            fill, number = seen.get(channel, (self._bytes[channel], self._counts[channel]))
            fill += self.sizes.size(channel, number)
            if segment is None or fill > segment.size:
                return True
            seen[channel] = fill, number + 1
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
        return self._bytes[channel], self._counts[channel] - segment.first

    def _draw(self, count: int) -> None:
        while len(self._ahead) < count:
            self._ahead += self._route.block(_BLOCK).tolist()

    # What others change -----------------------------------------------------------------------

    def close_all(self) -> None:
        """Close every open buffer."""
        for channel, segment in enumerate(self._open):
            if segment is not None:
                self._close(channel, segment)
                self._open[channel] = None

    def resize(self, channel: int, size: int) -> None:
        """Let the buffers of a channel that are still to be opened take at most `size` bytes."""
        place = 0 if self._broadcast else channel
        self._capacities[place] = max(1, min(size, self._segment_bytes))


_PARTS = 1_000_000


class Selectivity:
    """How many records are out after so many have been processed. parts: per million.

    Which records are dropped or give several is fixed by their number alone, evenly spaced: after n
    records floor(n * ratio) are out.  So a restored task continues as it would have, and how many
    inputs lead to the next output buffer is arithmetic.  Assumption: what a filter drops is spread
    evenly. In runs of drops the open buffers fill more unevenly than here.
    """

    __slots__ = ("parts",)

    def __init__(self, ratio: float) -> None:
        self.parts = round(ratio * _PARTS)

    @property
    def most(self) -> int:
        """How many records at most come of one."""
        return -(-self.parts // _PARTS)

    def emitted(self, processed: int) -> int:
        """Return how many records are out after `processed` ones."""
        return processed * self.parts // _PARTS

    def outputs_of(self, processed: int, count: int) -> list[int]:
        """Return how many records come of each of the `count` ones after `processed`."""
        out = [self.emitted(processed + place) for place in range(count + 1)]
        return [after - before for before, after in pairwise(out)]
