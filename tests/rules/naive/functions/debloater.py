"""The rules of the buffer debloater, stated naively: from all measurements so far.

Source: Apache Flink 1.20.3, BufferDebloater and BufferSizeEMA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckptsim.models.coordinator.debloater import BufferDebloater, DebloatParameters
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import Naive


class DebloaterCore:
    """A debloater stepped by its measurements: (bytes per second, buffers in use)."""

    def __init__(self, parameters: DebloatParameters) -> None:
        self.core = BufferDebloater(parameters)

    def step(self, measured: tuple[int, int]) -> list[Any]:
        """Take a measurement; answer with the size to announce, or None."""
        size = self.core.update(*measured)
        return [size, self.core.consume_ms, self.core.announced_bytes, self.core.smoothed_bytes]


class DebloaterRules(Naive):
    """What a debloater is to answer, from all measurements so far."""

    def __init__(self, parameters: DebloatParameters) -> None:
        self._parameters = parameters
        self._measured: list[tuple[int, int]] = []

    def take(self, event: Any) -> Sequence[Any]:
        """Work all measurements through again."""
        self._measured.append(event)
        p, answer = self._parameters, None
        last = announced = p.max_bytes
        consume = 0
        for rate, buffers in self._measured:
            in_use = max(buffers, 1)
            wish = min(rate * p.target_ms // 1000 // in_use, 2 * last)
            moved = int(last + 2.0 / (p.samples + 1) * (wish - last))
            last = min(p.max_bytes, max(p.min_bytes, moved))
            consume = last * in_use * 1000 // max(rate, 1)
            far = abs(last - announced) >= int(announced * (p.threshold_percent / 100))
            at_bound = last in (p.min_bytes, p.max_bytes)
            answer = last if last != announced and (far or at_bound) else None
            announced = announced if answer is None else answer
        return [answer, consume, announced, last]

    def stray(self, pick: Pick) -> Any:
        """Return a measurement."""
        return pick.of((0, 1, 5_000, 400_000, 3_000_000)), pick.integer(0, 9)


def drawn_debloating(pick: Pick) -> DebloatParameters:
    """Return settings of a debloater."""
    return DebloatParameters(
        target_ms=pick.of((1000, 100)),
        min_bytes=pick.of((256, 1)),
        threshold_percent=pick.of((25, 0, 60)),
        samples=pick.of((20, 1, 3)),
    )
