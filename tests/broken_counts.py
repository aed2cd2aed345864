"""Barrier handlers that do not keep to the number of barriers which a checkpoint began with."""

from __future__ import annotations

from ckptsim.models.barriers import Barrier, SingleCheckpointHandler


class CountsAgain(SingleCheckpointHandler):
    """Takes the end of a channel off the needed barriers, also after its barrier."""

    def _channel_ended(self, channel: int) -> None:
        self._target = min(self._target, self._open - 1)
        super()._channel_ended(channel)


class _NeedsOthers(SingleCheckpointHandler):
    """Begins every checkpoint with another number of barriers."""

    def _open_if_new(self, barrier: Barrier) -> None:
        begins = barrier.checkpoint > self.latest
        super()._open_if_new(barrier)
        if begins:
            self._target = self.others()

    def others(self) -> int:
        """Return how many it takes."""
        raise NotImplementedError


class NeedsOneLess(_NeedsOthers):
    """Does without one of several barriers."""

    def others(self) -> int:
        """Return one less than there are open channels, at least one."""
        return max(1, self.open_channels - 1)


class NeedsTheEnded(_NeedsOthers):
    """Waits for channels that have ended, too."""

    def others(self) -> int:
        """Return how many channels there have ever been."""
        return self._channels
