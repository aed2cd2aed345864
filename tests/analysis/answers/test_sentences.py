"""The sentences that a page opens with: numbers, intervals, ratios, and honest words for noise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ckptsim.analysis.answers import answer

MODES = ("aligned", "unaligned")
SIZES = ("50 µs", "200 µs", "1 ms")


def findings(
    axes: Mapping[str, Sequence[str]],
    metrics: Mapping[str, Sequence[Sequence[float]]],
    *,
    tie_policies: int = 1,
) -> Any:
    """Return what a sweep over these axes found: per metric the values of the seeds per point."""
    points = [{}]
    for name, values in axes.items():
        points = [{**point, name: value} for point in points for value in values]
    keys = [("s", json.dumps(point, ensure_ascii=False)) for point in points]
    return SimpleNamespace(
        about={"answers": list(metrics)},
        axes=axes,
        tie_policies=tie_policies,
        points=[{"scenario": scenario, "parameters": text} for scenario, text in keys],
        replications={
            metric: {key: dict(enumerate(seeds)) for key, seeds in zip(keys, values, strict=True)}
            for metric, values in metrics.items()
        },
    )


def around(*means: float) -> list[list[float]]:
    return [[0.99 * mean, mean, 1.01 * mean] for mean in means]


def test_two_modes_are_compared_with_ranges_and_ratios() -> None:
    """Ranges of both modes, how many times the one is the other, then what happens along."""
    values = around(51e6, 168e6, 733e6, 23e6, 23.2e6, 23.5e6)
    found = answer(findings({"mode": MODES, "service": SIZES}, {"median_latency_ns": values}))
    assert found.sentences == (
        (
            "Median checkpoint duration of a run: it is less with unaligned (23 to 23.5 ms) than "
            "with aligned (51 to 733 ms): 2.22 to 31.2 times."
        ),
        (
            "Along service: with unaligned it changes by less than 5 % (23 to 23.5 ms); "
            "with aligned it rises from 51 ms (49.7 to 52.3) at 50 µs to 733 ms (715 to 751) "
            "at 1 ms, 14.4 times."
        ),
    )
    assert "3 seeds" in found.note


def test_runs_under_several_tie_policies_are_told() -> None:
    """Where a seed is run under two tie policies, the note says that its value is their mean."""
    values = {"median_latency_ns": around(51e6, 23e6)}
    once = answer(findings({"mode": MODES}, values))
    twice = answer(findings({"mode": MODES}, values, tie_policies=2))
    assert "tie policies" not in once.note
    assert twice.note.startswith(
        "Means over 3 seeds per point (of each the mean of its runs under 2 tie policies); in"
    )


def test_what_does_not_differ_is_said_not_to() -> None:
    """Series with overlapping seeds give no number of times but `does not differ beyond noise`."""
    values = [[90, 100, 111], [91, 99, 110], [92, 108, 95], [110, 90, 101], [100, 93, 105],
              [95, 104, 99]]  # fmt: skip
    found = answer(findings({"mode": MODES, "service": SIZES}, {"records_produced": values}))
    assert found.sentences[0].startswith(
        "Records read from the source: it does not differ beyond noise between"
    )
    assert "does not change beyond noise" in found.sentences[1]


def test_an_optimum_and_a_cliff_are_named() -> None:
    """The best place is reported with its interval against both ends.

    A jump with its neighbours.
    """
    sizes = {"size": ("1 MB", "2 MB", "4 MB", "8 MB")}
    found = answer(findings(sizes, {"lost_share": around(0.4, 0.1, 0.12, 0.5)}))
    assert found.sentences == (
        (
            "Working time lost to syncs and crashes, per useful time, along size: "
            "is least at 2 MB with 10 % (9.75 to 10.2), against 40 % at 1 MB and 50 % at 8 MB."
        ),
    )
    found = answer(findings(sizes, {"ended_ns": around(1e9, 1.1e9, 90e9, 95e9)}))
    assert found.sentences[0].endswith(", with a cliff between 2 MB and 4 MB.")


def test_of_many_series_each_parameter_has_its_effect() -> None:
    """With three further parameters it is reported what makes a difference, and what makes none."""
    axes = {"depth": ("1", "3"), "backlog": ("1", "4"), "kind": ("a", "b"), "mode": ("x", "y")}
    values = [
        [float(depth * backlog)]
        for depth in (1, 3) for backlog in (1, 4) for _ in range(4)
    ]  # fmt: skip
    found = answer(findings(axes, {"finishing_checkpoints": values}))
    assert found.sentences == (
        (
            "Checkpoints triggered after the end of the input: it is 1 to 12, which comes from "
            "backlog 4 times, depth 3 times."
        ),
        "Kind and mode make no difference beyond noise.",
    )
    assert found.note.startswith("One seed per point")


def test_each_metric_of_a_plan_has_a_sentence() -> None:
    """All four metrics that a plan may name are reported, also without a difference or a value."""
    metrics = {
        "median_latency_ns": around(1e6, 2e6, 5e6),
        "ended_ns": [[5e9] * 3] * 3,
        "recovery_ns": [[]] * 3,
        "finishing_ns": around(1e6, 2e6, 5e6),
    }
    asked = findings({"service": SIZES}, metrics)
    asked.replications["recovery_ns"] = {}
    found = answer(asked)
    assert len(found.sentences) == 4
    assert found.sentences[1] == "Duration of the run: it is always 5 s."
    assert found.sentences[3] == "Time spent down and restarting: no run has a value."


def test_of_many_series_one_with_a_zero_names_what_it_depends_on() -> None:
    """A parameter that takes a metric to zero is named among those that make it."""
    axes = {"depth": ("1", "3"), "backlog": ("1", "4"), "kind": ("a", "b"), "mode": ("x", "y")}
    values = [[float(depth)] * 2 for depth in (0, 3) for _ in range(8)]
    found = answer(findings(axes, {"checkpoints_failed": values}))
    assert found.sentences == (
        "Checkpoints failed: it is 0 to 3, which comes from depth.",
        "Backlog, kind and mode make no difference beyond noise.",
    )


def test_a_metric_that_another_parameter_decides_names_it() -> None:
    """Where two ways are alike and the metric depends on another parameter, it is named."""
    values = {
        "median_latency_ns": around(51e6, 168e6, 733e6, 23e6, 23.2e6, 23.5e6),
        "checkpoints_completed": [[10.0] * 3, [5.0] * 3, [0.0] * 3] * 2,
        "ended_ns": [[90, 100, 110], [80, 100, 150], [80, 110, 120]] * 2,
    }
    found = answer(findings({"mode": MODES, "interval": ("1 s", "2 s", "5 s")}, values))
    assert "along interval" in found.sentences[2]
    assert "does not differ" not in found.sentences[2]


def test_without_a_value_it_says_so() -> None:
    """A sweep in which no run has a metric answers nothing and says it."""
    found = answer(findings({"service": SIZES}, {}))
    assert found.sentences == ()
    assert found.note == "No run has a value to answer with."


@pytest.mark.parametrize("metric", ["lost_per_crash", "persisted_bytes"])
def test_zero_has_no_ratio(metric: str) -> None:
    """Where one series is zero nothing is reported in times."""
    values = [*around(0, 0, 0), *around(10, 20, 30)]
    found = answer(findings({"mode": MODES, "service": SIZES}, {metric: values}))
    assert "times" not in found.sentences[0]


def test_what_never_happens_is_told_from_noise() -> None:
    """A metric that is 0 in every run of some ways, and not of another, is no matter of noise."""
    ways = ("a", "b", "c")
    values = [[0, 0, 0]] * 4 + [[0, 400, 0], [0, 0, 9]]
    found = answer(findings({"way": ways, "service": SIZES[:2]}, {"lost_per_crash": values}))
    assert found.sentences[0] == (
        "Records lost by a crash: it is 0 in every run with a and b, and 3 to 133 with c."
    )


def test_a_number_is_told_without_the_name_of_its_parameter_again() -> None:
    """Where the sentence begins with the parameter, its values stand alone."""
    values = around(1, 10, 100, 1, 10, 100)
    axes = {"time between crashes": ("30 s", "120 s"), "service": SIZES}
    found = answer(findings(axes, {"undone_per_crash": values}))
    says = (
        "it does not differ beyond noise between 30 s and 120 s (1 to 100), but depends on service"
    )
    assert found.sentences[1] == f"By time between crashes: {says}."


def test_ends_that_are_alike_do_not_rise_or_fall() -> None:
    """Where places between differ from each other and not from the ends, no direction is named."""
    values = [[100, 104, 108], [95, 99, 103], [105, 109, 113], [101, 103, 107]]
    found = answer(
        findings({"size": ("1 MB", "2 MB", "4 MB", "8 MB")}, {"undone_per_crash": values})
    )
    says = "goes up and down (99 to 109), its ends are alike"
    assert found.sentences == (f"Records undone by a crash, along size: {says}.",)


def test_ways_that_share_an_end_are_counted() -> None:
    """Of ways that are alike in every seed none is named as if it stood alone."""
    ways = ("a", "b", "c", "d", "e")
    values = [[0, 0, 0], [1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1]]
    found = answer(findings({"way": ways}, {"broken_share": values}))
    says = "is least with a and 2 others, 0 %, greatest with e and 1 other, 100 %."
    assert found.sentences[0].endswith(says)


def test_an_interval_of_a_share_ends_at_all() -> None:
    """Student's interval knows no bounds, a share of a whole has two."""
    values = [[0, 0, 0], [0.8, 0.9, 1.0]]
    found = answer(findings({"way": ("a", "b")}, {"broken_share": values}))
    assert found.sentences[0].endswith("greatest with b, 90 % (65.2 to 100).")
