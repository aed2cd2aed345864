"""Points of a curve: what an interval comes to, the best of them, and what paper says instead.

On paper the optimum is `sqrt(2 C M)` (Young), or with terms of higher order (Daly).

Source: J. W. Young, CACM 17(9), 1974. J. T. Daly, FGCS 22(3), 2006, equation 37.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ckptsim.scenarios.job import Mode

SCATTER = 0.04
"""Costs are one that differ by less of what an interval can change: six failures scatter by it."""
# Shares of time that differ by less are alike, and the longer interval writes less.  Assumption:
# two seconds a day.
_ALIKE = 2 / 86_400
# Checkpoints are back to back that leave less of the interval between the end of one and the next.
# Assumption: durations vary by so much, and what else uses the storage needs some of it.
_BREAK = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """How often the job fails, in the mean, and how long it is down each time."""

    mtbf_s: float
    restart_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one interval in one mode comes to.

    interval_s: that was set. effective_s: that is reached, since a checkpoint may outlast it.
    loss_s: what one checkpoint costs the job.  undone_s: what a failure undoes in the mean, as time
    that it takes to do again. undone_most_records: the most of the simulated failures.
    written_bytes_per_day: state and data in flight. requests_per_day: files that are created.
    cost: share of the time that is lost.  caught_up_s, caught_up_most_s: from a failure until no
    record is late, in the mean and at most. None where no source has a rate that can be made up
    for, or where it did not come.
    """

    mode: Mode
    interval_s: float
    effective_s: float
    duration_s: float
    loss_s: float
    undone_s: float
    undone_most_records: int
    in_flight_bytes: float
    cost: float
    written_bytes_per_day: float = 0.0
    requests_per_day: float = 0.0
    caught_up_s: float | None = None
    caught_up_most_s: float | None = None

    @property
    def is_back_to_back(self) -> bool:
        """Return whether one checkpoint follows another with next to no break."""
        return self.effective_s - self.duration_s < _BREAK * self.effective_s


def shortest_s(duration_s: float) -> float:
    """Return the shortest interval that leaves a break after checkpoints of a duration.

    Twice the least break, as durations depend on the interval.
    """
    return duration_s / (1 - 2 * _BREAK)


def young_s(loss_s: float, mtbf_s: float) -> float:
    """Return the best interval between two checkpoints by Young."""
    return math.sqrt(2 * loss_s * mtbf_s)


def daly_s(loss_s: float, mtbf_s: float) -> float:
    """Return the best interval between two checkpoints by Daly, from one's end to the other's."""
    if loss_s >= 2 * mtbf_s:
        return mtbf_s
    ratio = loss_s / (2 * mtbf_s)
    return young_s(loss_s, mtbf_s) * (1 + math.sqrt(ratio) / 3 + ratio / 9)


def best_of(
    points: Sequence[Point],
    *,
    allowed: Callable[[Point], bool],
    wanted: Callable[[Point], bool] = lambda _: True,
    price: Callable[[Point], float] = lambda _: 0.0,
) -> Point | None:
    """Return the point of least cost among those that are allowed. Of like ones the longest.

    Checkpoints back to back keep the storage busy all day, so they are taken only where nothing
    else is allowed, and so are points that are not wanted.  Of those that cost the same within
    scatter the cheapest is taken, where there is a price.
    """
    found = [point for point in points if allowed(point)]
    found = [point for point in found if wanted(point)] or found
    found = [point for point in found if not point.is_back_to_back] or found
    least = min(found, key=lambda one: (one.cost, -one.effective_s), default=None)
    if least is None:
        return None
    if not price(least):
        alike = [point for point in found if point.cost <= least.cost + _ALIKE]
        return min(alike, key=lambda one: (-one.effective_s, one.cost))
    alike = [point for point in found if point.cost <= (1 + SCATTER) * least.cost]
    return min(alike, key=lambda one: (price(one), one.cost))


def flat_s(
    points: Sequence[Point], best: Point, failures: Failures, *, allowed: Callable[[Point], bool]
) -> tuple[float, float]:
    """Return the least and the longest interval that cost as much as the best one, within scatter.

    points: of one mode, by interval.  Down-times cost the same at any interval, so they are no part
    of what scatters.
    """
    fixed = failures.restart_s / failures.mtbf_s
    most = best.cost + SCATTER * (best.cost - fixed)
    place = points.index(best)
    alike = [
        allowed(point) and point.cost <= most and point.is_back_to_back == best.is_back_to_back
        for point in points
    ]
    first = max((i + 1 for i in range(place) if not alike[i]), default=0)
    last = min((i - 1 for i in range(place, len(points)) if not alike[i]), default=len(points) - 1)
    return points[first].effective_s, points[last].effective_s


def optimum_s(points: Sequence[Point]) -> float | None:
    """Return the interval of least cost. None where the least is at an end, so it lies outside.

    points: of one mode, by interval.  Where the costs follow `a/T + b + cT` it is the least of that
    curve, which all points have a part in. Elsewhere a parabola over the logarithm of the interval
    joins the least point and its neighbours.
    """
    costs = [point.cost for point in points]
    place = costs.index(min(costs))
    if not 0 < place < len(points) - 1:
        return None
    near = points[max(0, place - 2) : place + 3]
    return _on_a_curve(near) or _on_a_parabola(points[place - 1 : place + 2])


def _on_a_curve(points: Sequence[Point]) -> float | None:
    """Return the least of the curve of that form that fits best. None where none fits."""
    if len(points) < 4:
        return None
    times = np.array([point.effective_s for point in points])
    costs = np.array([point.cost for point in points])
    basis = np.stack([1 / times, np.ones_like(times), times], axis=1)
    found = np.linalg.lstsq(basis, costs, rcond=None)[0]
    rest = np.abs(basis @ found - costs) / costs
    if float(rest.max()) > SCATTER or found[0] <= 0 or found[2] <= 0:
        return None
    return float(math.sqrt(found[0] / found[2]))


def _on_a_parabola(points: Sequence[Point]) -> float:
    x0, x1, x2 = (math.log(point.effective_s) for point in points)
    y0, y1, y2 = (point.cost for point in points)
    over = (x1 - x0) ** 2 * (y1 - y2) - (x1 - x2) ** 2 * (y1 - y0)
    under = (x1 - x0) * (y1 - y2) - (x1 - x2) * (y1 - y0)
    return math.exp(x1 - over / (2 * under)) if under else points[1].effective_s


def frontier_of(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other one beats in all of three things, by their duration.

    The three: duration of a checkpoint, bytes in flight in it, and what a failure takes to recover
    from, which is the time until caught up, where known, or what it undoes.
    """

    def worth(point: Point) -> tuple[float, float, float]:
        recovery_s = point.undone_s if point.caught_up_s is None else point.caught_up_s
        return point.duration_s, point.in_flight_bytes, recovery_s

    def beaten(point: Point) -> bool:
        own = worth(point)
        return any(
            worth(other) != own and all(x <= y for x, y in zip(worth(other), own, strict=True))
            for other in points
        )

    return sorted((one for one in points if not beaten(one)), key=worth)
