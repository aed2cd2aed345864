"""How the runs of a sweep are divided: into waves that are saved, and waves into chunks.

A wave is one Spark job.  A chunk is one task of a job. Its results arrive when it ends, and are
saved with the wave, or before that where a run of the wave is long.  Jobs and tasks cost processor
time of their own, so there are few: the first chunks of a wave are large, and only the last ones,
which have to fill the cores evenly, are small.  Runs go to chunks longest first, from the costs
measured in earlier waves. A chunk that takes longer than a wave should hands back what it has not
begun, so that unknown costs make no chunk long.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence

from ckptsim.analysis.sweeps.worker import SweepRow

WAVE_S = 10.0  # an assumption: how much work an interruption may lose. Results do not depend on it
FIRST_WAVE_RUNS_PER_CHUNK = 32
GROWTH_MAX = 8


class Costs:
    """The mean seconds of a run of each point, learnt while the sweep goes."""

    def __init__(self) -> None:
        self._seconds: dict[int, float] = defaultdict(float)
        self._runs: dict[int, int] = defaultdict(int)

    def learn(self, seconds: Sequence[tuple[int, float]]) -> None:
        """Take in what runs of points have cost."""
        for point, cost in seconds:
            self._seconds[point] += cost
            self._runs[point] += 1

    def of(self, point: int) -> float:
        """Return the expected seconds of a run of a point. The mean of all for an unknown one."""
        if point in self._runs:
            return self._seconds[point] / self._runs[point]
        return self.mean() or 1.0

    def mean(self) -> float:
        """Return the mean seconds of all runs so far. 0 before the first."""
        return sum(self._seconds.values()) / max(1, sum(self._runs.values()))

    def wave_size(self, *, chunks: int, cores: int, last: int) -> int:
        """Return how many runs the next wave takes so that it lasts about WAVE_S."""
        mean_s = self.mean()
        if mean_s == 0.0:
            return FIRST_WAVE_RUNS_PER_CHUNK * chunks
        return max(chunks, min(int(WAVE_S * cores / mean_s), GROWTH_MAX * last))


def in_order_of_replication(rows: Sequence[SweepRow]) -> list[SweepRow]:
    """Return the rows with the first replication of every point first, then the second, ...

    So costs of all points are known early, and a sweep that was interrupted covers all of them.
    """
    seen: dict[int, int] = defaultdict(int)
    numbered = []
    for position, row in enumerate(rows):
        numbered.append((seen[row.point], position, row))
        seen[row.point] += 1
    return [row for _, _, row in sorted(numbered, key=lambda entry: entry[:2])]


def pack(
    rows: Sequence[SweepRow], costs: Costs, *, chunks: int, cores: int
) -> list[list[SweepRow]]:
    """Return the rows in at most that many chunks, with costs in the sizes of `shares`."""
    longest_first = sorted(rows, key=lambda row: -costs.of(row.point))
    wanted = shares(min(chunks, len(rows)), cores=cores)
    filled: list[list[SweepRow]] = [[] for _ in wanted]
    total = sum(costs.of(row.point) for row in rows)
    # What a chunk lacks to its share, least first: each run goes where most is missing.
    lacking = [(-share * total, index) for index, share in enumerate(wanted)]
    heapq.heapify(lacking)
    for row in longest_first:
        lack, index = lacking[0]
        filled[index].append(row)
        heapq.heapreplace(lacking, (lack + costs.of(row.point), index))
    # Within a chunk runs of one point follow each other: its scenario is read and kept once.
    return [sorted(chunk, key=lambda row: row.point) for chunk in filled if chunk]


def shares(chunks: int, *, cores: int) -> list[float]:
    """Return the part of a wave's work that each chunk gets, the largest first. Their sum is 1.

    One chunk per core has half of the work, the next of these half of the rest, and so on. What
    then remains is divided evenly.  So the cores end together although costs are not known well.
    Source: S. Flynn Hummel, E. Schonberg, L. E. Flynn, Factoring: a method for scheduling parallel
    loops, Communications of the ACM 35 (1992).
    """
    found: list[float] = []
    left = 1.0
    while chunks - len(found) > cores:
        found += [left / (2 * cores)] * cores
        left /= 2
    rest = chunks - len(found)
    return found + [left / rest] * rest
