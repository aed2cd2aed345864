"""Random streams inside the kernel: the same words and the same draws as `sim/kernel/streams.py`.

PCG64 on words of 64 bits.  Source: O'Neill, PCG: A Family of Simple Fast Space-Efficient
Statistically Good Algorithms for Random Number Generation, 2014 (XSL RR 128/64), as in numpy.
"""

from __future__ import annotations

import math

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import stream
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.intrinsics import high_word
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_MULTIPLIER_HIGH = np.uint64(0x2360ED051FC65DA4)
_MULTIPLIER_LOW = np.uint64(0x4385DF649FCCF645)
_ROTATION = np.uint64(58)
_WORD = np.uint64(64)
_LAST = np.uint64(63)
_LOST = np.uint64(11)
_UNIT = 2.0**-53


@compiled
def advanced(
    high: np.uint64, low: np.uint64, step_high: np.uint64, step_low: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return the state after this one: state * multiplier + step."""
    product = low * _MULTIPLIER_LOW
    following = high_word(low, _MULTIPLIER_LOW) + high * _MULTIPLIER_LOW
    following += low * _MULTIPLIER_HIGH + step_high
    low = product + step_low
    if low < product:
        following += np.uint64(1)
    return following, low


@compiled
def output(high: np.uint64, low: np.uint64) -> np.uint64:
    """Return the 64 random bits of a state, which is folded and rotated."""
    rotation = high >> _ROTATION
    folded = high ^ low
    return (folded >> rotation) | (folded << ((_WORD - rotation) & _LAST))


@compiled
def bits(m: Memory, row: int) -> np.uint64:
    """Draw 64 random bits."""
    high, low = advanced(
        np.uint64(m[row + stream.STATE_HIGH]),
        np.uint64(m[row + stream.STATE_LOW]),
        np.uint64(m[row + stream.STEP_HIGH]),
        np.uint64(m[row + stream.STEP_LOW]),
    )
    m[row + stream.STATE_HIGH] = np.int64(high)
    m[row + stream.STATE_LOW] = np.int64(low)
    return output(high, low)


@compiled
def exponential_ns(m: Memory, row: int, mean_ns: float) -> int:
    """Draw an exponential duration, rounded to the nanosecond. Ties go to the even one."""
    uniform = np.float64(bits(m, row) >> _LOST) * _UNIT
    return int(np.rint(-mean_ns * math.log(1.0 - uniform)))
