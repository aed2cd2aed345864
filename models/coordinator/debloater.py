"""The buffer debloater: shrinks buffers so that a queue holds a wanted time's worth of data.

The wanted buffer size follows from throughput and the number of buffers in use. It is smoothed
exponentially, and announced when it differs enough from the last one. It caps the used part of a
buffer, not how many buffers there are.

Source: Apache Flink 1.20.3, BufferDebloater and BufferSizeEMA.
"""

from __future__ import annotations

from dataclasses import dataclass

MILLIS_PER_SECOND = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class DebloatParameters:
    """Settings of the debloater with their defaults.

    target_ms: how long it should take to consume the buffers.
    samples: over how many values the size is smoothed, at least one.
    threshold_percent: smaller changes are not announced.
    """

    target_ms: int = 1000
    max_bytes: int = 32 * 1024
    min_bytes: int = 256
    threshold_percent: int = 25
    samples: int = 20

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(f"samples: found {self.samples}, expected at least 1")


class BufferDebloater:
    """Computes buffer sizes. Call `update` once per period.

    announced_bytes: the size announced last.
    consume_ms: how long the buffers in use last at the current size, from the latest update.
    """

    __slots__ = ("_last_bytes", "_parameters", "announced_bytes", "consume_ms")

    def __init__(self, parameters: DebloatParameters) -> None:
        self._parameters = parameters
        self._last_bytes = parameters.max_bytes
        self.announced_bytes = parameters.max_bytes
        self.consume_ms = 0

    @property
    def smoothed_bytes(self) -> int:
        """The smoothed size, announced or not."""
        return self._last_bytes

    def update(self, throughput_bytes_per_s: int, buffers_in_use: int) -> int | None:
        """Take a measurement and return the new size to announce, or None.

        All divisions are the ones of integers. The wish never more than doubles the size.
        """
        in_use = max(1, buffers_in_use)
        wanted_total = throughput_bytes_per_s * self._parameters.target_ms // MILLIS_PER_SECOND
        self._last_bytes = self._smoothed(wanted_total // in_use)
        total_ms = self._last_bytes * in_use * MILLIS_PER_SECOND
        self.consume_ms = total_ms // max(1, throughput_bytes_per_s)
        if not self._worth_announcing(self._last_bytes):
            return None
        self.announced_bytes = self._last_bytes
        return self._last_bytes

    def _smoothed(self, wish: int) -> int:
        last = self._last_bytes
        alpha = 2.0 / (self._parameters.samples + 1)
        moved = int(last + alpha * (min(wish, 2 * last) - last))
        return max(self._parameters.min_bytes, min(moved, self._parameters.max_bytes))

    def _worth_announcing(self, size: int) -> bool:
        if size == self.announced_bytes:
            return False
        if size in (self._parameters.min_bytes, self._parameters.max_bytes):
            return True
        share = self._parameters.threshold_percent / 100
        return abs(size - self.announced_bytes) >= int(self.announced_bytes * share)
