"""How fast a storage writes, from files with their sizes and times: latency, rate, whose limit.

A limit of each stream lets a file take as long whatever is written beside it.  A limit of all
streams together lets it take longer the more of them are under way: what counts then is not its
time, but its part of it, an nth while n files are written.  Which of the two the same rate explains
better shows where the number of files under way varies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ckptsim.sim.job.buffers.constants import CONSTANTS
from ckptsim.sim.job.buffers.state import Limiter

_SECOND_NS = 1_000_000_000
_MS = 1_000_000
# Files whose sizes differ by this factor tell a rate from a latency.
_SPREAD = 3.0
# One limit for all is believed where it explains the times this many times better, and limits of
# each stream leave so large a part of them unexplained.  Assumption: noise of a machine is less.
_BETTER = 2.0
_UNEXPLAINED = 0.1


@dataclass(frozen=True, slots=True)
class File:
    """A file: its bytes, how long it took, and what of that a processor needs to handle it.

    end_ms: when it was whole, behind the trigger of its checkpoint.
    """

    bytes: int
    async_ms: float
    handled_ms: float
    end_ms: float

    @property
    def extra_ms(self) -> float:
        """Return how long it took beyond its handling."""
        return self.async_ms - self.handled_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What explains the times of files best: time of a file, and per byte.

    streams: how many were under way, in the mean.  rest: what stays unexplained, as a part of the
    mean time.  spread: whether sizes differ enough to tell a latency from a rate.
    """

    latency_ms: float
    ms_per_byte: float
    streams: float
    rest: float
    spread: bool

    @property
    def rate(self) -> int | None:
        """Return the limit with which simulated streams are as fast, in bytes per second.

        Simulated limiters, as real ones, reach somewhat less than their limit, so it is searched.
        """
        if self.ms_per_byte <= 0:
            return None
        wanted_ns, streams = self.ms_per_byte * _MS, max(1, round(self.streams))
        low, high = 1, 1 << 40
        while low < high:
            middle = (low + high) // 2
            if Limiter(middle, CONSTANTS).ns_per_byte(streams) > wanted_ns:
                low = middle + 1
            else:
                high = middle
        # Three digits: what the files say is no better.
        return _rounded(min(low, round(2 * _SECOND_NS / wanted_ns)))


def fits(checkpoints: Iterable[Sequence[File]]) -> tuple[Fit, bool]:
    """Return what explains the times of the files best, and whether that is one limit for all.

    checkpoints: the files of each.
    """
    known = [(file, crowd) for files in checkpoints for file, crowd in _crowded(files)]
    sizes = [file.bytes for file, _ in known]
    each = _fit(sizes, [file.extra_ms for file, _ in known], 1.0)
    streams = sum(crowd for _, crowd in known) / len(known)
    together = _fit(sizes, [file.extra_ms / crowd for file, crowd in known], streams)
    is_one = each.rest > _UNEXPLAINED and _BETTER * together.rest < each.rest
    return (together if is_one else each), is_one


def _crowded(files: Sequence[File]) -> list[tuple[File, float]]:
    """Return how many files were under way in each one's time: of n files each gets an nth."""
    spans = [(file.end_ms - file.async_ms, file.end_ms) for file in files]
    edges = sorted({edge for span in spans for edge in span})
    found = []
    for file, (begin, end) in zip(files, spans, strict=True):
        own_ms = 0.0
        for left, right in pairwise(edges):
            if begin <= left and right <= end:
                own_ms += (right - left) / sum(b <= left and right <= e for b, e in spans)
        found.append((file, file.async_ms / own_ms if own_ms else 1.0))
    return found


def _fit(sizes: Sequence[int], times_ms: Sequence[float], streams: float) -> Fit:
    """Return a line through the times of files, or a rate alone where sizes are alike."""
    spread = max(sizes) >= _SPREAD * min(sizes)
    latency, slope = 0.0, median([time / size for time, size in zip(times_ms, sizes, strict=True)])
    if spread:
        latency, slope = _line(sizes, times_ms)
    squares = [
        (time - latency - slope * size) ** 2 for time, size in zip(times_ms, sizes, strict=True)
    ]
    mean = sum(times_ms) / len(times_ms)
    return Fit(
        latency_ms=max(0.0, latency),
        ms_per_byte=slope,
        streams=streams,
        rest=float((sum(squares) / len(squares)) ** 0.5 / mean) if mean > 0 else 0.0,
        spread=spread,
    )


def _line(sizes: Sequence[int], times_ms: Sequence[float]) -> tuple[float, float]:
    """Return latency and time per byte that fit best, by least squares; neither is negative."""
    mean_x = sum(sizes) / len(sizes)
    mean_y = sum(times_ms) / len(sizes)
    over = sum((x - mean_x) * (y - mean_y) for x, y in zip(sizes, times_ms, strict=True))
    under = sum((x - mean_x) ** 2 for x in sizes)
    slope = max(0.0, over / under)
    latency = mean_y - slope * mean_x
    if latency < 0:
        return 0.0, mean_y / mean_x
    return latency, slope


def _rounded(value: int) -> int:
    scale = int(10 ** max(0, len(str(value)) - 3))
    return max(1, round(value / scale) * scale)
