"""The pool of output buffers of one result partition.

All subpartitions of one output share the pool.  The task continues between two records only while a
segment is free and no subpartition holds its maximum. A record that needs more than the rest takes
overdraft segments, so that it can be finished.

Source: Apache Flink 1.20.3, LocalBufferPool (requestMemorySegment, shouldBeAvailable, recycle).
"""

from __future__ import annotations

from collections.abc import Callable


class LocalBufferPool:
    """Counts the segments of one output. It hands out permission, not memory.

    free: segments not in use. held: per channel, those in use. overdraft: those in use beyond the
    size of the pool, and overdraft_peak their largest number so far.  `on_available` is called when
    the pool turns available, and on every return of a segment after a refused request.
    most_per_channel: how many one channel may hold.
    stops_early: False lets the task begin a record without a free segment (for ablations).
    """

    __slots__ = (
        "_full_channels",
        "_least_free",
        "_overdraft_max",
        "free",
        "held",
        "most_per_channel",
        "on_available",
        "overdraft",
        "overdraft_peak",
        "size",
        "starved",
    )

    def __init__(
        self,
        *,
        size: int,
        channels: int,
        max_per_channel: int,
        overdraft_max: int,
        stops_early: bool = True,
    ) -> None:
        self.size = size
        self.free = size
        self.held = [0] * channels
        self.overdraft = 0
        self.overdraft_peak = 0
        self.starved = False
        self.on_available: Callable[[], None] = _nobody
        self._full_channels = 0
        self._least_free = 1 if stops_early else 0
        self.most_per_channel = max_per_channel
        self._overdraft_max = overdraft_max

    @property
    def available(self) -> bool:
        """Whether the task may begin another record."""
        return self.free >= self._least_free and not self._full_channels

    def request(self, channel: int) -> bool:
        """Take a segment for a channel. False when neither a free nor an overdraft one is left."""
        if self.free:
            self.free -= 1
        elif self.overdraft < self._overdraft_max:
            self.overdraft += 1
            self.overdraft_peak = max(self.overdraft_peak, self.overdraft)
        else:
            self.starved = True
            return False
        held = self.held
        held[channel] += 1
        if held[channel] == self.most_per_channel:
            self._full_channels += 1
        return True

    def recycle(self, channel: int) -> None:
        """Take a segment back. Overdraft ones go first."""
        held = self.held
        was_available = self.free > 0 and not self._full_channels
        if held[channel] == self.most_per_channel:
            self._full_channels -= 1
        held[channel] -= 1
        if self.overdraft:
            self.overdraft -= 1
        else:
            self.free += 1
        if self.starved or (not was_available and self.free > 0 and not self._full_channels):
            self.starved = False
            self.on_available()


def _nobody() -> None:
    """Stand in for a listener until the task has been built."""
