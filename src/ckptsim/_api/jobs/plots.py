"""Figures about jobs of a real engine: recorded checkpoints, comparisons, the cost of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim._api.plots import Plots, on
from ckptsim.scenarios.errors import UserError
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
