"""When the records of a source with a rate fall due: the clock of each of its splits.

A replayable source reads a log: its clock runs whether the job is up or not, through changes of the
rate and through failures.  One that is not replayable drops the records that fell due long ago.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.splits import Split
    from ckptsim.sim.kernel import Stream


@dataclass(frozen=True, slots=True)
class Origin:
    """When a record of a split was due, by its position, from which the clock runs."""

    due_ns: int
    position: int


@dataclass(slots=True)
class Clocks:
    """The clocks of all splits of a job, by the number of the split. They outlive attempts."""

    origins: dict[int, Origin] = field(default_factory=dict)

    def first_ns(self, split: Split, vertex: Vertex, now_ns: int, draws: Stream) -> int:
        """Return when the next record of a split is due as an attempt begins.

        vertex: the source as it was when the job began.
        """
        if split.gap_ns is None:
            return now_ns
        if vertex.replayable and vertex.in_step:
            self.origins.setdefault(split.number, Origin(0, 0))
        if vertex.replayable and split.number in self.origins:
            due_ns, count = self._reached(split, vertex, now_ns)
            # Those that the split is late with are due one after the other at the rate of now.
            return due_ns - (count - split.position) * split.gap_ns
        due_ns = now_ns + draws.integer(1, split.gap_ns)
        self.origins.setdefault(split.number, Origin(due_ns, split.position))
        return due_ns

    def missed(self, split: Split, vertex: Vertex, until_ns: int, catch_up_ns: int) -> int:
        """Return how many records of a split a source has dropped, as far as that is certain."""
        if vertex.replayable or split.gap_ns is None or split.number not in self.origins:
            return 0
        _, count = self._reached(split, vertex, until_ns)
        return max(0, count - split.position - catch_up_ns // split.gap_ns - 1)

    def _reached(self, split: Split, vertex: Vertex, now_ns: int) -> tuple[int, int]:
        """Return when the next record after an instant is due, and its position."""
        origin = self.origins[split.number]
        due_ns, position, began_ns = origin.due_ns, origin.position, 0
        for end_ns in _changes(vertex, now_ns):
            gap_ns = vertex.gap_of(split.index, began_ns) or 1
            count = max(0, (end_ns - due_ns) // gap_ns + 1)
            due_ns, position = due_ns + count * gap_ns, position + count
            if end_ns < now_ns:
                due_ns = min(due_ns, end_ns + (vertex.gap_of(split.index, end_ns) or 1))
            began_ns = end_ns
        return due_ns, position


def turned(due_ns: int, gaps_ns: tuple[int, int], now_ns: int, *, replayable: bool) -> int:
    """Return when the next record is due after the rate has changed, gaps_ns being old and new.

    It is due by the old rate, unless that was so slow that the new one is first.  A log keeps the
    records that it is late with.
    """
    old_ns, new_ns = gaps_ns
    late = (now_ns - due_ns) // old_ns + 1 if replayable and due_ns <= now_ns else 0
    return min(due_ns + late * old_ns, now_ns + new_ns) - late * new_ns


def _changes(vertex: Vertex, until_ns: int) -> Iterator[int]:
    """Yield the instants before another at which the rate changes, and that one."""
    at_ns = vertex.rate_change_after(0)
    while at_ns is not None and at_ns < until_ns:
        yield at_ns
        at_ns = vertex.rate_change_after(at_ns)
    yield until_ns
