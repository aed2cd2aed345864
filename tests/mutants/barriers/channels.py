"""Faulty ends of a channel."""

from __future__ import annotations

from ckptsim.models.barriers import channels
from ckptsim.models.barriers.reason import FailureReason


class _CredulousPersister(channels.Persister):
    """Believes every barrier that is not older than the last one seen."""

    def barrier_arrived(self, checkpoint: int) -> bool:
        """Count a barrier also when its checkpoint is over."""
        if checkpoint < self.last_seen:
            return False
        self.status = channels.PersisterStatus.BARRIER_RECEIVED
        self.last_seen = checkpoint
        return True

    def start(self, checkpoint: int) -> None:
        """Wait for no barrier once one was received."""
        if self.status is not channels.PersisterStatus.BARRIER_RECEIVED:
            super().start(checkpoint)


class LateBarrierCounts(channels.RemoteInputChannel):
    """Lets the late barrier of a cancelled checkpoint stand for the one of the next one."""

    def __init__(self, index: int, outbox: list[channels.NetworkEffect]) -> None:
        super().__init__(index, outbox)
        self.persister = _CredulousPersister()


class ObsoletePlaceKept(channels.RemoteInputChannel):
    """Keeps the place of an older barrier when a newer checkpoint starts."""

    def start(self, checkpoint: int) -> FailureReason | None:
        """Cut at whatever barrier came last."""
        place = self.last_barrier
        if 0 <= place < checkpoint and not self.persister.refuses(checkpoint):
            self.last_barrier = checkpoint
        reason = super().start(checkpoint)
        if self.last_barrier == checkpoint and place < checkpoint:
            self.last_barrier = place
        return reason


class _ForgetfulPersister(channels.Persister):
    """Stops whatever there is."""

    def stop(self, checkpoint: int) -> None:
        """Complete, whichever checkpoint the network has noted meanwhile."""
        self.status = channels.PersisterStatus.COMPLETED
        self.last_seen = max(self.last_seen, checkpoint)


class StopResetsNewer(channels.RemoteInputChannel):
    """Forgets a newer barrier when an older checkpoint stops."""

    def __init__(self, index: int, outbox: list[channels.NetworkEffect]) -> None:
        super().__init__(index, outbox)
        self.persister = _ForgetfulPersister()


class OutputNeverTimesOut(channels.Subpartition):
    """Lets no barrier overtake in the output."""

    def time_out(self, checkpoint: int) -> bool:
        """Do nothing."""
        del checkpoint
        return False
