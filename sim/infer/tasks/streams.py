"""How fast a storage writes, from files with their sizes and times.

Latency, rate and the owner of the limit.

A limit of each stream lets a file take as long whatever is written beside it.  A limit of all
streams together lets it take longer the more of them are under way: what counts then is not its
time, but its part of it, an nth while n files are written.  Which of the two the same rate explains
better shows where the number of files under way varies.

A part with state and data in flight writes two files at once and is done with the later one.  The
other has no end that shows, but is under way, too: streams are equally fast, so it is whole when
the later one has as many bytes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median

from ckptsim.sim.job.buffers.constants import PLAIN, Constants
from ckptsim.sim.job.buffers.state import Limiter

_SECOND_NS = 1_000_000_000
_MS = 1_000_000
# Files with sizes that differ by this factor separate rate and latency.
_SPREAD = 3.0
# Either limit is believed where it is twenty times as likely as the other one.  Files of one
# checkpoint are off together, so each checkpoint counts once.
_LIKELIER = math.log(20)
# The rest of the files is off the most: pauses of a machine make some take a lot longer.
_USUAL = 0.9
# Times are whole ms, so that no more than this is known of one.
_RESOLUTION_MS = 1.0
# So often ends that do not show are moved to where equal streams bring them. Each time halves the
# missing part, or does better.
_ROUNDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file: its bytes, when it was under way, and what of that a processor needs to handle it.

    begin_ms, end_ms: after the trigger of its checkpoint.  beside: the file that was whole after
    it, so that its own end does not show. end_ms is no more than a guess then.
    """

    bytes: int
    begin_ms: float
    end_ms: float
    handled_ms: float = 0.0
    beside: File | None = None

    @property
    def write_ms(self) -> float:
        """Return how long it took."""
        return max(0.0, self.end_ms - self.begin_ms)

    @property
    def extra_ms(self) -> float:
        """Return how long it took beyond its handling."""
        return self.write_ms - self.handled_ms

    @property
    def ms_per_byte(self) -> float:
        """Return how long each of its bytes took."""
        return self.write_ms / self.bytes

    def outlasted_by(self, later: File) -> File:
        """Return this file as one that was whole before another one, at the same speed."""
        end_ms = min(later.end_ms, self.begin_ms + self.bytes * later.ms_per_byte)
        return replace(self, end_ms=end_ms, beside=later)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What explains the times of files best: time of a file, and per byte.

    streams: how many were under way, in the mean.  rest: what stays unexplained of the time of a
    file in the mean, as a part of the one of the middle one.  spread: whether sizes differ enough
    to tell a latency from a rate.  constants: of the profile with the limiter.
    """

    latency_ms: float
    ms_per_byte: float
    streams: float
    rest: float
    spread: bool
    constants: Constants = PLAIN

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
            if Limiter(middle, self.constants).ns_per_byte(streams) > wanted_ns:
                low = middle + 1
            else:
                high = middle
        # Three digits: what the files say is no better.
        return _rounded(min(low, round(2 * _SECOND_NS / wanted_ns)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fits:
    """What explains the times of files: a limit of each stream, and one of all together.

    checkpoints: how many there were with files.
    """

    each: Fit
    together: Fit
    checkpoints: int

    @property
    def best(self) -> Fit:
        """Return the inferred limit: a limit of each stream, where nothing says more."""
        return self.together if self.is_shared else self.each

    @property
    def is_shared(self) -> bool:
        """Return whether all streams share a limit."""
        return self._evidence > _LIKELIER

    @property
    def is_open(self) -> bool:
        """Return whether either is as good."""
        return abs(self._evidence) <= _LIKELIER

    @property
    def _evidence(self) -> float:
        """Return the logarithm of how much likelier one limit for all makes the times."""
        return self.checkpoints * math.log(self.each.rest / self.together.rest)


def fits(checkpoints: Sequence[Sequence[File]], constants: Constants = PLAIN) -> Fits:
    """Return what explains the times of the files, either way.

    checkpoints: the files of each.  constants: of the profile.
    """
    known = [(file, crowd) for files in checkpoints for file, crowd in _crowded(files)]
    sizes = [file.bytes for file, _ in known]
    streams = sum(crowd for _, crowd in known) / len(known)
    each = _fit(sizes, [file.extra_ms for file, _ in known], 1.0)
    together = _fit(sizes, [file.extra_ms / crowd for file, crowd in known], streams)
    return Fits(
        each=replace(each, constants=constants),
        together=replace(together, constants=constants),
        checkpoints=len(checkpoints),
    )


def _crowded(files: Sequence[File]) -> list[tuple[File, float]]:
    """Return the files with visible ends, and how many were under way in each one's time.

    Of n files each gets an nth.
    """
    ends = [file.end_ms for file in files]
    for _ in range(_ROUNDS if any(file.beside for file in files) else 0):
        edges, shares = _shares(files, ends)
        for index, file in enumerate(files):
            if file.beside is not None:
                later, begin = file.beside, _at(file.begin_ms, edges, shares)
                whole = _at(later.end_ms, edges, shares) - _at(later.begin_ms, edges, shares)
                own = whole * file.bytes / later.bytes
                ends[index] = min(later.end_ms, _at(begin + own, shares, edges))
    edges, shares = _shares(files, ends)
    found = []
    for file in files:
        own = _at(file.end_ms, edges, shares) - _at(file.begin_ms, edges, shares)
        if file.beside is None:
            found.append((file, file.write_ms / own if own > 0 else 1.0))
    return found


def _shares(files: Sequence[File], ends: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the instants at which files begin or end, and what one of them had by then, in ms.

    That is the time in which it would have come as far alone.
    """
    begun, ended = sorted(file.begin_ms for file in files), sorted(ends)
    edges = sorted({*begun, *ended})
    shares = [0.0]
    for left, right in pairwise(edges):
        count = bisect_right(begun, left) - bisect_right(ended, left)
        shares.append(shares[-1] + (right - left) / max(1, count))
    return edges, shares


def _at(place: float, places: Sequence[float], values: Sequence[float]) -> float:
    """Return the value at a place, on straight lines between those that are known."""
    right = min(max(1, bisect_right(places, place)), len(places) - 1)
    left = right - 1
    if right < 1:
        return values[0]
    part = (place - places[left]) / (places[right] - places[left])
    return values[left] + part * (values[right] - values[left])


def _fit(sizes: Sequence[int], times_ms: Sequence[float], streams: float) -> Fit:
    """Return a line through the times of files, or a rate alone where sizes are alike."""
    spread = max(sizes) >= _SPREAD * min(sizes)
    latency, slope = 0.0, median([time / size for time, size in zip(times_ms, sizes, strict=True)])
    if spread:
        latency, slope = _line(sizes, times_ms)
    off = sorted(
        abs(time - latency - slope * size) for time, size in zip(times_ms, sizes, strict=True)
    )[: math.ceil(_USUAL * len(sizes))]
    least_ms = _RESOLUTION_MS / streams
    return Fit(
        latency_ms=max(0.0, latency),
        ms_per_byte=slope,
        streams=streams,
        rest=(fmean(off) + least_ms) / max(least_ms, median(times_ms)),
        spread=spread,
    )


def _line(sizes: Sequence[int], times_ms: Sequence[float]) -> tuple[float, float]:
    """Return latency and time per byte that fit best, by least squares.

    Neither is negative. Where larger files took no longer there is no latency to be seen.
    """
    mean_x = sum(sizes) / len(sizes)
    mean_y = sum(times_ms) / len(sizes)
    over = sum((x - mean_x) * (y - mean_y) for x, y in zip(sizes, times_ms, strict=True))
    under = sum((x - mean_x) ** 2 for x in sizes)
    slope = over / under
    latency = mean_y - slope * mean_x
    if slope <= 0 or latency < 0:
        return 0.0, mean_y / mean_x
    return latency, slope


def _rounded(value: int) -> int:
    scale = int(10 ** max(0, len(str(value)) - 3))
    return max(1, round(value / scale) * scale)
