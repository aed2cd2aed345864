"""Estimators on plain numbers, for printed results: intervals of means, paired differences.

Both are exact functions of the multiset of their inputs (sums are exactly rounded), so results do
not depend on the order of rows.  The ones of whole sweeps are in `summaries`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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

    unpaired: replications that only one of them has. They are counted, not used.
    """

    difference: Interval
    unpaired: int


def paired_difference(
    values: Mapping[Any, float], baseline: Mapping[Any, float], *, confidence: float = CONFIDENCE
) -> PairedDifference | None:
    """Return `values - baseline` over common replications. None when there is none.

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
