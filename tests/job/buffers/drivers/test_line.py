"""The order of service worked out in bulk is the one that a queue, step by step, arrives at."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.sim.job.buffers.stretch.line import Line

_WIDTH = 20  # numbers of one channel


def step_by_step(
    arrivals: list[tuple[int, int]], lasting: list[int], free_ns: int | None, wake_ns: int
) -> tuple[list[int], list[int], list[int]]:
    """Serve (time, channel) in turn; return everyone's turn, when it was idle and when it woke."""
    turns = [0] * len(arrivals)
    waiting: dict[int, deque[int]] = {channel: deque() for _, channel in arrivals}
    line: deque[int] = deque()
    idle_from, wake_at = ([-1], []) if free_ns is None else ([], [])
    now, here = free_ns, 0
    while True:
        if now is None:
            if here == len(arrivals):
                return turns, idle_from, wake_at
            wake_at.append(arrivals[here][0])
            now = arrivals[here][0] + wake_ns
        while here < len(arrivals) and arrivals[here][0] <= now:
            channel = arrivals[here][1]
            if not waiting[channel]:
                line.append(channel)
            waiting[channel].append(here)
            here += 1
        if not line:
            idle_from.append(now)
            now = None
            continue
        channel = line.popleft()
        served = waiting[channel].popleft()
        turns[served] = now
        if waiting[channel]:
            line.append(channel)
        now += lasting[served]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.integers(0, 9)), max_size=_WIDTH),
    st.none() | st.integers(0, 20),
    st.integers(0, 3),
)
def test_a_line_is_served_as_step_by_step(
    elements: list[tuple[int, int, int]], free_ns: int | None, wake_ns: int
) -> None:
    """Turns, their order and sleeps are those of a queue in which each channel stands once."""
    elements = sorted(elements, key=lambda element: element[0])
    arrivals = [(time, channel) for time, channel, _ in elements]
    lasting = [length for _, _, length in elements]
    seen = [0] * 4
    numbers = []
    for _, channel in arrivals:
        numbers.append(channel * _WIDTH + seen[channel])
        seen[channel] += 1
    line = Line(_ints([t for t, _ in arrivals]), _ints(numbers), _ints(lasting), 4 * _WIDTH + 1)
    line.serve(_ints(numbers) % _WIDTH > 0, free_ns=free_ns, wake_ns=wake_ns)
    turns, idle_from, wake_at = step_by_step(arrivals, lasting, free_ns, wake_ns)
    assert line.turns.tolist() == turns
    assert line.turns[line.order].tolist() == sorted(turns)
    assert sorted(line.order.tolist()) == list(range(len(turns)))
    assert line.idle_from.tolist() == idle_from
    assert line.wake_at.tolist() == wake_at


def _ints(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)
