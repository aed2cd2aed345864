"""Estimators on plain numbers: quantiles, censored durations, intervals, paired differences.

No Spark here: `metrics` applies these to groups of rows.  All are exact functions of the multiset
of their inputs (sums are exactly rounded), so results do not depend on the order of rows.

A checkpoint that was aborted, expired or still pending has no duration, only a bound that its
duration would have exceeded.  Leaving it out would make a protocol look the better the more slow
checkpoints it aborts; so such durations count as censored (Kaplan and Meier).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ckptsim.analysis.student import t_quantile

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean over independent replications with its confidence interval.

    `low` and `high` are NaN when fewer than two replications say nothing of the spread.
    """

    n: int
    mean: float
    low: float
    high: float

    def within(self, least: float, most: float) -> Interval:
        """Return it cut at bounds that Student's interval does not know of, as a share has two."""
        low, high = (min(max(bound, least), most) for bound in (self.low, self.high))
        return replace(self, low=low, high=high)


def interval(values: Sequence[float], *, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of independent values and its Student t interval.

    Source: W. S. Gosset ("Student"), The probable error of a mean, Biometrika 6 (1908).
    Raises ValueError without values.
    """
    n = len(values)
    if n == 0:
        raise ValueError("an interval needs at least one value")
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(n=1, mean=mean, low=math.nan, high=math.nan)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half = t_quantile(confidence, n - 1) * math.sqrt(variance / n)
    return Interval(n=n, mean=mean, low=mean - half, high=mean + half)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """How two designs differ over the replications that both have run.

    unpaired: replications that only one of them has; they are counted, not used.
    """

    difference: Interval
    unpaired: int


def paired_difference(
    values: Mapping[Any, float],
    baseline: Mapping[Any, float],
    *,
    confidence: float = CONFIDENCE,
) -> PairedDifference | None:
    """Return `values - baseline` over common replications; None when there is none.

    The keys name the replication (its seed).  With common random numbers much of
    the noise is in both designs and cancels.
    Source: A. M. Law, Simulation Modeling and Analysis, chapter on variance reduction.
    """
    common = [key for key in values if key in baseline]
    if not common:
        return None
    differences = [values[key] - baseline[key] for key in common]
    return PairedDifference(
        difference=interval(differences, confidence=confidence),
        unpaired=len(values) + len(baseline) - 2 * len(common),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """The distribution of durations some of which are only known to exceed a bound.

    times: ascending instants at which durations ended; below: the estimated share of durations
    that are not longer, one per time.  It ends below 1 when the longest are censored.
    """

    times: npt.NDArray[np.int64]
    below: npt.NDArray[np.float64]

    def quantile(self, probability: float) -> float:
        """Return the least duration whose share reaches the probability; NaN if none does."""
        index = int(np.searchsorted(self.below, probability - 1e-12, side="left"))
        return float(self.times[index]) if index < len(self.times) else math.nan


def survival(durations: npt.ArrayLike, ended: npt.ArrayLike) -> Survival:
    """Return the Kaplan-Meier estimate from durations and whether each ended by itself.

    A censored duration counts as longer than an equal one that ended.
    Source: E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete observations,
    J. Am. Stat. Assoc. 53 (1958).
    """
    values = np.asarray(durations, dtype=np.int64)
    observed = np.asarray(ended, dtype=np.bool_)
    times, counts = np.unique(values[observed], return_counts=True)
    ascending = np.sort(values)
    at_risk = len(values) - np.searchsorted(ascending, times, side="left")
    staying = np.cumprod(1.0 - counts / at_risk) if len(times) else np.empty(0)
    return Survival(times=times, below=np.asarray(1.0 - staying, dtype=np.float64))


def quantile(values: Sequence[float], probability: float) -> float:
    """Return the exact quantile with linear interpolation, as Spark's `percentile` does.

    Raises ValueError without values.
    """
    if not values:
        raise ValueError("a quantile needs at least one value")
    ordered = sorted(values)
    position = probability * (len(ordered) - 1)
    below = math.floor(position)
    above = math.ceil(position)
    if below == above:
        return float(ordered[below])
    return (above - position) * ordered[below] + (position - below) * ordered[above]
