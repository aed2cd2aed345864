"""The estimators against independent implementations, and against what their texts promise."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ckptsim.analysis.statistics import interval, paired_difference, quantile, survival

NUMBERS = st.lists(st.integers(0, 10**12), min_size=2, max_size=40)


@given(NUMBERS)
def test_interval_is_students(values: list[int]) -> None:
    """Mean and bounds are those of scipy's Student distribution."""
    found = interval(values)
    mean, error = float(np.mean(values)), float(stats.sem(values))
    assert found.n == len(values)
    assert found.mean == pytest.approx(mean)
    if error > 0:
        low, high = stats.t.interval(0.95, len(values) - 1, mean, error)
        assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6, abs=1e-3)


def test_interval_of_one_value_has_no_width() -> None:
    """One replication has a mean and says nothing of the spread."""
    found = interval([7])
    assert (found.n, found.mean) == (1, 7)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


@given(NUMBERS, st.randoms(use_true_random=False))
def test_interval_does_not_depend_on_order(values: list[int], order: random.Random) -> None:
    """The same values in another order give the same bits."""
    shuffled = values[:]
    order.shuffle(shuffled)
    assert interval(shuffled) == interval(values)


def test_interval_covers_the_mean_as_often_as_it_says() -> None:
    """Of 2,000 intervals at 90 percent, 90 percent contain the true mean."""
    draws = np.random.default_rng(1).normal(5, 2, (2000, 8))
    found = [interval(row.tolist(), confidence=0.9) for row in draws]
    covered = sum(one.low <= 5 <= one.high for one in found) / 2000
    assert covered == pytest.approx(0.9, abs=0.02)


def test_paired_difference_is_the_paired_t_interval() -> None:
    """Common replications are paired; the others are counted."""
    draws = np.random.default_rng(2)
    base = {seed: float(draws.normal(100, 30)) for seed in range(12)}
    other = {seed: base.get(seed, 0) + float(draws.normal(3, 1)) for seed in range(2, 15)}
    found = paired_difference(other, base)
    assert found is not None
    common = sorted(set(base) & set(other))
    expected = stats.ttest_rel(
        [other[seed] for seed in common], [base[seed] for seed in common]
    ).confidence_interval(0.95)
    assert (found.difference.low, found.difference.high) == pytest.approx(tuple(expected))
    assert (found.difference.n, found.unpaired) == (10, 5)


def test_pairing_cancels_common_noise() -> None:
    """With common random numbers the interval of a difference is far narrower."""
    draws = np.random.default_rng(3)
    base = {seed: float(draws.normal(100, 30)) for seed in range(10)}
    other = {seed: value + float(draws.normal(3, 1)) for seed, value in base.items()}
    paired = paired_difference(other, base)
    assert paired is not None
    width = paired.difference.high - paired.difference.low
    alone = interval(list(other.values()))
    assert width < (alone.high - alone.low) / 10


def test_nothing_in_common_is_no_difference() -> None:
    """Without a common replication there is nothing to compare."""
    assert paired_difference({1: 1.0}, {2: 1.0}) is None


DURATIONS = st.lists(st.tuples(st.integers(0, 50), st.booleans()), min_size=1, max_size=60)


@given(DURATIONS)
def test_survival_is_kaplan_meier(entries: list[tuple[int, bool]]) -> None:
    """The estimate is that of scipy for right-censored data."""
    found = survival([value for value, _ in entries], [ended for _, ended in entries])
    uncensored = [value for value, ended in entries if ended]
    right = [value for value, ended in entries if not ended]
    expected = stats.ecdf(stats.CensoredData(uncensored=uncensored, right=right)).cdf
    assert found.below == pytest.approx(expected.evaluate(found.times))
    assert found.times.tolist() == sorted(set(uncensored))


def test_censored_durations_push_quantiles_up() -> None:
    """Aborting the slow half does not make the rest look like the whole."""
    durations = list(range(1, 101))
    ended = [value <= 50 for value in durations]
    honest = survival(durations, ended)
    dropped = survival(durations[:50], [True] * 50)
    assert dropped.quantile(0.5) == 25
    assert honest.quantile(0.5) == 50
    assert math.isnan(honest.quantile(0.51))


def test_all_censored_has_no_quantile() -> None:
    """When nothing completed, no quantile is known."""
    assert math.isnan(survival([1, 2], [False, False]).quantile(0.01))


@given(NUMBERS, st.sampled_from([0.0, 0.05, 0.25, 0.5, 0.9, 0.95, 0.99, 1.0]))
def test_quantile_interpolates(values: list[int], probability: float) -> None:
    """The exact quantile is numpy's linear one."""
    assert quantile(values, probability) == pytest.approx(
        float(np.quantile(values, probability)), rel=1e-9
    )


def test_no_values_have_no_statistics() -> None:
    """Empty input raises instead of inventing a number."""
    with pytest.raises(ValueError, match="at least one"):
        interval([])
    with pytest.raises(ValueError, match="at least one"):
        quantile([], 0.5)
