"""What a task is to make of the watermarks and statuses that its inputs tell, one by one.

Source: Apache Flink 1.20.3, StatusWatermarkValve; a sender that becomes active says so before its
next watermark, one that becomes idle behind its last (WatermarksWithIdleness).
"""

from __future__ import annotations

from ckptsim.models.lifecycle import FINAL_WATERMARK, NO_WATERMARK


class InputMarks:
    """The world's own account of one task's event time."""

    def __init__(self, channels: int) -> None:
        self.event_time = NO_WATERMARK
        self._heard = [NO_WATERMARK] * channels
        self._idle = [False] * channels
        # A channel that comes back counts once it is not behind what the task has told.
        self._counts = [True] * channels

    @property
    def idle(self) -> bool:
        """Say whether no input is active."""
        return all(self._idle)

    @property
    def is_over(self) -> bool:
        """Say whether event time is at its end, which is told by an end mark."""
        return self.event_time == FINAL_WATERMARK

    def take(self, channel: int, watermark: int | None, *, idle: bool | None) -> None:
        """Take what a sender tells at once."""
        if idle is False and self._idle[channel]:
            self._idle[channel] = False
            self._counts[channel] = self._heard[channel] >= self.event_time
        news = watermark is not None and not self._idle[channel]
        if news and watermark is not None and watermark > self._heard[channel]:
            self._heard[channel] = watermark
            self._counts[channel] = self._counts[channel] or watermark >= self.event_time
            self._advance()
        if idle and not self._idle[channel]:
            self._idle[channel], self._counts[channel] = True, False
            if self._heard[channel] == self.event_time:
                self._advance()  # it may have held event time back

    def _advance(self) -> None:
        among = [heard for heard, counts in zip(self._heard, self._counts, strict=True) if counts]
        latest = max(self._heard) if self.idle else min(among, default=self.event_time)
        self.event_time = max(self.event_time, latest)
