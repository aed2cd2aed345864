"""The calendar: the one place where the order of events is decided."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from typing import Any

from ckptsim.sim.kernel.entity import Entity
from ckptsim.sim.kernel.ties import STRUCTURAL, TiePolicy

# (time, priority, kind, entity, item) -> the entry's sequence number
Push = Callable[[int, int, int, Entity, Any], int]


def calendar_push(queue: list[Any], ties: TiePolicy, number: Callable[[], int]) -> Push:
    """Return the function that enters an event into the calendar; a timer does so itself.

    Entries are in the order of (time, priority, tie key, sequence); `number` gives the sequence.
    Equal tie keys occur inside one entity and kind only, where the sequence is causal order.  A
    closure over local names is what makes it as cheap as SimPy's own `schedule`.
    """
    tie = ties.tie

    def push_structural(time: int, priority: int, kind: int, entity: Entity, item: Any) -> int:
        count = number()
        heappush(queue, (time, priority, entity.ranks[kind], count, item))
        return count

    def push(time: int, priority: int, kind: int, entity: Entity, item: Any) -> int:
        count = number()
        heappush(queue, (time, priority, tie(time, kind, entity), count, item))
        return count

    return push_structural if ties is STRUCTURAL else push
