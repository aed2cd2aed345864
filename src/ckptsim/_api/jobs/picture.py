"""The U-shaped curve of what an interval costs, with the optima of Young and Daly drawn in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ckptsim.scenarios.job import Mode
from ckptsim.sim.infer.advice import Point


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The points of a mode, by interval, and the best intervals simulated and on paper."""

    mode: Mode
    points: tuple[Point, ...]
    optimum_s: float | None
    young_s: float
    daly_s: float


_WIDE, _HIGH, _LEFT, _BELOW = 640, 260, 60, 40
_TICKS = 4


def picture(
    curve: Curve, flat_s: tuple[float, float] = (0.0, 0.0), *, beside: Sequence[Curve] = ()
) -> dict[str, Any]:
    """Return where a template draws cost over the interval, and the optima as lines.

    The interval is the one that is reached, on a logarithmic axis. The cost begins at 0.  Under
    the curve lies a band over intervals that are as good as the best one, where these are several.
    beside: other curves, with which it has its axes in common.
    """
    points = sorted(curve.points, key=lambda one: one.effective_s)
    every = [point for one in (curve, *beside) for point in one.points]
    times = [point.effective_s for point in every]
    times += [time_s for one in (curve, *beside) for _, time_s, _ in _optima(one)]
    low, high = min(times) / 1.1, max(times) * 1.1
    most = max(one.cost for one in every) * 1.1 or 1.0

    def x(time_s: float) -> float:
        return round(_LEFT + math.log(time_s / low) / math.log(high / low) * _WIDE, 1)

    def y(cost: float) -> float:
        return round(10 + (1 - cost / most) * _HIGH, 1)

    ticks = [number / _TICKS for number in range(_TICKS + 1)]
    at_ticks = [low * (high / low) ** tick for tick in ticks]
    return {
        "says": f"cost of {curve.mode.value} checkpoints over their interval",
        "axis": "from one checkpoint to the next; upwards the share of the time that is lost",
        "size": (_LEFT + _WIDE + 90, _HIGH + _BELOW + 20),
        "left": _LEFT,
        "right": _LEFT + _WIDE,
        "bottom": _HIGH + 10,
        "costs": [{"y": y(most * tick), "says": f"{most * tick:.2%}"} for tick in ticks],
        "times": [{"x": x(at_s), "says": f"{at_s:,.3g} s"} for at_s in at_ticks],
        "band": _band(x, *flat_s),
        "marks": [
            {"x": x(time_s), "kind": kind, "says": f"{name} {time_s:,.3g} s"}
            for name, time_s, kind in _optima(curve)
        ],
        "points": [
            {"x": x(one.effective_s), "y": y(one.cost), "says": _told(one)} for one in points
        ],
    }


def _optima(curve: Curve) -> list[tuple[str, float, str]]:
    """Return the optima with their kinds. An interval of 0 has no place on the axis."""
    found = [("Young", curve.young_s, "paper"), ("Daly", curve.daly_s, "paper")]
    found += [] if curve.optimum_s is None else [("simulated", curve.optimum_s, "best")]
    return [one for one in found if one[1] > 0]


def _told(point: Point) -> str:
    return f"every {point.effective_s:,.2f} s: {point.cost:.3%}"


def _band(x: Callable[[float], float], least_s: float, longest_s: float) -> dict[str, Any] | None:
    if least_s == longest_s:
        return None
    left, right = x(least_s), x(longest_s)
    says = f"as good: {least_s:,.3g} s to {longest_s:,.3g} s"
    width, middle = round(right - left, 1), round((left + right) / 2, 1)
    return {"x": left, "width": width, "middle": middle, "says": says}
