"""The estimators against independent implementations, and against what their texts promise."""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.analysis.statistics import interval, paired_difference
from ckptsim.analysis.student import EXACT_UP_TO, t_quantile

NUMBERS = st.lists(st.integers(0, 10**12), min_size=2, max_size=40)


# Two-sided 95 % and 99 % by degrees of freedom, three decimals.
# Source: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
TABLE = {
    1: (12.706, 63.657), 2: (4.303, 9.925), 3: (3.182, 5.841), 4: (2.776, 4.604),
    5: (2.571, 4.032), 9: (2.262, 3.250), 10: (2.228, 3.169), 29: (2.045, 2.756),
    30: (2.042, 2.750), 60: (2.000, 2.660), 100: (1.984, 2.626),
}  # fmt: skip


def test_quantiles_are_those_of_the_published_table() -> None:
    """Student's quantiles agree with the table to its last digit."""
    for degrees, published in TABLE.items():
        found = (t_quantile(0.95, degrees), t_quantile(0.99, degrees))
        assert tuple(round(value, 3) for value in found) == published


@given(st.floats(0.01, 0.9999))
def test_quantiles_of_few_degrees_are_their_closed_forms(confidence: float) -> None:
    """One and two degrees of freedom have quantiles that a formula gives."""
    assert t_quantile(confidence, 1) == pytest.approx(math.tan(math.pi * confidence / 2))
    two = confidence * math.sqrt(2 / (1 - confidence**2))
    assert t_quantile(confidence, 2) == pytest.approx(two)


@given(st.floats(0.05, 0.999), st.integers(3, 2 * EXACT_UP_TO))
def test_the_density_up_to_the_quantile_has_its_probability(
    confidence: float, degrees: int
) -> None:
    """Integrated from minus to plus the quantile, Student's density gives the confidence."""
    bound = t_quantile(confidence, degrees)
    places = np.linspace(0, bound, 2001)
    constant = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    constant -= math.log(degrees * math.pi) / 2
    density = np.exp(constant - (degrees + 1) / 2 * np.log1p(places**2 / degrees))
    weights = np.tile([2.0, 4.0], 1000)  # Simpson's rule
    weights[0] = 1.0
    area = (float(weights @ density[:-1]) + float(density[-1])) * bound / 6000
    assert 2 * area == pytest.approx(confidence, rel=1e-9)


def test_sum_and_expansion_agree_where_they_meet() -> None:
    """Where the method changes, the step to the next quantile is as small as the one before."""
    for confidence in (0.5, 0.95, 0.9999):
        a, b, c = (t_quantile(confidence, EXACT_UP_TO + step) for step in (-1, 0, 1))
        assert b - c == pytest.approx(a - b, rel=0.01)


def test_a_quantile_needs_a_confidence_and_a_degree() -> None:
    """A number that is no confidence, or leaves no degree of freedom, is refused."""
    for confidence, degrees in ((0.0, 3), (1.0, 3), (0.95, 0)):
        with pytest.raises(ValueError, match="degrees of freedom"):
            t_quantile(confidence, degrees)


def test_interval_is_students() -> None:
    """Mean and bounds of a worked sample: five values with mean 4 and variance 2.5."""
    found = interval([2, 3, 4, 5, 6])
    half = 2.7764451 * math.sqrt(2.5 / 5)
    assert (found.n, found.mean) == (5, 4)
    assert (found.low, found.high) == pytest.approx((4 - half, 4 + half), rel=1e-7)


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
    """Common replications are paired. The others are counted."""
    draws = np.random.default_rng(2)
    base = {seed: float(draws.normal(100, 30)) for seed in range(12)}
    other = {seed: base.get(seed, 0) + float(draws.normal(3, 1)) for seed in range(2, 15)}
    found = paired_difference(other, base)
    assert found is not None
    common = sorted(set(base) & set(other))
    differences = [other[seed] - base[seed] for seed in common]
    mean = fmean(differences)
    half = t_quantile(0.95, 9) * stdev(differences) / math.sqrt(10)
    expected = (mean - half, mean + half)
    assert (found.difference.low, found.difference.high) == pytest.approx(expected)
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


def test_no_values_have_no_statistics() -> None:
    """Empty input raises instead of inventing a number."""
    with pytest.raises(ValueError, match="at least one"):
        interval([])
