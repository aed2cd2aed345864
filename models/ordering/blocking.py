"""Why a state is not released: the blocking facts, and the sentence that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ckptsim.models.ordering import terms


class Obstacle(IntEnum):
    """The obstacle between a scope's next state and its release."""

    PREDECESSOR = 1  # the next index has not arrived.
    DURABILITY = 2  # records that were read for an id are not all durable.
    SOURCE_COUNT = 3  # the source counted another number than is accounted for.
    SEND = 4  # its send is outstanding.
    FLUSH = 5  # nothing: it goes with the next flush.


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """One condition that does not hold: `found` is not yet, or no more, `expected` records.

    stream, id: the owner of the records, for DURABILITY. `expected` are the records read for them.
    """

    obstacle: Obstacle
    expected: int
    found: int
    stream: terms.StreamDescriptor | None = None
    id: terms.CheckpointId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """One scope with unsent states: which index is next, and what it waits for.

    key: the key of the next state. None when that state has not arrived.
    next_index: the only index that may go next. lowest: the lowest index that is here.
    pending: how many states of the scope are unsent.
    """

    scope: terms.Scope
    next_index: terms.CheckpointIndex
    lowest: terms.CheckpointIndex
    pending: int
    obstacle: Obstacle
    key: terms.CheckpointKey | None = None
    shortfall: Shortfall | None = None

    def __str__(self) -> str:
        whose = "the sync" if self.scope is None else f"stream {terms.scope_text(self.scope)}"
        return f"{whose}: {self._why()} ({self.pending} unsent)"

    def _why(self) -> str:
        if self.key is None:
            return f"state {self.lowest} waits for state {self.next_index}, which has not arrived"
        name = f"state {self.key.index} (id {self.key.id})"
        short = self.shortfall
        if short is not None and self.obstacle is Obstacle.DURABILITY:
            of = f" of stream {short.stream}, id {short.id}"
            return f"{name} waits for records{of}: {short.expected} read, {short.found} durable"
        if short is not None and self.obstacle is Obstacle.SOURCE_COUNT:
            return (
                f"{name} waits for its count: the source sent {short.expected} records, "
                f"{short.found} are accounted for"
            )
        if self.obstacle is Obstacle.SEND:
            return f"{name} waits for its send to return"
        return f"{name} waits for a flush"
