"""Figures about jobs of a real engine: recorded checkpoints, comparisons, the cost of intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckptsim._api.result import Plots, on
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Mode
from ckptsim.sim.infer.advice import Point
from ckptsim.sim.recording import Recording
from ckptsim.sim.rows import RunResult
from ckptsim.sim.validate import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ckptsim._api.jobs.advice import Advice
    from ckptsim._api.jobs.whatif import WhatIf


_NS_PER_S = 1e9


class CheckpointPlots(Plots):
    """The figures of a recording: the duration of its checkpoints, beside its replay."""

    __slots__ = ("_recording", "_replay")
    _first = "durations"

    def __init__(self, recording: Recording, replay: Sequence[RunResult]) -> None:
        self._recording, self._replay = recording, replay

    def durations(self, *, ax: Axes | None = None) -> Axes:
        """Draw the duration of every completed checkpoint, measured and simulated."""
        from ckptsim.sim.infer.measures import behind_warm_up

        measured = [(one.id, (one.duration_ms or 0.0) / 1e3) for one in self._recording.completed]
        simulated = [
            (row.checkpoint_id, (row.duration_ns or 0) / _NS_PER_S)
            for result in self._replay
            for _, row in behind_warm_up(result)
        ]
        with on(ax) as axes:
            from ckptsim.analysis.figures.jobs import recorded_durations

            recorded_durations(measured, simulated)
        return axes


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class WhatIfPlots(Plots):
    """The figures of a comparison: durations, and the parts of a checkpoint."""

    _first = "durations"
    _answer: WhatIf

    def durations(self, *, ax: Axes | None = None) -> Axes:
        """Draw the median and the 95th percentile of durations, a row per way of running it."""
        rows = [(label, one.measures.duration_ms) for label, _, one in self._answer.labelled]
        if self._answer.named.measures is not None:
            rows.insert(0, ("as it is, measured", self._answer.named.measures.duration_ms))
        with on(ax) as axes:
            from ckptsim.analysis.figures.jobs import compared_durations

            compared_durations([(label, dict(stats)) for label, stats in rows])
        return axes

    def parts(self, *, ax: Axes | None = None) -> Axes:
        """Draw where the subtask that acknowledges last spends the time of a checkpoint."""
        from ckptsim.sim.infer.change.variants import parts_of

        lasts = [
            (f"{label}: {one.measures.last.vertex}", parts_of(one.measures.last))
            for label, _, one in self._answer.labelled
            if one.measures.last is not None
        ]
        with on(ax) as axes:
            from ckptsim.analysis.figures.jobs import compared_parts

            compared_parts(lasts)
        return axes


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AdvicePlots(Plots):
    """The figures of advice: what each interval costs."""

    _first = "cost"
    _advice: Advice

    def cost(self, *, ax: Axes | None = None) -> Axes:
        """Draw the share of time that each interval costs, a line per mode."""
        lines = [
            (
                curve.mode.value,
                [(point.effective_s, point.cost) for point in curve.points],
                curve.young_s,
            )
            for curve in self._advice.curves
        ]
        best = self._advice.best
        mark = None if best is None else (best.effective_s, best.cost)
        with on(ax) as axes:
            from ckptsim.analysis.figures.jobs import cost_of_intervals

            cost_of_intervals(lines, mark)
        return axes


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ValidationPlots(Plots):
    """The figures of a validation: predicted against measured durations."""

    _first = "durations"
    _validation: Comparison

    def durations(self, *, ax: Axes | None = None) -> Axes:
        """Draw predicted against measured durations, a mark per cell."""
        pairs = self._validation.pairs()
        if not pairs:
            raise UserError("plot: found no cell with durations, expected some to draw")
        with on(ax) as axes:
            import pandas as pd

            from ckptsim.analysis.figures.validation import predicted_and_measured

            columns = ["family", "mode", "predicted", "measured"]
            predicted_and_measured(pd.DataFrame(pairs, columns=columns))
        return axes


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
