"""Whether a job repeats itself: what it did lately shows the same twice.

The time since a checkpoint or a start is taken in three parts of at least `TICKS` looks, or
`_HELD_UP_TICKS` where a source reads as fast as it can.  The last two have to show the same.  That
means that each vertex has as many records in flight and processes as many, within a twentieth.  So
a job is looked at for longer when it moves by chance, or slowly.  Where it repeated itself before,
its records in flight have to be back at their level then, within a tenth.  A job that does not
come back has changed, and is taken as it is after `_PATIENCE` looks.  A source has to be as late as
it was, or so late that its backlog falls, or grows, along a straight line.

All of these decide about time and precision: `make bench` shows how far figures move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

TICKS, _HELD_UP_TICKS = 3, 12
_BAND = 0.05
_BACK = 0.1
_DRIFT = 0.02
_PATIENCE = 300
LATE_NS = 500_000_000
"""A source that is later than this is held up: it reads as fast as it can."""


@dataclass(frozen=True, slots=True)
class Look:
    """A job at one instant.

    done: records by task.  in_flight: records sent to each vertex and not processed there.
    grain: records of a full buffer to each vertex.  late_ns: by task, 0 where it is no source with
    a clock.  held_up: a source reads as fast as it can.  inputs, outputs: buffers that wait at each
    task.  times: ns of each task in each state, shape (tasks, states).
    """

    at_ns: int
    done: Counts
    by_vertex: Counts
    in_flight: Counts
    grain: Counts
    late_ns: Counts
    held_up: bool
    inputs: Counts
    outputs: Counts
    times: Counts


@dataclass(frozen=True, slots=True)
class Window:
    """What a job does again and again: two windows that show the same, as one.

    done, times: of its whole length, as of a look.  late_ns: at its end.  later_ns: how much more
    that is than at its beginning.
    """

    lasts_ns: int
    done: Counts
    times: Counts
    inputs: NDArray[np.float64]
    outputs: NDArray[np.float64]
    late_ns: Counts
    later_ns: Counts

    @property
    def is_late(self) -> bool:
        """Return whether a source is held up."""
        return bool((self.late_ns > LATE_NS).any())


class Steady:
    """Looks at one attempt, and says when it repeats itself."""

    def __init__(self) -> None:
        self._looks: list[Look] = []
        self._level: NDArray[np.float64] | None = None  # in flight, when it last repeated itself

    def forget(self, *, level: bool = False) -> None:
        """Begin anew: something has happened.  level: the usual one has changed, too."""
        self._looks.clear()
        if level:
            self._level = None

    def add(self, look: Look) -> Window | None:
        """Take a look. Return the part that repeats itself, or None."""
        looks = self._looks
        looks.append(look)
        third = (len(looks) - 1) // 3
        if third < (_HELD_UP_TICKS if look.held_up else TICKS):
            return None
        before, after = looks[-2 * third - 1 : -third], looks[-third - 1 :]
        if not _same(before, after) or _catches_up(looks[-2 * third - 1], look):
            return None
        level = _level(after)
        usual = self._level
        if (
            usual is not None
            and len(looks) < _PATIENCE
            and not _near(level, usual, _BACK, look.grain)
        ):
            return None
        self._level = None if (look.late_ns > LATE_NS).any() else level
        return _whole(looks[-2 * third - 1 :])


def _same(before: Sequence[Look], after: Sequence[Look]) -> bool:
    grain = after[-1].grain
    done, next_ = (
        (part[-1].by_vertex - part[0].by_vertex).astype(np.float64) for part in (before, after)
    )
    levels = _near(_level(before), _level(after), _BAND, grain)
    return levels and _near(done, next_, _BAND, grain)


def _catches_up(first: Look, last: Look) -> bool:
    """Return whether a source that is not very late is later, or less late, than it was."""
    moves = abs(last.late_ns - first.late_ns) > _DRIFT * (last.at_ns - first.at_ns)
    return bool((moves & (last.late_ns <= LATE_NS)).any())


def _level(looks: Sequence[Look]) -> NDArray[np.float64]:
    return _mean([one.in_flight for one in looks[1:]])


def _near(one: NDArray[np.float64], other: NDArray[np.float64], band: float, grain: Counts) -> bool:
    """Return whether two counts are the same within a band, or within a buffer."""
    return bool((abs(one - other) <= np.maximum(band * np.maximum(one, other), grain)).all())


def _mean(parts: Sequence[Counts]) -> NDArray[np.float64]:
    return np.asarray(sum(parts) / len(parts), dtype=np.float64)


def _whole(looks: Sequence[Look]) -> Window:
    first, last = looks[0], looks[-1]
    return Window(
        lasts_ns=last.at_ns - first.at_ns,
        done=last.done - first.done,
        times=last.times - first.times,
        inputs=_mean([one.inputs for one in looks[1:]]),
        outputs=_mean([one.outputs for one in looks[1:]]),
        late_ns=last.late_ns,
        later_ns=last.late_ns - first.late_ns,
    )
