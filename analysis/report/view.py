"""How a reader wants to look at a sweep: which metrics, along which parameter, at which points."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ckptsim.analysis.answers import Layout, layout_of
from ckptsim.analysis.statistics import paired_difference
from ckptsim.analysis.summaries import Point, Replications, Summaries
from ckptsim.analysis.words import value_in_words
from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.planning import METRICS


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a report shows. Empty fields leave it to the plan.

    metrics: names of metrics that answer instead of the plan's. by: the parameter that figures are
    laid along. points: PARAMETER=VALUE, of one parameter any, of several all. compare: the
    directory of a sweep to which the points are compared.  Parameters are given by path or in
    words.
    """

    metrics: tuple[str, ...] = ()
    by: str | None = None
    points: tuple[str, ...] = ()
    compare: Path | None = None

    def check(self) -> None:
        """Raise ScenarioError for a metric that does not exist."""
        known = ", ".join(METRICS)
        problems = [
            Problem("--metric", f'"{name}"', f"one of {known}{suggestion(name, METRICS)}")
            for name in self.metrics
            if name not in METRICS
        ]
        if problems:
            raise ScenarioError(problems)


def seen(findings: Summaries, view: View) -> Summaries:
    """Return the findings at the points that are wanted, with the metrics that are wanted.

    Raises ScenarioError for a parameter that is not swept, or unknown points.
    """
    wanted: dict[str, set[str]] = {}
    for text in view.points:
        path, equals, value = text.partition("=")
        if not equals:
            raise ScenarioError([Problem("--points", f'"{text}"', "PARAMETER=VALUE")])
        name = axis_of(findings, path.strip(), "--points")
        wanted.setdefault(name, set()).add(value_in_words(path.strip(), value.strip()))
    about = {**findings.about, **({"answers": list(view.metrics)} if view.metrics else {})}
    found = replace(findings, about=about)
    return _at(found, wanted) if wanted else found


def layout_seen(findings: Summaries, view: View) -> Layout:
    """Return how the points are laid out: along the parameter that is wanted, if one is.

    Raises ScenarioError for a parameter that is not swept.
    """
    by = None if view.by is None else axis_of(findings, view.by, "--by")
    return layout_of(findings.axes, by)


def axis_of(findings: Summaries, asked: str, option: str) -> str:
    """Return the name of a swept parameter that is given by its path or in words.

    Raises ScenarioError for one that is not swept.
    """
    paths = [str(path) for path, _ in findings.about["axes"]]
    named: dict[str, str] = dict(zip(paths, findings.axes, strict=True))
    if asked in findings.axes:
        return asked
    if asked in named:
        return named[asked]
    known = [*findings.axes, *paths]
    expected = f"a parameter that {findings.about['plan']} sweeps: {', '.join(findings.axes)}"
    raise ScenarioError([Problem(option, f'"{asked}"', expected + suggestion(asked, known))])


def _at(findings: Summaries, wanted: Mapping[str, set[str]]) -> Summaries:
    """Return the findings at the points with these values."""
    kept = [point for point in findings.points if _matches(point["parameters"], wanted)]
    if not kept:
        shown = ", ".join(f"{name}={'|'.join(sorted(values))}" for name, values in wanted.items())
        axes = "; ".join(f"{name}: {', '.join(findings.axes[name])}" for name in wanted)
        raise ScenarioError([Problem("--points", f'"{shown}"', f"values that are swept: {axes}")])
    keys = {(point["scenario"], point["parameters"]) for point in kept}
    values = [json.loads(point["parameters"]) for point in kept]
    axes_left = {
        name: [value for value in swept if any(found.get(name) == value for found in values)]
        for name, swept in findings.axes.items()
    }
    frames: dict[str, Any] = {
        field.name: _rows(getattr(findings, field.name), keys)
        for field in fields(findings)
        if isinstance(getattr(findings, field.name), pd.DataFrame) and field.name != "goals"
    }
    replications = Replications(
        lambda metric: {
            key: seeds for key, seeds in findings.replications[metric].items() if key in keys
        }
    )
    if kept[0] != findings.points[0]:  # what the first point was is no baseline any more
        in_order = [(point["scenario"], point["parameters"]) for point in kept]
        frames["differences"] = _differences(replications, in_order)
    return replace(findings, points=kept, axes=axes_left, replications=replications, **frames)


def _differences(values: Replications, points: Sequence[Point]) -> pd.DataFrame:
    """Return how points differ from the first of them, as Spark has it for the first of all."""
    rows = []
    for point in points[1:]:
        for metric in sorted(values):
            here, first = (values[metric].get(one, {}) for one in (point, points[0]))
            paired = paired_difference(here, first)
            if paired is not None:
                found = paired.difference
                found = found.within(-1.0, 1.0) if METRICS[metric].of_whole else found
                bounds = (found.mean, found.low, found.high)
                rows.append((*point, metric, found.n, paired.unpaired, *bounds))
    columns = ("scenario", "parameters", "metric", "n", "unpaired", "mean", "low", "high")
    return pd.DataFrame(rows, columns=columns)


def _rows(frame: pd.DataFrame, keys: set[tuple[str, str]]) -> pd.DataFrame:
    pairs = zip(frame["scenario"], frame["parameters"], strict=True)
    kept = np.array([pair in keys for pair in pairs], dtype=bool)
    return frame[kept].reset_index(drop=True)


def _matches(parameters: str, wanted: Mapping[str, set[str]]) -> bool:
    values = json.loads(parameters)
    return all(values.get(name) in allowed for name, allowed in wanted.items())
