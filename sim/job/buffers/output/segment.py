"""Memory that moves: segments of a sender's pool, and the slices of them that travel."""

from __future__ import annotations

OWN_MEMORY = 1 << 40
"""So many owners that a segment never returns to a pool: what a restart has put back."""


class Segment:
    """One buffer of an output pool, from its opening until all of it has been sent.

    size: bytes it may take; bytes, records: what it holds, valid once it is closed (the writer
    knows them before); head: bytes at its start that end a record begun in the segment before.  A
    record counts where its last byte lies.
    owners: how many subpartitions still hold it (more than one for a broadcast).
    """

    __slots__ = (
        "bytes",
        "channel",
        "closed",
        "head",
        "owners",
        "records",
        "size",
    )

    def __init__(self, channel: int, size: int, head: int) -> None:
        self.channel = channel
        self.size = size
        self.head = head
        self.bytes = 0
        self.records = 0
        self.closed = False
        self.owners = 1


class Slice:
    """What one message carries: all or a part of a segment.

    floating: it occupies a floating buffer of the receiver, else an exclusive one.
    segment: set for a local channel when the last part of a segment is handed over, whose memory
    is the sender's until it has been read.
    """

    __slots__ = ("bytes", "floating", "records", "segment")

    def __init__(self, bytes_: int, records: int) -> None:
        self.bytes = bytes_
        self.records = records
        self.floating = False
        self.segment: Segment | None = None
