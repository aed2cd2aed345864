"""Whether a job repeats itself: two windows in a row show the same.

A window is `TICKS` looks, or `_LATE_TICKS` where a source is late: then nothing but the window says
how fast it reads.  Windows show the same where each vertex has as many records in flight and
processes as many.  The band is a twentieth, and four standard deviations of buffers that come by
chance.  After a checkpoint the records in flight have to be back at their level before it, too.
Otherwise the two windows may be parts of a slow drain.  A job that does not come back has changed,
and is taken as it is after `_PATIENCE` looks.

All of these decide about time and precision: `make bench` shows how far figures move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

TICKS, _LATE_TICKS = 4, 40
_BAND, _DEVIATIONS = 0.05, 4.0
_BACK = 0.1
_PATIENCE = 300
LATE_NS = 500_000_000
"""A source that is later than this is held up: it reads as fast as it can."""


@dataclass(frozen=True, slots=True)
class Look:
    """A job at one instant.

    done: records by task.  in_flight: records sent to each vertex and not processed there.
    grain: records of a buffer on its way to each vertex.  late_ns: by task, 0 where it is no source
    with a clock.  inputs, outputs: buffers that wait at each task.  times: ns of each task in each
    state, shape (tasks, states).
    """

    at_ns: int
    done: Counts
    by_vertex: Counts
    in_flight: Counts
    grain: Counts
    late_ns: Counts
    inputs: Counts
    outputs: Counts
    times: Counts


@dataclass(frozen=True, slots=True)
class Window:
    """What a job does again and again: two windows that show the same, as one.

    done, times: of its whole length, as of a look; late_ns: at its end, and how many ns more that
    is than at its beginning.
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
        self._seen = 0

    def forget(self, *, level: bool = False) -> None:
        """Begin anew: something has happened.  level: what is usual is another thing now."""
        self._looks.clear()
        self._seen = 0
        if level:
            self._level = None

    def add(self, look: Look) -> Window | None:
        """Take a look. Return the window that repeats itself, or None."""
        self._looks.append(look)
        self._seen += 1
        is_late = bool((look.late_ns > LATE_NS).any())
        count = _LATE_TICKS if is_late else TICKS
        del self._looks[: -2 * _LATE_TICKS - 1]
        looks = self._looks[-2 * count - 1 :]
        if len(looks) <= 2 * count or not _same(looks[: count + 1], looks[count:]):
            return None
        level = _mean([one.in_flight for one in looks[count:]])
        if self._level is not None and not is_late and self._seen < _PATIENCE:
            back = (1 + _BACK) * self._level + _noise(self._level, look.grain)
            if (level > back).any():
                return None
        self._level = None if is_late else level
        return _whole(looks)


def _same(before: Sequence[Look], after: Sequence[Look]) -> bool:
    grain = after[-1].grain
    level, then = (_mean([one.in_flight for one in part[1:]]) for part in (before, after))
    done, next_ = (
        (part[-1].by_vertex - part[0].by_vertex).astype(np.float64) for part in (before, after)
    )
    return _near(level, then, grain) and _near(done, next_, grain)


def _near(one: NDArray[np.float64], other: NDArray[np.float64], grain: Counts) -> bool:
    most = np.maximum(one, other)
    return bool((abs(one - other) <= _BAND * most + _noise(most, grain)).all())


def _noise(count: NDArray[np.float64], grain: Counts) -> NDArray[np.float64]:
    """Return how far a count of records moves by chance, that come in grains."""
    return _DEVIATIONS * np.sqrt(np.maximum(count, 0) * grain)


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
