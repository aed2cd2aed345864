"""Continuous spilling: the log that a sender keeps of one channel, and from where it is replayed.

Everything that is put into a channel is appended.  A checkpoint holds the number of the last buffer
before its barrier. The log up to there, from the first buffer that the receiver's state does not
have, is in flight.  Only the receiver knows that first one, so there are five rules for how a
replay comes by it:

    LOG_START          nobody asks: all that is still logged is replayed
    FILE_INDEX         the receiver's part holds its count, and it reads the log by name and index
    BUFFER_SIZES       the same, but it seeks to count times the size of a buffer
    TOLD_AT_SNAPSHOT   the receiver tells the sender, whose part is not whole before
    TOLD_AT_RECOVERY   the receiver tells the sender when both have come back

When a checkpoint is complete the log is cut before what it may need.  With TOLD_AT_SNAPSHOT the
sender knows that exactly.  Otherwise it knows one thing: before the checkpoint began, the receiver
had the barrier of the one that was completed before, so no more than the credit was unread of the
sent data.  Data sent since is kept, read or not.

Promised: except for LOG_START, and for BUFFER_SIZES where buffers differ in size, each buffer is in
the receiver's state or replayed, and not both.  Not promised: that the log is short. A receiver
that takes nothing keeps it long.

A log service of its own, beside the persistence that checkpoints have, lets a checkpoint hold a
position instead of handles.  It does not know the retained checkpoints: it is cut when a checkpoint
is complete, and what an older one points to is gone.  Handles are aborted one by one, with the
checkpoint that has them.

Source: FLIP-76, ad-hoc vs continuous spilling. Avoiding double processing. Existing persistence
mechanism or a new one (not settled).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar, assert_never

from ckptsim.models.core import ProtocolError

Data = TypeVar("Data")


class ReplayRule(Enum):
    """How the first buffer of a replay is found."""

    LOG_START = "log_start"
    FILE_INDEX = "file_index"
    BUFFER_SIZES = "buffer_sizes"
    TOLD_AT_SNAPSHOT = "told_at_snapshot"
    TOLD_AT_RECOVERY = "told_at_recovery"


@dataclass(frozen=True, slots=True)
class Logged(Generic[Data]):
    """One buffer in a log. number: in its channel, from 1. ends_at: bytes of all up to it."""

    number: int
    data: Data
    ends_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSlice(Generic[Data]):
    """What a checkpoint holds of a log: the buffers before its barrier that are still kept.

    read: how many the receiver had told of by then, None where it shows nothing to a snapshot.
    """

    buffers: tuple[Logged[Data], ...]
    read: int | None = None


class ChannelLog(Generic[Data]):
    """The log of one channel of one attempt.

    count, size: how many buffers were ever appended, and their bytes.
    """

    __slots__ = ("_kept", "count", "size")

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        self._kept: deque[Logged[Data]] = deque()

    def __len__(self) -> int:
        """Count the buffers that are kept."""
        return len(self._kept)

    def append(self, data: Data, size: int) -> int:
        """Log a buffer of so many bytes. Return its number.

        Raises ProtocolError for a buffer without bytes, which no offset could tell from the next.
        """
        if size < 1:
            raise ProtocolError("empty_buffer", state=f"{self.count} logged", event=data)
        self.count += 1
        self.size += size
        self._kept.append(Logged(self.count, data, self.size))
        return self.count

    def truncate(self, first: int) -> int:
        """Drop all before a number. Return how many were dropped."""
        before = len(self._kept)
        while self._kept and self._kept[0].number < first:
            self._kept.popleft()
        return before - len(self._kept)

    def up_to(self, last: int, *, read: int | None = None) -> LogSlice[Data]:
        """Return the data that a checkpoint holds with its barrier after number `last`.

        Raises ProtocolError for a place that the log has not come to.
        """
        if last > self.count:
            raise ProtocolError("ahead_of_log", state=f"{self.count} logged", event=last)
        kept = tuple(one for one in self._kept if one.number <= last)
        return LogSlice(buffers=kept, read=read)


def first_needed(*, sent_before: int, credit: int, read: int | None) -> int:
    """Return the first number that the log must keep for a checkpoint that is complete.

    sent_before: how many had left the sender before the barrier of the checkpoint completed before
    it.  credit: how many the receiver can hold, parts of a record that is not whole among them.
    read: how many the receiver has told of for this one, None where it shows nothing.
    """
    return (max(0, sent_before - credit) if read is None else read) + 1


def replayed(
    rule: ReplayRule, kept: LogSlice[Data], *, read: int | None, buffer_size: int
) -> tuple[Logged[Data], ...]:
    """Return what of a log is replayed.

    read: how many buffers the receiver's state has, by its own part in the checkpoint. None where
    no one can say, as for a channel that is no more.  buffer_size: of a full buffer, in bytes.
    """
    match rule:
        case ReplayRule.LOG_START:
            return kept.buffers
        case ReplayRule.FILE_INDEX | ReplayRule.TOLD_AT_RECOVERY:
            return tuple(one for one in kept.buffers if one.number > (read or 0))
        case ReplayRule.TOLD_AT_SNAPSHOT:
            return tuple(one for one in kept.buffers if one.number > (kept.read or 0))
        case ReplayRule.BUFFER_SIZES:
            # The first buffer that ends after the computed place: with partly filled buffers the
            # place is too late, and skipped data was never processed.
            first_byte = (read or 0) * buffer_size
            return tuple(one for one in kept.buffers if one.ends_at > first_byte)
        case _ as never:
            assert_never(never)


class LogService:
    """Keeps in-flight data of one job.

    cut: the checkpoint that was completed last, -1 before the first. Nothing older is kept.
    """

    __slots__ = ("cut",)

    def __init__(self) -> None:
        self.cut = -1

    def completed(self, checkpoint: int) -> None:
        """Drop the data of older checkpoints."""
        self.cut = max(self.cut, checkpoint)


@dataclass(frozen=True, slots=True, eq=False)
class LogPosition:
    """Where in the log the in-flight data of a checkpoint begins."""

    service: LogService
    checkpoint: int

    @property
    def is_kept(self) -> bool:
        """Whether the data is still there."""
        return self.checkpoint >= self.service.cut
