"""The unsent states: one shelf per scope, and which shelves an attempt uses.

A shelf holds states of one scope by index and has the scope's cursor, the last released index.
Exactly one state may go next, the one right after the cursor.  States arrive in any order.

Source: airbytehq/airbyte, PR #60886 (key, sorted map, contiguity from 1).  Refusing a second use
of an index or of an id is this core's own: the original replaced the message under the old id.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ckptsim.models.ordering import terms


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
    """All shelves of an attempt. The first accepted state decides whether the scopes are streams.

    shelf_type: the class of each shelf.
    """

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
