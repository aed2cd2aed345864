"""The text of a metric follows from its replications, and noise is called noise."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from ckptsim.analysis.answers.series import Place, Series, differ, layout_of
from ckptsim.analysis.answers.verdicts import Change, Flat, Turn, contrast, extent, judge
from ckptsim.analysis.statistics import interval


def series(
    means: Sequence[float], *, noise: float = 0.0, seeds: int = 8, label: str = ""
) -> Series:
    """Return places at 1, 2, 4, ... with these means. Seeds differ, and have noise of their own."""
    draws = random.Random(1)
    common = [draws.gauss(0, noise) for _ in range(seeds)]
    places = []
    for power, mean in enumerate(means):
        values = {
            seed: mean * (1 + shift + draws.gauss(0, noise / 4))
            for seed, shift in enumerate(common)
        }
        found = interval(list(values.values()))
        places.append(Place(shown=str(2**power), number=2.0**power, seeds=values, mean=found))
    return Series(label=label, places=tuple(places))


def test_noise_is_no_difference() -> None:
    """Replications that scatter around one mean give a flat verdict, whatever their means are."""
    draws = random.Random(3)
    places = []
    for power in range(6):
        values = {seed: draws.gauss(100, 10) for seed in range(10)}
        found = interval(list(values.values()))
        places.append(Place(shown=str(power), number=power, seeds=values, mean=found))
    assert isinstance(judge(Series(label="", places=tuple(places))), Flat)


def test_common_noise_cancels_between_pairs() -> None:
    """A small change that every seed shows counts, though the intervals overlap widely."""
    one = {seed: 100.0 + 20 * seed for seed in range(10)}
    other = {seed: value + 2 + 0.1 * (seed % 3) for seed, value in one.items()}
    assert interval(list(one.values())).high > interval(list(other.values())).low
    assert differ(one, other)
    assert not differ(one, {seed: value + (-1) ** seed for seed, value in one.items()})


def test_a_change_has_its_ends_and_its_cliff() -> None:
    """A jump between neighbours is a cliff. Growing with the parameter is none."""
    found = judge(series([10, 10.5, 80, 85, 90], noise=0.02))
    assert isinstance(found, Change)
    assert (found.first.shown, found.last.shown) == ("1", "16")
    assert found.cliff is not None
    assert [place.shown for place in found.cliff] == ["2", "4"]
    gradual = judge(series([10, 20, 40, 80, 160], noise=0.02))
    assert isinstance(gradual, Change)
    assert gradual.cliff is None
    slight = judge(series([100, 101, 102, 103, 104]))
    assert isinstance(slight, Change)
    assert slight.is_slight


def test_an_optimum_between_the_ends_is_found_and_one_in_noise_is_not() -> None:
    """A least or greatest value inside counts where both ends are clearly apart from it."""
    valley = judge(series([50, 20, 10, 25, 60], noise=0.02))
    assert isinstance(valley, Turn)
    assert (valley.best.shown, valley.is_least) == ("4", True)
    hill = judge(series([10, 20, 50, 30, 12], noise=0.02))
    assert isinstance(hill, Turn)
    assert (hill.best.shown, hill.is_least) == ("4", False)
    assert isinstance(judge(series([50, 50.5, 10, 10.2, 10.1], noise=0.02)), Change)


def test_a_contrast_has_ratios_and_counts_where_it_is_clear() -> None:
    """Of two series the less is reported first, with the least and greatest ratio."""
    low, high = series([10, 10, 10], noise=0.02, label="a"), series([20, 50, 300], label="b")
    found = contrast(high, low)
    assert found is not None
    assert (found.less.label, found.more.label) == ("a", "b")
    assert found.ratios is not None
    assert found.ratios == pytest.approx((2, 30), rel=0.05)
    assert (found.clear, found.of) == (3, 3)
    assert extent(contrast(low, low)) == 1.0
    nothing = contrast(series([0, 0, 0]), high)
    assert nothing is not None
    assert nothing.ratios is None


def test_one_replication_is_compared_as_it_is() -> None:
    """Without replications there is no interval: equal is equal and different is different."""
    assert not differ({1: 5.0}, {1: 5.0})
    assert differ({1: 5.0}, {1: 6.0})


def test_points_are_laid_along_the_parameter_with_most_numbers() -> None:
    """Numbers win over words, more of them over fewer. What does not vary distinguish nothing."""
    axes = {
        "mode": ["a", "b", "c", "d"],
        "size": ["1 MB", "2 MB"],
        "count": ["1", "2", "4"],
        "x": ["1"],
    }
    found = layout_of(axes)
    assert (found.along, found.others, found.is_ordered) == ("count", ("mode", "size"), True)
    words = layout_of({"mode": ["a", "b"]})
    assert (words.along, words.others, words.is_ordered) == ("mode", (), False)
    assert layout_of(axes, by="size").along == "size"
    assert layout_of({}).along is None
