"""The figures of a sweep, on axes of the user's or their own, and the values of its points."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckptsim._api.result import Plots, on, some
from ckptsim.scenarios.dialect import one_of
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.planning import METRICS, SCENARIO_AXIS, is_design

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ckptsim._api.sweeps.swept import SweepResult
    from ckptsim.analysis.answers import Layout
    from ckptsim.analysis.summaries import Summaries


_STEP = re.compile(r"([A-Za-z0-9_-]+)|\[([^\]]*)\]")
_UNITS = ("", "_ns", "_bytes", "_per_s", "_bytes_per_s")
_MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class PointValues:
    """The values of every point, in the order of the points.

    places: scenario and parameters -> position. values: path -> a value per point, with the key of
    the document that has it, which says its unit.
    """

    places: Mapping[tuple[str, str], int]
    values: Mapping[str, Sequence[tuple[str, Any]]]

    def place(self, scenario: str, parameters: str) -> int:
        """Return the position of the point of a run."""
        return self.places[scenario, parameters]

    def columns(self, name: Callable[[str], str]) -> dict[str, Any]:
        """Return a column per swept parameter: durations as timedelta64, the rest as it is."""
        import pandas as pd

        from ckptsim._api.columns import timedeltas

        found: dict[str, Any] = {}
        for path, pairs in self.values.items():
            column = pd.Series([value for _, value in pairs])
            are_times = all(key.endswith("_ns") or value is None for key, value in pairs)
            if are_times and column.notna().any():
                column = timedeltas(column)
            found[name(path)] = column
        return found


def values_of_points(points: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> PointValues:
    """Return the swept values of points, as the documents of their scenarios have them."""
    documents = [json.loads(point["document"]) for point in points]
    values: dict[str, list[tuple[str, Any]]] = {}
    for path, _ in about["axes"]:
        of_path = []
        for point, document in zip(points, documents, strict=True):
            swept = json.loads(point["parameters"])
            if path == SCENARIO_AXIS:
                of_path.append(("", point["scenario"]))
            elif is_design(path):
                of_path.append(("", swept.get(path)))
            else:
                of_path.append(_found(document, path, swept.get(path)))
        values[path] = of_path
    places = {(point["scenario"], point["parameters"]): place for place, point in enumerate(points)}
    return PointValues(places=places, values=values)


def _found(document: Any, path: str, otherwise: Any) -> tuple[str, Any]:
    """Return the key and the value at a path. Where it leads to a table, what the plan says."""
    held, key = document, ""
    for word, inside in _STEP.findall(path):
        if word and isinstance(held, dict):
            keys = [word + unit for unit in _UNITS if word + unit in held]
            key = keys[0] if keys else word
            held = held.get(key, _MISSING)
        elif isinstance(held, list) and held:
            held = _item(held, inside)
        else:
            held = _MISSING
        if held is _MISSING:
            return "", otherwise
    if isinstance(held, dict | list):
        return "", json.dumps(otherwise)
    return key, None if held == "none" else held


def _item(items: Sequence[Any], which: str) -> Any:
    """Return an item by its index or name. Of `*` the first, as all of them are set alike."""
    if which == "*":
        return items[0]
    if which.isdigit():
        return items[int(which)] if int(which) < len(items) else _MISSING
    named = [item for item in items if isinstance(item, dict) and item.get("name") == which]
    return named[0] if named else _MISSING


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SweepPlots(Plots):
    """The figures of a sweep.

    x and by are swept parameters by the name of their column, by path or in words. Without x the
    parameter with most numbers lies along the axis.
    """

    _first = "metric"
    _swept: SweepResult

    def duration(
        self, x: str | None = None, by: str | None = None, *, ax: Axes | None = None
    ) -> Axes:
        """Draw median and 95th percentile of durations, with n, per value of `by`."""
        found = self._summaries()
        layout, others = self._laid_out(found, x, by)
        with on(ax) as axes:
            from ckptsim.analysis.figures.latency import percentile_lines

            percentile_lines(some(found.latency, "checkpoint"), layout.along or "", others)
        return axes

    def bands(self, x: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw bands of percentiles of checkpoint durations, a panel for each other combination."""
        found = self._summaries()
        layout, others = self._laid_out(found, x, None)
        with on(ax) as axes:
            from ckptsim.analysis.figures.latency import latency_bands

            latency_bands(some(found.latency, "checkpoint"), layout.along or "", others)
        return axes

    def distribution(self, *, ax: Axes | None = None) -> Axes:
        """Draw the share of checkpoints that took no longer than each duration, per point."""
        found = self._summaries()
        with on(ax) as axes:
            from ckptsim.analysis.figures.latency import latency_cdf

            latency_cdf(some(found.distribution, "completed checkpoint"), list(found.axes))
        return axes

    def waits(self, *, ax: Axes | None = None) -> Axes:
        """Draw what completed checkpoints of syncs and pipelines waited for, a bar per point."""
        found = self._summaries()
        with on(ax) as axes:
            from ckptsim.analysis.figures.latency import latency_parts

            latency_parts(some(found.waits, "checkpoint with waiting times"), list(found.axes))
        return axes

    def metric(
        self,
        name: str | None = None,
        x: str | None = None,
        by: str | None = None,
        *,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the mean of a metric with its 95 % interval over seeds, a line per combination."""
        found = self._summaries()
        layout, _ = self._laid_out(found, x, by)
        with on(ax) as axes:
            from ckptsim.analysis.answers import answering, series_of
            from ckptsim.analysis.figures.headline import headline

            chosen = self._metric(found, name or answering(found)[0])
            headline(series_of(found, chosen, layout), chosen, layout)
        return axes

    def differences(self, metric: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw how each point differs from the first one, paired by seed."""
        found = self._summaries()
        with on(ax) as axes:
            from ckptsim.analysis.answers import answering
            from ckptsim.analysis.figures.headline import paired_differences
            from ckptsim.analysis.words import point_label

            chosen = self._metric(found, metric or answering(found)[0])
            rows = found.differences[found.differences["metric"] == chosen]
            baseline = point_label(found.points[0]["parameters"], list(found.axes))
            some(rows, f"differences of {chosen}")
            paired_differences(rows, list(found.axes), chosen, baseline=baseline)
        return axes

    def recoveries(self, *, ax: Axes | None = None) -> Axes:
        """Draw where the time of recoveries went, a bar per point."""
        found = self._summaries()
        with on(ax) as axes:
            from ckptsim.analysis.figures.recovery import PARTS, recovery_parts

            some(found.intervals[found.intervals["metric"].isin([*PARTS])], "timed recovery")
            recovery_parts(found.intervals, list(found.axes))
        return axes

    def back_pressure(self, *, ax: Axes | None = None) -> Axes:
        """Draw durations and sizes of checkpoints against back-pressure, a panel for each."""
        with on(ax) as axes:
            from ckptsim.analysis.figures.barriers import against_back_pressure
            from ckptsim.analysis.report.pictures import back_pressure

            table = back_pressure(self._summaries())
            against_back_pressure(some(table, "time of tasks"))
        return axes

    def theory(self, metric: str, x: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw a figure of the runs beside what theory says of it."""
        found = self._summaries()
        layout, others = self._laid_out(found, x, None)
        with on(ax) as axes:
            from ckptsim.analysis.figures.theory import against_theory

            chosen = self._metric(found, metric)
            table = found.intervals.merge(
                found.expected, on=["scenario", "parameters", "metric"], how="inner"
            )
            some(table[table["metric"] == chosen], f"closed form of {chosen}")
            against_theory(table, layout.along or "", others, [chosen])
        return axes

    def finishing(self, x: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw how long jobs take to finish after the end of their input."""
        found = self._summaries()
        layout, others = self._laid_out(found, x, None)
        with on(ax) as axes:
            from ckptsim.analysis.figures.finishing import FINISHING, time_to_finish

            some(found.intervals[found.intervals["metric"].isin(FINISHING)], "job that ended")
            time_to_finish(found.intervals, layout.along or "", others)
        return axes

    def _summaries(self) -> Summaries:
        return self._swept.read_summaries()

    def _laid_out(
        self, found: Summaries, x: str | None, by: str | None
    ) -> tuple[Layout, Sequence[str]]:
        """Return what lies along the axis, and the lines. Raises ScenarioError."""
        from ckptsim.analysis.answers import layout_of

        along = None if x is None else self._axis(found, x, "x")
        layout = layout_of(found.axes, along)
        if layout.along is None:
            raise UserError("plot: found no swept parameter, expected one to draw along")
        others = list(layout.others)
        if by is not None:
            first = self._axis(found, by, "by")
            others = [first, *(name for name in others if name != first)]
        return layout, others

    def _axis(self, found: Summaries, asked: str, argument: str) -> str:
        from ckptsim.analysis.report.view import axis_of

        paths = [str(path) for path, _ in found.about["axes"]]
        named = {self._swept.column(path): path for path in paths}
        return axis_of(found, named.get(asked, asked), argument)

    def _metric(self, found: Summaries, name: str) -> str:
        known = sorted(set(found.intervals["metric"]))
        if name not in METRICS or name not in known:
            raise UserError(f"metric: found {name!r}, expected {one_of(name, known)}")
        return name
