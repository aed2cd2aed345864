"""The U-shaped curve of what an interval costs, with the optima of Young and Daly drawn in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

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
_COST, _PAPER, _BEST = "#4c78a8", "#f58518", "#54a24b"
_TICKS = 4


def picture(curve: Curve, flat_s: tuple[float, float] = (0.0, 0.0)) -> str:
    """Return a drawing: cost over the interval, both of them simulated, and the optima as lines.

    The interval is the one that is reached, on a logarithmic axis. The cost begins at 0.  Under
    the curve lies a band over intervals that are as good as the best one, where these are several.
    """
    marks = [("Young", curve.young_s, _PAPER), ("Daly", curve.daly_s, _PAPER)]
    if curve.optimum_s is not None:
        marks.append(("simulated", curve.optimum_s, _BEST))
    points = sorted(curve.points, key=lambda one: one.effective_s)
    times = [one.effective_s for one in points] + [time_s for _, time_s, _ in marks if time_s > 0]
    low, high = math.log(min(times) / 1.1), math.log(max(times) * 1.1)
    most = max(one.cost for one in points) * 1.1 or 1.0

    def x(time_s: float) -> float:
        return _LEFT + (math.log(time_s) - low) / (high - low) * _WIDE

    def y(cost: float) -> float:
        return 10 + (1 - cost / most) * _HIGH

    lines = [
        *_band(x, flat_s),
        *_axes((x, y), math.exp(low), math.exp(high), most),
        *_marks(x, marks),
        *_curve((x, y), points),
    ]
    size = f"0 0 {_LEFT + _WIDE + 90} {_HIGH + _BELOW + 20}"
    label = f"cost of {curve.mode.value} checkpoints over their interval"
    return f'<svg viewBox="{size}" role="img" aria-label="{escape(label)}">{"".join(lines)}</svg>'


Scale = Callable[[float], float]


def _axes(scales: tuple[Scale, Scale], low: float, high: float, most: float) -> Iterator[str]:
    x, y = scales
    bottom = _HIGH + 10
    yield f'<path d="M{_LEFT} 10V{bottom}H{_LEFT + _WIDE}" fill="none" stroke="currentColor"/>'
    for number in range(_TICKS + 1):
        cost = most * number / _TICKS
        yield f'<text x="{_LEFT - 8}" y="{y(cost) + 4:.0f}" text-anchor="end">{cost:.2%}</text>'
        time_s = low * (high / low) ** (number / _TICKS)
        place = f'x="{x(time_s):.0f}" y="{bottom + 16}" text-anchor="middle"'
        yield f"<text {place}>{time_s:,.3g} s</text>"
    middle = _LEFT + _WIDE / 2
    says = "from one checkpoint to the next; upwards the share of the time that is lost"
    yield f'<text x="{middle:.0f}" y="{bottom + 36}" text-anchor="middle">{says}</text>'


def _band(x: Scale, flat_s: tuple[float, float]) -> Iterator[str]:
    least_s, longest_s = flat_s
    if least_s == longest_s:
        return
    left, wide = x(least_s), x(longest_s) - x(least_s)
    place = f'x="{left + wide / 2:.1f}" y="{_HIGH + 2}" text-anchor="middle"'
    yield (
        f'<rect x="{left:.1f}" y="10" width="{wide:.1f}" height="{_HIGH}" fill="{_BEST}"'
        f' opacity="0.2"/><text {place}>as good: {least_s:,.3g} s to {longest_s:,.3g} s</text>'
    )


def _marks(x: Scale, marks: list[tuple[str, float, str]]) -> Iterator[str]:
    """Yield a dashed line for each optimum. An interval of 0 has no place on the axis."""
    for number, (name, time_s, colour) in enumerate(marks):
        if time_s <= 0:
            continue
        at = f"{x(time_s):.1f}"
        yield (
            f'<path d="M{at} 10V{_HIGH + 10}" stroke="{colour}" stroke-dasharray="5 4"/>'
            f'<text x="{at}" y="{24 + 14 * number}" dx="4">{name} {time_s:,.3g} s</text>'
        )


def _curve(scales: tuple[Scale, Scale], points: list[Point]) -> Iterator[str]:
    x, y = scales
    places = [(x(one.effective_s), y(one.cost)) for one in points]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
    yield f'<polyline points="{path}" fill="none" stroke="{_COST}" stroke-width="2"/>'
    for (across, up), one in zip(places, points, strict=True):
        says = f"every {one.effective_s:,.2f} s: {one.cost:.3%}"
        yield (
            f'<circle cx="{across:.1f}" cy="{up:.1f}" r="4" fill="{_COST}">'
            f"<title>{escape(says)}</title></circle>"
        )
