"""Speed, as ratios measured in one process. `make bench` prints them.

A section is a module of this package with `measure() -> list[Figure]`, named in `SECTIONS` or
`ON_DEMAND`.  Times are the ones of the CPU, taken in rounds in turn. Ratios are medians over these.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

# Modules with a `measure()` to call, in this order.
SECTIONS = [
    "tests.bench.kernel",
    "tests.bench.check",
    "tests.bench.dataflow",
    "tests.bench.chains",
    "tests.bench.skipping",
    "tests.bench.spark",
    "tests.bench.report",
]

# The same, but only measured where they are named: they take minutes.
ON_DEMAND = ["tests.bench.scale", "tests.bench.summaries"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure.

    at_most, at_least: the bar, if there is one. says: the measured values and against what.
    spread: the least and the greatest of the rounds of the median.
    """

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    says: str = ""
    spread: tuple[float, float] | None = None

    @property
    def met(self) -> bool:
        """Whether the bar is met. A figure without one always is."""
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    def __str__(self) -> str:
        bar = ""
        if self.at_most is not None:
            bar = f"  (bar: at most {self.at_most:g}, {'met' if self.met else 'MISSED'})"
        if self.at_least is not None:
            bar = f"  (bar: at least {self.at_least:g}, {'met' if self.met else 'MISSED'})"
        around = f" ({self.spread[0]:.3g} to {self.spread[1]:.3g})" if self.spread else ""
        return f"{self.name:<44} {self.value:>12.5g} {self.unit}{around}{bar}\n    {self.says}"


def interleaved(
    cases: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 7,
    clock: Callable[[], float] = process_time,
) -> dict[str, list[float]]:
    """Return the seconds that each case took in each round.

    The cases take turns within a round, so that a slow moment of the machine hits all of them. The
    first round warms up and is not counted.  The time is the CPU's unless another clock is given.
    """
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            gc.collect()
            started = clock()
            case()
            if number > 0:
                seconds[name].append(clock() - started)
    return seconds


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """Return the median of the ratios, round by round."""
    return median(a / b for a, b in zip(above, below, strict=True))


def ratio_spread(above: Sequence[float], below: Sequence[float]) -> tuple[float, float]:
    """Return the least and the greatest of the ratios, round by round."""
    ratios = [a / b for a, b in zip(above, below, strict=True)]
    return min(ratios), max(ratios)
