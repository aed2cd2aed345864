"""Quantiles of Student's t distribution, for confidence intervals.

For whole degrees of freedom the distribution is a finite sum of powers of a cosine, so its quantile
is found by solving an exact equation. For many degrees an expansion around the normal distribution
is as exact as floats are, and does not take longer with every run of a sweep.
Source: M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 26.7.3 to 26.7.5.
"""

from __future__ import annotations

import math
from statistics import NormalDist

# The expansion's error falls with the fifth power of the degrees: here it is below 1e-12 of the
# quantile for a confidence of 95 %, and below 1e-9 for one of 99.9999 %.
EXACT_UP_TO = 1000


def t_quantile(confidence: float, degrees: int) -> float:
    """Return the t that the absolute value of a Student variable exceeds with 1 - confidence.

    Raises ValueError unless 0 < confidence < 1 and there is at least one degree of freedom.
    """
    if not 0 < confidence < 1 or degrees < 1:
        raise ValueError(f"found confidence {confidence} and {degrees} degrees of freedom")
    if degrees > EXACT_UP_TO:
        terms = enumerate(expansion(confidence))
        return math.fsum(term / degrees**power for power, term in terms)
    slope = 2 * math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    slope /= math.sqrt(math.pi)
    # Newton's method: the probability is concave in the angle, so from the left it only rises to
    # the solution. Rounding alone makes it stop rising.
    angle = 0.0
    while True:
        step = (confidence - _within(angle, degrees)) / (slope * math.cos(angle) ** (degrees - 1))
        if angle + step <= angle:
            return math.sqrt(degrees) * math.tan(angle)
        angle += step


def _within(angle: float, degrees: int) -> float:
    """Return the probability that |T| < sqrt(degrees) tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    # The terms have the powers 1, 3, ... of the cosine for odd degrees and 0, 2, ... for even ones,
    # up to degrees - 2. Each is the one before times cosine^2 and 2/3, 4/5, ... or 1/2, ...
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, degrees - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def expansion(confidence: float) -> tuple[float, ...]:
    """Return the terms of the series for many degrees, each over that power of the degrees.

    The first, over the power 0, is the quantile of the normal distribution.
    """
    x = NormalDist().inv_cdf((1 + confidence) / 2)
    square = x * x
    return (
        x,
        x * (square + 1) / 4,
        x * (5 * square**2 + 16 * square + 3) / 96,
        x * (3 * square**3 + 19 * square**2 + 17 * square - 15) / 384,
        x * (79 * square**4 + 776 * square**3 + 1482 * square**2 - 1920 * square - 945) / 92160,
    )
