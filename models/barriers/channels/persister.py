"""Which arriving data is state: the part that both kinds of receiver's channels share.

Three states: COMPLETED (nothing to do), BARRIER_PENDING (persist what arrives) and BARRIER_RECEIVED
(the cut is known).  It never goes back to an older checkpoint.

Source: Apache Flink 1.20.3, ChannelStatePersister.
"""

from __future__ import annotations

from enum import IntEnum


class PersisterStatus(IntEnum):
    """Whether arriving data belongs to a checkpoint."""

    COMPLETED = 0
    BARRIER_PENDING = 1
    BARRIER_RECEIVED = 2


class Persister:
    """Decides whether arriving data is persisted.

    last_seen: the newest checkpoint that was started, was stopped or has its barrier here.
    """

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
