"""Moves an inlet on: by arithmetic where nothing waits for credit, entry by entry elsewhere."""

from __future__ import annotations

from heapq import heapify
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.stretch.exact import advance
from ckptsim.sim.job.buffers.stretch.fast import Span, is_calm
from ckptsim.sim.job.buffers.stretch.inlet import NEVER

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.stretch.inlet import Inlet

# How many openings are worked out at a time: speed only.
_SPAN_MIN = 512
_SPAN_MAX = 8192


def move(inlet: Inlet, until: int) -> None:
    """Move an inlet on to `until`."""
    heapify(inlet.heap)
    size, pause = _SPAN_MAX, 1
    while inlet.now < until and (is_calm(inlet) or advance(inlet, until, to_calm=True)):
        span = Span(inlet, size, until)
        rest = span.rest_before(until)
        gained = rest is not None and rest[0] > inlet.now
        if rest is not None and gained:
            span.adopt(*rest)
        if gained and not span.violated and not span.complete:
            continue
        size = _SPAN_MIN if span.violated else min(2 * size, _SPAN_MAX)
        pause = 1 if gained else 2 * pause
        # Where it does not work for long, it is tried ever more rarely.
        time = max(span.valid_ns + 1, _opening(inlet, pause))
        advance(inlet, min(until, time), to_calm=False)


def _opening(inlet: Inlet, count: int) -> int:
    """Return when so many more openings have happened, or never."""
    place = inlet.next_open + count
    return int(inlet.open_times[place]) if place < len(inlet.open_times) else NEVER
