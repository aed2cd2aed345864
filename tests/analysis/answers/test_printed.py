"""The answers of a sweep as a table in a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from ckptsim.analysis.answers import printed
from ckptsim.analysis.answers.printed import WIDTH, point_table
from tests.analysis.answers.test_sentences import around, findings

MODES = ("aligned", "unaligned")


def swept(
    axes: Mapping[str, Sequence[str]],
    metrics: Mapping[str, Sequence[Sequence[float]]],
    *,
    medians: Sequence[float] = (),
    broken: Sequence[tuple[str, bool]] = (),
) -> Any:
    """Return findings with the frames that the table shows.

    medians: of checkpoint durations per point, twice as much for p95. broken: per point from the
    first one a property that a run of three broke, and whether its scenario says so.
    """
    found = findings(axes, metrics)
    keys = [(point["scenario"], point["parameters"]) for point in found.points]
    rows = [
        (*key, 40, 38, probability, factor * median)
        for key, median in zip(keys, medians, strict=False)
        for probability, factor in ((0.5, 1.0), (0.95, 2.0))
    ]
    columns = ["scenario", "parameters", "n", "completed", "probability", "latency_ns"]
    found.latency = pd.DataFrame(rows, columns=columns)
    marks = [*broken, *[("", False)] * (len(keys) - len(broken))]
    found.outcomes = pd.DataFrame(
        [(*key, 3, int(bool(name)), 0) for key, (name, _) in zip(keys, marks, strict=True)],
        columns=["scenario", "parameters", "runs", "runs_violated", "error"],
    )
    found.violations = pd.DataFrame(
        [(*key, name) for key, (name, _) in zip(keys, marks, strict=True) if name],
        columns=["scenario", "parameters", "property"],
    )
    found.points = [
        {**point, "document": json.dumps({"violates": [name] if meant else []})}
        for point, (name, meant) in zip(found.points, marks, strict=True)
    ]
    found.about["question"] = "Which mode?"
    return found


def test_a_line_per_point_says_how_long_how_many_and_which_is_best() -> None:
    """Values in words, median, p95 with n, violations, the best and the worst point."""
    found = swept(
        {"interval": ("2 s", "5 s"), "mode": MODES},
        {"median_latency_ns": around(1.2e9, 61e6, 60e6, 59e6)},
        medians=(1.2e9, 61e6, 60e6, 59e6),
        broken=[("no_record_lost", False), ("no_record_lost", True)],
    )
    assert printed(found, ["Cliff at 2 s."])[:9] == [
        "Which mode?",
        "",
        "interval  mode       median     p95                  n             violations",
        "2 s       aligned     1.2 s   2.4 s  40 (2 unfinished)            1 of 3 runs  worst",
        "2 s       unaligned   61 ms  122 ms  40 (2 unfinished)  1 of 3 runs, as meant",
        "5 s       aligned     60 ms  120 ms  40 (2 unfinished)                      0",
        "5 s       unaligned   59 ms  118 ms  40 (2 unfinished)                      0  best",
        "best and worst: by the median checkpoint duration of a run",
        "",
    ]
    assert "Cliff at 2 s." in printed(found, ["Cliff at 2 s."])


def test_nothing_is_best_within_noise_or_where_neither_way_is_better() -> None:
    """A mark needs a difference beyond noise, and a metric with a better direction."""
    alike = [[90, 100, 111], [91, 99, 110]]
    for metric, values in (("ended_ns", alike), ("records_committed", around(1, 9))):
        lines = point_table(swept({"mode": MODES}, {metric: values}))
        assert not any("best" in line for line in lines)
    lines = point_table(swept({"mode": MODES}, {"caught_up_share": around(0.2, 0.9)}))
    assert [line.split()[-1] for line in lines[1:3]] == ["worst", "best"]


@pytest.mark.parametrize("length", [10, 60, 200])
def test_a_table_is_never_wider_than_it_may_be(length: int) -> None:
    """Headings break, then metrics go and are named, then values lose their middle."""
    cores = tuple(f"a.package.of.mine.{'x' * length}:make_{number}" for number in range(3))
    metrics = ("ended_ns", "persisted_bytes", "recovery_ns", "records_reprocessed")
    found = swept(
        {"ordering core": cores, "where": tuple("ab")},
        {metric: around(1, 2, 3, 4, 5, 6) for metric in metrics},
        medians=[1e6] * 6,
    )
    lines = point_table(found)
    assert max(map(len, lines[:7])) <= WIDTH
    assert all(f"make_{number}" in "".join(lines) for number in range(3))
    if length > 10:
        assert any(line.startswith("no room for: ") for line in lines)


def test_headings_of_short_words_give_room_as_well() -> None:
    """Axes with small values and long headings become narrower until the table fits."""
    axes = {f"share of the {name} at one time": ("0", "1") for name in "abc"}
    points = around(*map(float, range(8)))
    lines = point_table(swept(axes, {"ended_ns": points}, medians=[1e6] * 8))
    assert max(map(len, lines)) <= WIDTH


def test_of_many_points_the_best_and_the_worst_are_shown() -> None:
    """At most some thirty lines, with those that have a mark, and the count of the others."""
    sizes = tuple(f"{number} MB" for number in range(1, 101))
    means = [50.0 + number for number in range(98)] + [1.0, 999.0]
    lines = point_table(swept({"size": sizes}, {"ended_ns": around(*means)}))
    assert len(lines) <= 31
    assert [line.split()[0] for line in lines if line.endswith(("best", "worst"))] == ["99", "100"]
    assert "... 72 more points in the report" in lines


def test_a_point_that_breaks_a_property_is_never_the_best() -> None:
    """The quickest design that loses records is no best one. One that is meant to may be."""
    modes = ("fast", "right", "slow")
    values = {"ended_ns": around(1, 5, 9)}
    for meant, best in ((False, "right"), (True, "fast")):
        lines = point_table(swept({"mode": modes}, values, broken=[("no_record_lost", meant)]))
        assert [line.split()[0] for line in lines if line.endswith("  best")] == [best]
