"""The event time of a task: what watermarks and statuses of its input channels make of it.

It is the least watermark of all channels that are not idle.  A channel that goes idle holds nothing
back. When it comes back it counts as *aligned*, and so among the least, once its watermark has
caught up with what went on without it.  When the last one goes idle that had held the others back,
event time moves on to the largest watermark there is.  So it never decreases.

Not promised: that no record of a channel that was idle comes after it.

Source: Apache Flink 1.20.3, StatusWatermarkValve.
"""

from __future__ import annotations

from dataclasses import dataclass

NO_WATERMARK = -(2**63)
"""Before the first one."""

FINAL_WATERMARK = 2**63 - 1
"""Behind all data."""


@dataclass(slots=True)
class _Channel:
    watermark: int = NO_WATERMARK
    idle: bool = False
    aligned: bool = True


class WatermarkValve:
    """Combines the channels of all gates of a task. What several gates give is their least, too.

    watermark: of the task, in ns.  idle: whether all channels are.
    """

    def __init__(self, channels: int) -> None:
        self.watermark = NO_WATERMARK
        self.idle = False
        self._channels = [_Channel() for _ in range(channels)]

    @property
    def has_passed_idle(self) -> bool:
        """Return whether the watermark has gone past the one of an idle channel."""
        return any(one.idle and one.watermark < self.watermark for one in self._channels)

    def take_watermark(self, channel: int, timestamp: int) -> None:
        """Take a watermark. One of an idle channel, or after an earlier one, says nothing."""
        one = self._channels[channel]
        if one.idle or timestamp <= one.watermark:
            return
        one.watermark = timestamp
        one.aligned = one.aligned or timestamp >= self.watermark
        self._raise_to_least()

    def take_status(self, channel: int, *, idle: bool) -> None:
        """Take a status. The same one again says nothing."""
        one = self._channels[channel]
        if idle == one.idle:
            return
        one.idle = idle
        if not idle:
            one.aligned = one.watermark >= self.watermark
            self.idle = False
            return
        one.aligned = False
        held_back = one.watermark == self.watermark
        self.idle = all(other.idle for other in self._channels)
        if self.idle and held_back:
            self.watermark = max(other.watermark for other in self._channels)
        elif held_back:
            self._raise_to_least()

    def _raise_to_least(self) -> None:
        known = [one.watermark for one in self._channels if one.aligned]
        self.watermark = max(self.watermark, min(known, default=NO_WATERMARK))
