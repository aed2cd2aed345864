"""Memory that moves: segments of a sender's pool, slices of them, and what a restart puts back."""

from __future__ import annotations

from collections.abc import Sequence

OWN_MEMORY = 1 << 40
"""So many owners that a segment never returns to a pool: what a restart has put back."""


class Segment:
    """One buffer of an output pool, from its opening until all of it has been sent.

    size: bytes it may take. bytes, records: what it holds, valid once it is closed (the writer
    knows them before). first: how many records had been written whole before it was opened.  A
    record counts where its last byte lies.
    owners: how many subpartitions still hold it (more than one for a broadcast).
    """

    __slots__ = ("bytes", "channel", "closed", "first", "owners", "records", "size")

    def __init__(self, channel: int, size: int, first: int) -> None:
        self.channel = channel
        self.size = size
        self.first = first
        self.bytes = 0
        self.records = 0
        self.closed = False
        self.owners = 1


class Slice:
    """What one message carries: all or a part of a segment.

    floating: it occupies a floating buffer of the receiver, else an exclusive one.
    segment: set for a local channel when the last part of a segment is handed over. Its memory is
    the sender's until it has been read.
    """

    __slots__ = ("bytes", "floating", "records", "segment")

    def __init__(self, bytes_: int, records: int) -> None:
        self.bytes = bytes_
        self.records = records
        self.floating = False
        self.segment: Segment | None = None


class Restored:
    """What a restart puts back into one channel, before all that its sender writes.

    bytes, records: so far. ahead_bytes, ahead_records: everything that is still to be read.
    """

    __slots__ = ("ahead_bytes", "ahead_records", "bytes", "records")

    def __init__(self) -> None:
        self.bytes = self.records = self.ahead_bytes = self.ahead_records = 0

    def expect(self, spans: Sequence[tuple[int, int]]) -> None:
        """Note all that is to be read: bytes of each buffer, and how many records end there."""
        self.ahead_bytes += sum(size for size, _ in spans)
        self.ahead_records += sum(records for _, records in spans)

    def add(self, size: int, records: int) -> None:
        """Note that a buffer has been put back."""
        self.bytes += size
        self.records += records
        self.ahead_bytes = max(0, self.ahead_bytes - size)
        self.ahead_records = max(0, self.ahead_records - records)
