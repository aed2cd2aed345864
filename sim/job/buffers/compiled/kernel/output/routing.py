"""Which lane each record of an output takes, as `output/routing.py`: the same words and picks."""

from __future__ import annotations

import numpy as np

from ckptsim.sim.job.buffers.compiled.columns import stream, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.base.streams import advanced, bits, output

_HALF = np.uint64(32)
_PLACES = writer.RING - 1
# How many are drawn at a time: speed only, as the words of a route come in one order anyway.
_BLOCK = 32


@compiled
def draw_lanes(m: Memory, w: int) -> int:
    """Draw the lanes of the next records, as the ring has room. Return how many it has now."""
    picks, first = m[w + writer.PICKS], m[w + writer.FIRST_LANE]
    drawn = m[w + writer.DRAWN]
    place, count = m[w + writer.HEAD] + drawn, min(_BLOCK, writer.RING - drawn)
    m[w + writer.DRAWN] = drawn + count
    if m[w + writer.ROUTE] == writer.UNIFORM:
        draw_uniformly(m, w, place, count)
    else:
        for one in range(place, place + count):
            m[picks + (one & _PLACES)] = first + draw_place(m, w) * writer.LANE_WIDTH
    return drawn + count


@compiled
def draw_uniformly(m: Memory, w: int, place: int, count: int) -> None:
    """Draw lanes that are equally likely. The stream stays in registers meanwhile."""
    picks, first, row = m[w + writer.PICKS], m[w + writer.FIRST_LANE], m[w + writer.STREAM]
    lanes = np.uint64(m[w + writer.LANES])
    high, low = np.uint64(m[row + stream.STATE_HIGH]), np.uint64(m[row + stream.STATE_LOW])
    step_high, step_low = np.uint64(m[row + stream.STEP_HIGH]), np.uint64(m[row + stream.STEP_LOW])
    for one in range(place, place + count):
        high, low = advanced(high, low, step_high, step_low)
        drawn = ((output(high, low) >> _HALF) * lanes) >> _HALF
        m[picks + (one & _PLACES)] = first + np.int64(drawn) * writer.LANE_WIDTH
    m[row + stream.STATE_HIGH] = np.int64(high)
    m[row + stream.STATE_LOW] = np.int64(low)


@compiled
def draw_place(m: Memory, w: int) -> int:
    """Draw which of a writer's lanes is next, where they are not equally likely."""
    route, count = m[w + writer.ROUTE], m[w + writer.LANES]
    if route == writer.SINGLE:
        return m[w + writer.NEXT]
    if route == writer.ROUND_ROBIN:
        place = m[w + writer.NEXT]
        m[w + writer.NEXT] = (place + 1) % count
        return place
    drawn = bits(m, m[w + writer.STREAM]) >> _HALF
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
