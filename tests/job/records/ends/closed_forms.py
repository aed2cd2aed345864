"""When a chain of tasks ends, worked out by hand: the cost model that the golden numbers follow.

Barriers, acknowledgements and notifications take no time, EndOfPartition a constant per hop, a
checkpoint `DURATION` from its last snapshot to the notifications. One is under way at a time and a
periodic trigger that meets one is skipped.  Times are whole tenths of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

TENTH_NS = 100_000_000
END = 250  # of the source's input
DURATION = 10
HOP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A chain: `ends[i]` is when the data of task i has ended. Triggers at `first` + n `interval`.

    waits: for so long a barrier waits after records. None: for as long as it takes.
    """

    ends: tuple[int, ...]
    first: int
    interval: int
    waits: int | None

    def lasts(self, trigger: int) -> int:
        """Return how long a checkpoint takes with a barrier that is after all data."""
        behind = max(0, self.ends[-1] - trigger)
        return DURATION + (behind if self.waits is None else min(behind, self.waits))

    def triggers(self, until: int) -> list[int]:
        """Return the triggers up to an instant, without those that meet a running checkpoint."""
        found: list[int] = []
        tick = self.first
        while tick <= until:
            if not found or tick > found[-1] + self.lasts(found[-1]):
                found.append(tick)
            tick += self.interval
        return found

    def covering(self, instant: int) -> int:
        """Return the first trigger with a barrier that comes to a task after its end."""
        triggers = self.triggers(instant + 2 * self.interval + DURATION)
        waits = instant if self.waits is None else self.waits
        return next(k for k in triggers if instant <= k or instant < k + waits)


def chain(*, depth: int, backlog: int, first: int, interval: int, waits: int | None) -> Chain:
    """Return a chain of `depth` + 1 tasks with so many records of a second before each."""
    ends = tuple(END + 10 * backlog * place for place in range(depth + 1))
    return Chain(ends=ends, first=first, interval=interval, waits=waits)


def closes(one: Chain) -> list[int]:
    """Return when each task closes: its checkpoint, the next task's end, its input's close."""
    found: list[int] = []
    for place, ended in enumerate(one.ends):
        trigger = one.covering(ended)
        done = trigger + one.lasts(trigger)
        polled = one.ends[min(place + 1, len(one.ends) - 1)]
        above = found[-1] + HOP if found else 0
        found.append(max(done, polled, above))
    return found


def naive_closes(one: Chain) -> list[int]:
    """Return when each task closes that ends on EndOfPartition and waits for its own checkpoint."""
    found: list[int] = []
    for ended in one.ends:
        begins = max(ended, found[-1] + HOP) if found else ended
        trigger = next(k for k in one.triggers(begins + 2 * one.interval + 10_000) if k >= begins)
        found.append(trigger + one.lasts(trigger))
    return found


def count(one: Chain, ends: Callable[[Chain], list[int]]) -> int:
    """Return how many checkpoints are triggered until the last task closes."""
    return len(one.triggers(max(ends(one))))
