"""What travels on a socket: packets of records, states, COMPLETE and the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ckptsim.sim.sync.oracle.truth import Partition, SourceState

_STATUS_BYTES = 64  # assumption: size of a small status message


class RecordPacket:
    """A run of records of one partition and one stream, at positions low <= p < high.

    count: how many. interval: on STDIO, the stream's interval in which they were read.
    """

    __slots__ = ("count", "high", "interval", "low", "partition", "size_bytes", "stream")

    def __init__(
        self, partition: Partition, stream: int, *, low: int, high: int, size_bytes: int
    ) -> None:
        self.partition = partition
        self.stream = stream
        self.low = low
        self.high = high
        self.count = high - low
        self.size_bytes = size_bytes
        self.interval = 0


@dataclass(slots=True, eq=False)
class StateMessage:
    """A state under way."""

    state: SourceState
    size_bytes: int


@dataclass(slots=True, eq=False)
class CompleteMessage:
    """The terminal status COMPLETE of a stream."""

    stream: int
    size_bytes: int = _STATUS_BYTES


@dataclass(slots=True, eq=False)
class EndMessage:
    """The end of the socket."""

    size_bytes: int = 1


Message: TypeAlias = RecordPacket | StateMessage | CompleteMessage | EndMessage
