"""What decides a release: record counts, unsent states, and when a state is ready.

Each id has its own counters and no id's counters say anything of another's. Equal ids of different
streams never meet, because each stream has a ledger of its own.  The two levels count the same
records, so they are compared, never added.

Memory: counters of released ids are kept exactly for the newest `released_ids_kept` of them,
because a late report of the second level may still come.  Older ones are folded into one allowance
per level: the sum of what the level has not reported yet.

Source: airbytehq/airbyte, bulk load CDK, `StreamManager`. The upper check, the choice of one
level's triple instead of a maximum per component, and the memory policy are this core's own.

A shelf holds states of one scope by index and has the scope's cursor, the last released index.
Exactly one state may go next, the one right after the cursor.  States arrive in any order.

Source: airbytehq/airbyte, PR #60886 (key, sorted map, contiguity from 1).  Refusing a second use
of an index or of an id is this core's own: the original replaced the message under the old id.

A state is ready when every record read for its ids is durable and, on SOCKET, the durable records
are as many as the source says it sent.  The second half is essential there: while records are still
under way on another socket, all records read so far may be durable, or none may have been read.  On
STDIO a state ends its interval, so the first half is enough.  Both compare for
equality: more than expected is as wrong as less.

Source: airbytehq/airbyte, bulk load CDK, `CheckpointManager` (2026) and PR #61327.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from ckptsim.models.ordering import terms
from ckptsim.models.ordering.terms import (
    ZERO,
    CheckpointId,
    Count,
    Level,
    Medium,
    Obstacle,
    Shortfall,
    StateKind,
    StreamDescriptor,
)


class IdCounts:
    """The counters of one id.

    credited: what the running totals have already taken of this id, so that no record is
        counted twice; released: whether a state covering the id was sent.
    """

    __slots__ = ("complete", "credited", "persisted", "read", "read_bytes", "released")

    def __init__(self) -> None:
        self.read = 0
        self.read_bytes = 0
        self.persisted = ZERO
        self.complete = ZERO
        self.credited = ZERO
        self.released = False

    def at(self, level: Level) -> Count:
        """Return what the level has reported."""
        return self.complete if level is Level.COMPLETE else self.persisted


class Ledger:
    """The counters of one stream."""

    def __init__(self, released_ids_kept: int) -> None:
        self._ids: dict[CheckpointId, IdCounts] = {}
        self._released_ids_kept = released_ids_kept
        self._released: deque[CheckpointId] = deque()
        self._allowance = {Level.PERSISTED: 0, Level.COMPLETE: 0}
        self.records_read = 0
        self.records_complete = 0

    def read(self, identity: CheckpointId, count: int, size_bytes: int) -> None:
        """Count records as read."""
        counts = self._ids.get(identity)
        if counts is None:
            if count == 0 and size_bytes == 0:
                return
            counts = self._ids[identity] = IdCounts()
        counts.read += count
        counts.read_bytes += size_bytes
        self.records_read += count

    def exceeds(self, level: Level, identity: CheckpointId, increment: Count) -> bool:
        """Return whether the level would account for more records than were read for the id."""
        counts = self._ids.get(identity)
        if counts is None:
            return increment.accounted > self._allowance[level]
        return counts.at(level).accounted + increment.accounted > counts.read

    def account(self, level: Level, identity: CheckpointId, increment: Count) -> None:
        """Add an increment that does not exceed."""
        if level is Level.COMPLETE:
            self.records_complete += increment.accounted
        counts = self._ids.get(identity)
        if counts is None:
            self._allowance[level] -= increment.accounted
        elif level is Level.COMPLETE:
            counts.complete += increment
        else:
            counts.persisted += increment

    def at(self, level: Level, identity: CheckpointId) -> Count:
        """Return what a level has reported for the id."""
        counts = self._ids.get(identity)
        return ZERO if counts is None else counts.at(level)

    def read_for(self, identity: CheckpointId) -> int:
        """Return how many records were read for the id."""
        counts = self._ids.get(identity)
        return 0 if counts is None else counts.read

    def accounted(self, identity: CheckpointId) -> int:
        """Return how many records of the id are durable: the level that accounts for most."""
        counts = self._ids.get(identity)
        if counts is None:
            return 0
        return max(counts.persisted.accounted, counts.complete.accounted)

    def sufficient(self, identity: CheckpointId) -> bool:
        """Return whether exactly the records read for the id are durable."""
        return self.accounted(identity) == self.read_for(identity)

    def committed(self, identity: CheckpointId) -> Count:
        """Return the triple of the level that accounts for most. COMPLETE has the later word."""
        counts = self._ids.get(identity)
        if counts is None:
            return ZERO
        if counts.complete.accounted >= counts.persisted.accounted:
            return counts.complete
        return counts.persisted

    def uncredited(self, identity: CheckpointId) -> Count:
        """Return what the running totals have not taken of the id yet."""
        counts = self._ids.get(identity)
        return ZERO if counts is None else self.committed(identity) - counts.credited

    def release(self, identity: CheckpointId, credited: Count) -> None:
        """Note that a state covering the id was sent with these records added to the totals."""
        counts = self._ids.get(identity)
        if counts is None:
            return
        counts.credited += credited
        if not counts.released:
            counts.released = True
            self._released.append(identity)
            if len(self._released) > self._released_ids_kept:
                self._fold(self._released.popleft())

    @property
    def all_complete(self) -> bool:
        """Return whether level COMPLETE accounts for every record read, or none was read."""
        return self.records_complete == self.records_read

    @property
    def ids(self) -> tuple[CheckpointId, ...]:
        """The ids with counters of their own, in the order of their first record."""
        return tuple(self._ids)

    @property
    def allowances(self) -> tuple[int, int]:
        """What folded ids may still report, at PERSISTED and at COMPLETE."""
        return self._allowance[Level.PERSISTED], self._allowance[Level.COMPLETE]

    def _fold(self, identity: CheckpointId) -> None:
        counts = self._ids.pop(identity)
        for level in Level:
            self._allowance[level] += counts.read - counts.at(level).accounted


@dataclass(frozen=True, slots=True)
class PendingState:
    """An accepted state that was not sent yet. What it holds is what `StateRead` brought."""

    scope: terms.Scope
    key: terms.CheckpointKey
    kind: terms.StateKind
    payload: object
    source_count: int | None
    inner: tuple[tuple[terms.StreamDescriptor, terms.CheckpointId], ...]
    listed: tuple[terms.StreamDescriptor, ...]


class Shelf:
    """The unsent states of one scope.

    remembers_ids: whether ids of released states are remembered, so that reuse is refused. That
        takes some tens of bytes per state and is needless where ids are inferred.
    """

    def __init__(self, scope: terms.Scope, *, remembers_ids: bool) -> None:
        self.scope = scope
        self.last_released: terms.CheckpointIndex = 0
        self._remembers_ids = remembers_ids
        self._pending: dict[terms.CheckpointIndex, PendingState] = {}
        self._used_ids: set[terms.CheckpointId] = set()

    def refusal(self, key: terms.CheckpointKey) -> terms.Refusal | None:
        """Return why a key cannot be added, or None."""
        if key.index < 1:
            return terms.Refusal.INVALID_INDEX
        if key.index in self._pending:
            return terms.Refusal.DUPLICATE_INDEX
        if key.index <= self.last_released:
            return terms.Refusal.STALE_INDEX
        if key.id in self._used_ids:
            return terms.Refusal.DUPLICATE_ID
        return None

    def add(self, state: PendingState) -> None:
        """Put an acceptable state on the shelf."""
        self._pending[state.key.index] = state
        if self._remembers_ids:
            self._used_ids.add(state.key.id)

    def candidates(self) -> list[PendingState]:
        """Return the state that may go next as far as order is concerned, if it has arrived."""
        state = self._pending.get(self.last_released + 1)
        return [] if state is None else [state]

    def release(self, state: PendingState) -> None:
        """Move the cursor onto a state that was sent, and take it off the shelf."""
        self.last_released = state.key.index
        del self._pending[state.key.index]

    @property
    def head(self) -> terms.CheckpointIndex | None:
        """The lowest unsent index, or None."""
        return min(self._pending, default=None)

    @property
    def indexes(self) -> tuple[terms.CheckpointIndex, ...]:
        """The unsent indexes in ascending order."""
        return tuple(sorted(self._pending))

    def __len__(self) -> int:
        return len(self._pending)


class Shelves:
    """All shelves of an attempt. The first accepted state decides whether scopes are streams."""

    def __init__(
        self,
        streams: tuple[terms.StreamDescriptor, ...],
        shelf_type: type[Shelf] = Shelf,
        *,
        remembers_ids: bool,
    ) -> None:
        self._make = partial(shelf_type, remembers_ids=remembers_ids)
        self._by_stream = {stream: self._make(stream) for stream in streams}
        self._whole = self._make(None)
        self._of_streams = tuple(self._by_stream.values())
        self._all = (*self._of_streams, self._whole)
        self.per_stream: bool | None = None  # undecided until the first state is accepted

    def announce(self, stream: terms.StreamDescriptor) -> None:
        """Add the shelf of a stream."""
        self._by_stream[stream] = self._make(stream)
        self._of_streams = tuple(self._by_stream.values())
        self._all = (*self._of_streams, self._whole)

    def refusal(self, scope: terms.Scope, key: terms.CheckpointKey) -> terms.Refusal | None:
        """Return why a state cannot be added, or None. The kind is looked at first."""
        if self.per_stream is not None and self.per_stream is (scope is None):
            return terms.Refusal.MIXED_STATE_TYPES
        return self.of(scope).refusal(key)

    def add(self, state: PendingState) -> None:
        """Put an acceptable state on its shelf. The first one decides the kind of the attempt."""
        if self.per_stream is None:
            self.per_stream = state.scope is not None
        self.of(state.scope).add(state)

    def of(self, scope: terms.Scope) -> Shelf:
        """Return a scope's shelf."""
        return self._whole if scope is None else self._by_stream[scope]

    def in_use(self) -> tuple[Shelf, ...]:
        """Return the shelves that can hold states, streams in the order of the catalog."""
        if self.per_stream is None:
            return ()
        return self._of_streams if self.per_stream else (self._whole,)

    def __len__(self) -> int:
        return sum(len(shelf) for shelf in self._all)


# Which records a state covers: the ones of an id of a stream.
Portion = tuple[StreamDescriptor, CheckpointId]


def portions(state: PendingState, streams: Iterable[StreamDescriptor]) -> list[Portion]:
    """Return the portions that a state covers, each once: inner ones first, then by catalog."""
    if state.scope is not None:
        return [(state.scope, state.key.id)]
    outer = [(stream, state.key.id) for stream in streams]
    return list(dict.fromkeys((*state.inner, *outer)))


class Readiness:
    """The rule, on the ledgers of one attempt."""

    def __init__(self, medium: Medium, ledgers: Mapping[StreamDescriptor, Ledger]) -> None:
        self._medium = medium
        self._ledgers = ledgers

    def shortfall(self, state: PendingState) -> Shortfall | None:
        """Return the first condition that holds the state back, or None when it is ready."""
        if state.kind is StateKind.SNAPSHOT:
            return self._of_snapshot(state)
        covered = portions(state, self._ledgers)
        return self._not_durable(covered) or self._not_counted(state, covered)

    def _of_snapshot(self, state: PendingState) -> Shortfall | None:
        """Look at the inner portions. The outer id matters when they are not the whole count."""
        inner = list(dict.fromkeys(state.inner))
        short = self._not_durable(inner)
        if short is not None or self._not_counted(state, inner) is None:
            return short
        covered = portions(state, self._ledgers)
        return self._not_durable(covered) or self._not_counted(state, covered)

    def _not_durable(self, covered: list[Portion]) -> Shortfall | None:
        for stream, identity in covered:
            ledger = self._ledgers[stream]
            if not self.sufficient(ledger, identity):
                return Shortfall(
                    obstacle=Obstacle.DURABILITY,
                    expected=ledger.read_for(identity),
                    found=ledger.accounted(identity),
                    stream=stream,
                    id=identity,
                )
        return None

    def _not_counted(self, state: PendingState, covered: list[Portion]) -> Shortfall | None:
        if self._medium is Medium.STDIO:
            return None
        found = self.found(covered)
        expected = state.source_count or 0  # on sockets none is read without a count
        if self.counts_agree(expected, found):
            return None
        return Shortfall(obstacle=Obstacle.SOURCE_COUNT, expected=expected, found=found)

    def found(self, covered: list[Portion]) -> int:
        """Return how many records of these portions are committed or rejected."""
        return sum(self._ledgers[stream].committed(i).accounted for stream, i in covered)

    def sufficient(self, ledger: Ledger, identity: CheckpointId) -> bool:
        """Return whether the records read for an id are all durable."""
        return ledger.sufficient(identity)

    def counts_agree(self, expected: int, found: int) -> bool:
        """Return whether the durable records are those that the source counted."""
        return found == expected
