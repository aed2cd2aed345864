"""What the figures of a report are drawn from, without Spark."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd

from ckptsim.analysis.report.pictures import back_pressure

POINT = ["scenario", "parameters"]


def findings() -> Any:
    """Return what a sweep over two modes found, as far as this figure needs it."""
    points = [("jobs", f'{{"checkpoint mode": "{mode}"}}') for mode in ("aligned", "loose")]
    latency = [
        (*point, 12, probability, 1_000.0 * (place + 1) * probability)
        for place, point in enumerate(points)
        for probability in (0.05, 0.25, 0.5, 0.75)
    ]
    tasks = [(*point, task, ratio) for point in points for task, ratio in (("a", 0.25), ("b", 0.5))]
    first = [(*point, 12, 1.0, 2.0, 3.0) for point in points]
    return SimpleNamespace(
        axes=["checkpoint mode"],
        latency=pd.DataFrame(latency, columns=[*POINT, "completed", "probability", "completed_ns"]),
        tasks=pd.DataFrame(tasks, columns=[*POINT, "task", "backpressured_ratio"]),
        intervals=pd.DataFrame(
            [(*point, "persisted_bytes", 3, 7.0, 6.0, 8.0) for point in points],
            columns=[*POINT, "metric", "n", "mean", "low", "high"],
        ),
        first_barriers=pd.DataFrame(first, columns=[*POINT, "n", "low_ns", "median_ns", "high_ns"]),
    )


def test_points_are_placed_by_their_most_back_pressured_task() -> None:
    """Each point has its mode, its quartiles of both times, and the largest ratio of its tasks."""
    table = back_pressure(findings())
    assert set(table["backpressured_ratio"]) == {0.5}
    assert table["mode"].tolist() == ["aligned", "loose"] * 3
    durations = table[table["quantity"].str.startswith("duration")]
    assert durations["low"].tolist() == [250.0, 500.0]
    assert durations["middle"].tolist() == [500.0, 1_000.0]
    assert durations["n"].tolist() == [12, 12]
    delays = table[table["quantity"].str.startswith("until the first barrier")]
    assert delays["middle"].tolist() == [2.0, 2.0]
    sizes = table[table["measure"] == "bytes"]
    assert sizes["middle"].tolist() == [7.0, 7.0]


def test_without_a_swept_mode_there_is_one_line() -> None:
    """Where no mode is swept all points belong to one line."""
    found = findings()
    found.axes = []
    assert set(back_pressure(found)["mode"]) == {"all points"}
