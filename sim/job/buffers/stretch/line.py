"""The order in which one thread serves what arrives: a line in which each channel stands once.

A channel takes its place when something arrives and nothing of it is there yet, or behind its turn
if more of it is there.  As long as nothing arrives for a channel that stands in the line, the order
is that of arrival, which one pass over two lists finds out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ckptsim.sim.job.buffers.stretch.inlet import NEVER

Ints = NDArray[np.int64]


class Line:
    """Elements in the order in which they come, and what becomes of them.

    times, numbers: when each one comes and which buffer it is, shape (elements,); of one channel
    they are in the order of their numbers, which are below `size`.  lasting: how long each one
    keeps the thread.
    turns: when each one's turn is; order: elements in the order of their turns.
    idle_from: when the thread has nothing more to do, the first one included if it does nothing
    at first; wake_at: when it is woken from each, but for the last.
    """

    def __init__(self, times: Ints, numbers: Ints, lasting: Ints, size: int) -> None:
        self.times = times
        self.numbers = numbers
        self.lasting = lasting
        self._size = size

    def serve(self, follows: NDArray[np.bool_], *, free_ns: int | None, wake_ns: int) -> None:
        """Find all turns.

        follows: whether the number before belongs to the same channel, and to this line; free_ns:
        when the thread turns to the line, None when it sleeps.
        """
        free = -1 if free_ns is None else free_ns
        ends = np.array(
            [free, *first_come(self.times.tolist(), self.lasting.tolist(), free, wake_ns)]
        )
        self.turns: Ints = ends[1:] - self.lasting
        self.order: Ints = np.arange(len(self.times))
        wakes = self.times > ends[:-1]
        self.wake_at: Ints = self.times[wakes]
        self.idle_from: Ints = ends[np.append(wakes, True)]
        before = self.turn_of()[self.numbers - 1]
        late = np.flatnonzero(follows & (before >= self.times))
        if len(late):
            self._reorder(late, wakes, follows)

    def turn_of(self) -> Ints:
        """Return the turns by number, NEVER for what is not here."""
        found = np.full(self._size, NEVER, dtype=np.int64)
        found[self.numbers] = self.turns
        return found

    def _reorder(self, late: Ints, wakes: NDArray[np.bool_], follows: NDArray[np.bool_]) -> None:
        """Correct the order wherever something comes before the turn of what it follows.

        Whatever the order, the thread has something to do as long; so it matters only between two
        sleeps.
        """
        bounds = np.unique(np.concatenate([[0], np.flatnonzero(wakes), [len(wakes)]]))
        for place in np.unique(np.searchsorted(bounds, late, side="right")).tolist():
            first, last = int(bounds[place - 1]), int(bounds[place])
            inside = slice(first, last)
            numbers = self.numbers[inside].tolist()
            index_of = {number: index for index, number in enumerate(numbers)}
            before = [
                index_of.get(number - 1, -1) if follow else -1
                for number, follow in zip(numbers, follows[inside].tolist(), strict=True)
            ]
            turns, order = _in_turn(
                self.times[inside].tolist(),
                self.lasting[inside].tolist(),
                before,
                int(self.turns[first]),
            )
            self.turns[inside] = turns
            self.order[inside] = np.array(order) + first


def first_come(times: list[int], lasting: list[int], free: int, wake_ns: int) -> list[int]:
    """Return when each one is done in the order of arrival, by a thread free from an instant on."""
    end = free
    return [
        end := (end if time <= end else time + wake_ns) + length
        for time, length in zip(times, lasting, strict=True)
    ]


def _in_turn(
    times: list[int], lasting: list[int], before: list[int], now: int
) -> tuple[list[int], list[int]]:
    """Return everyone's turn, and the order, where one channel stands in the line only once.

    before: for each one what it follows, or -1; now: the first turn, behind which the thread never
    lacks something to do.
    """
    count = len(times)
    following = [count] * (count + 1)
    for index, place in enumerate(before):
        following[place] = index
    following[-1] = count
    times = [*times, NEVER]
    turns = [-1] * count
    line: list[int] = []
    here = 0
    for turn in range(count):
        while times[here] <= now:
            if before[here] < 0 or turns[before[here]] >= 0:
                line.append(here)
            here += 1
        index = line[turn]
        turns[index] = now
        if following[index] < here:
            line.append(following[index])
        now += lasting[index]
    return turns, line
