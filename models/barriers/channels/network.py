"""What both ends of a channel share: their effects, and which arriving data is state.

A task has one outbox, a plain list that all its channels and subpartitions append to.  The host
empties it, in order, after every call that can leave something there: those that concern barriers,
and those that carry data while a channel persists.  This replaces the returned list of other cores,
because one call here happens for every buffer.

Three states: COMPLETED (nothing to do), BARRIER_PENDING (persist what arrives) and BARRIER_RECEIVED
(the cut is known).  It never goes back to an older checkpoint.

Source: Apache Flink 1.20.3, ChannelStatePersister.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

Buffers: TypeAlias = tuple[object, ...]
"""Data elements as the host put them in, oldest first."""


@dataclass(frozen=True, slots=True)
class PersistInput:
    """Write these buffers to the input-channel state of a checkpoint."""

    channel: int
    checkpoint: int
    buffers: Buffers


@dataclass(frozen=True, slots=True)
class ResumeSender:
    """Tell the channel's sender that it may continue."""

    channel: int


@dataclass(frozen=True, slots=True)
class PersistOutput:
    """Write these buffers to the result-subpartition state of a checkpoint."""

    subpartition: int
    checkpoint: int
    buffers: Buffers


@dataclass(frozen=True, slots=True)
class OutputStateOpened:
    """The output state of a timeoutable checkpoint is not known yet. Its acknowledgement waits."""

    subpartition: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class OutputStateKnown:
    """The output state of a timeoutable checkpoint: empty when the barrier was sent in time."""

    subpartition: int
    checkpoint: int
    buffers: Buffers


@dataclass(frozen=True, slots=True)
class OutputStateFailed:
    """The output state of a timeoutable checkpoint will never be known: aborted or replaced."""

    subpartition: int
    checkpoint: int


NetworkEffect: TypeAlias = (
    PersistInput
    | ResumeSender
    | PersistOutput
    | OutputStateOpened
    | OutputStateKnown
    | OutputStateFailed
)


class PersisterStatus(IntEnum):
    """Whether arriving data belongs to a checkpoint."""

    COMPLETED = 0
    BARRIER_PENDING = 1
    BARRIER_RECEIVED = 2


class Persister:
    """Decides whether arriving data is persisted. last_seen: the newest checkpoint known here."""

    __slots__ = ("last_seen", "status")

    def __init__(self) -> None:
        self.status = PersisterStatus.COMPLETED
        self.last_seen = -1

    def barrier_arrived(self, checkpoint: int) -> bool:
        """Note a barrier. Returns whether it ends the persisted data (an older one does not)."""
        if checkpoint < self.last_seen:
            return False
        if checkpoint == self.last_seen and self.status is PersisterStatus.COMPLETED:
            return False
        self.status = PersisterStatus.BARRIER_RECEIVED
        self.last_seen = checkpoint
        return True

    def refuses(self, checkpoint: int) -> bool:
        """Return whether a newer barrier has made starting this checkpoint pointless."""
        return self.status is PersisterStatus.BARRIER_RECEIVED and self.last_seen > checkpoint

    def start(self, checkpoint: int) -> None:
        """Persist from now on, unless the checkpoint's barrier has arrived already."""
        if self.last_seen < checkpoint:
            self.status = PersisterStatus.BARRIER_PENDING
            self.last_seen = checkpoint

    def stop(self, checkpoint: int) -> None:
        """Persist no more for this checkpoint or older ones."""
        if checkpoint >= self.last_seen:
            self.status = PersisterStatus.COMPLETED
            self.last_seen = checkpoint
