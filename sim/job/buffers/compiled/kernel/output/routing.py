"""Which lane each record of an output takes, as `output/routing.py`: the same words and picks."""

from __future__ import annotations

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.base.streams import bits

_HALF = np.uint64(32)


@compiled
def draw_lane(m: Memory, w: int) -> int:
    """Draw the lane of the next record."""
    return m[w + writer.FIRST_LANE] + draw_place(m, w) * writer.LANE_WIDTH


@compiled
def draw_place(m: Memory, w: int) -> int:
    """Draw which of a writer's lanes is next."""
    route, count = m[w + writer.ROUTE], m[w + writer.LANES]
    if route == writer.SINGLE:
        return m[w + writer.NEXT]
    if route == writer.ROUND_ROBIN:
        place = m[w + writer.NEXT]
        m[w + writer.NEXT] = (place + 1) % count
        return place
    drawn = bits(m, m[w + writer.STREAM]) >> _HALF
    if route == writer.UNIFORM:
        return np.int64((drawn * np.uint64(count)) >> _HALF)  # type: ignore[return-value]
    # The weighted one: the first bound above the word, as `searchsorted` from the right finds it.
    first = m[w + writer.WEIGHTS]
    value = np.int64((drawn * np.uint64(m[first + count - 1])) >> _HALF)
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if m[first + middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low
