"""Which channels a task's checkpoints still wait for, by the world's own account.

A checkpoint needs the channels that are open when the task first hears of it, no more and no fewer
later on: each of them has come when its barrier was taken or when it has ended since.  This never
asks the barrier handler, so it can be held against what the handler says.
"""

from __future__ import annotations

_MOST = 50  # as many as an at-least-once tracker keeps in mind


class NeededBarriers:
    """The open checkpoints of one task.

    channels: how many the task reads; one_at_a_time: whether a newer checkpoint ends the older ones
    (it does not where barriers are only counted).
    """

    def __init__(self, channels: int, *, one_at_a_time: bool) -> None:
        self._open_channels = dict.fromkeys(range(channels))
        self._one_at_a_time = one_at_a_time
        self._missing: dict[int, dict[int, None]] = {}
        self._newest = -1

    def opened(self, checkpoint: int) -> None:
        """Note that the task hears of a checkpoint; only of a newer one is it the first time."""
        if checkpoint <= self._newest:
            return
        self._newest = checkpoint
        if self._one_at_a_time:
            self._missing.clear()
        self._missing[checkpoint] = dict(self._open_channels)
        if len(self._missing) > _MOST:
            del self._missing[min(self._missing)]

    def came(self, channel: int, checkpoint: int) -> None:
        """Note a barrier that the task has taken, or been given for a channel."""
        if checkpoint > self._newest:
            self.opened(checkpoint)
        if (missing := self._missing.get(checkpoint)) is not None:
            missing.pop(channel, None)

    def ended(self, channel: int) -> None:
        """Note that a channel has ended: it counts as come everywhere, and is needed no more."""
        self._open_channels.pop(channel, None)
        for missing in self._missing.values():
            missing.pop(channel, None)

    def over(self, checkpoint: int) -> None:
        """Note that a checkpoint was given up or is complete, and with it all older ones."""
        self._newest = max(self._newest, checkpoint)
        self._missing = {
            number: missing for number, missing in self._missing.items() if number > checkpoint
        }

    def failed(self) -> None:
        """Note that the task has failed: nothing is expected of it."""
        self._missing.clear()

    def complete(self, checkpoint: int) -> str | None:
        """Note that the task says all barriers have come; returns what is wrong with that."""
        missing = sorted(self._missing.get(checkpoint, {}))
        self.over(checkpoint)
        if not missing:
            return None
        channels = f"channel{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
        return f"counts all barriers of {checkpoint}, without {channels}"

    def kept_waiting(self) -> tuple[int, str] | None:
        """Return a checkpoint that waits though all channels have come, and the words for it."""
        for number, missing in self._missing.items():
            if not missing:
                del self._missing[number]
                return number, f"waits for {number}, of which all channels have come"
        return None
