"""What a task is to make of event time: of what its inputs tell, or of the splits that it reads.

Source: Apache Flink 1.20.3, StatusWatermarkValve; a sender that becomes active says so before its
next watermark, one that becomes idle behind its last (WatermarksWithIdleness).  Of splits:
WatermarkOutputMultiplexer, whose least is that of all splits, also of one that has none yet.
"""

from __future__ import annotations

from collections.abc import Sequence

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


class SplitMarks:
    """The world's own account of what one source has to tell of its splits.

    idle_timeout_ns: after which time without a record a split is idle, None where none ever is.
    """

    def __init__(self, idle_timeout_ns: int | None, began_ns: int) -> None:
        self.event_time = NO_WATERMARK
        self.idle = False
        self._idle_timeout_ns = idle_timeout_ns
        self._began_ns = began_ns
        self._latest: dict[int, tuple[int, int]] = {}  # by split: timestamp, and when it was read

    def read(self, split: int, timestamp: int, now_ns: int) -> None:
        """Take a record that is read."""
        self._latest[split] = timestamp, now_ns

    def tell(self, unread: Sequence[int], now_ns: int) -> list[int]:
        """Let it tell now; return the splits that are idle.

        unread: the splits that have records left.  Where there are none more may come, and the
        source is idle when it has waited for them as long.
        """
        begun = NO_WATERMARK, self._began_ns
        latest = {split: self._latest.get(split, begun) for split in unread}
        idle = [split for split, (_, read_ns) in latest.items() if self._is_idle(read_ns, now_ns)]
        active = [timestamp for split, (timestamp, _) in latest.items() if split not in idle]
        self.idle = not active and (bool(unread) or self._is_idle(self._began_ns, now_ns))
        if active and min(active) > NO_WATERMARK:
            self.event_time = max(self.event_time, min(active) - 1)
        return idle

    def _is_idle(self, since_ns: int, now_ns: int) -> bool:
        return self._idle_timeout_ns is not None and now_ns - since_ns >= self._idle_timeout_ns


def what_is_told(told: tuple[int, bool]) -> str:
    """Return a watermark, in ns, and whether its sender is idle, in words."""
    watermark, idle = told
    says = "no watermark" if watermark == NO_WATERMARK else f"watermark {watermark} ns"
    return f"{says}, {'idle' if idle else 'active'}"
