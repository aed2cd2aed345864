"""The rule that says whether a state's records are all there, and which of them are not.

A state is ready when every record read for its ids is durable and, on SOCKET, the durable records
are as many as the source says it sent.  The second half is essential there: while records are still
under way on another socket, all records read so far may be durable, or none may have been read.  On
STDIO a state ends its interval, so the first half is enough.  Both compare for
equality: more than expected is as wrong as less.

Source: airbytehq/airbyte, bulk load CDK, `CheckpointManager` (2026) and PR #61327.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ckptsim.models.ordering.blocking import Obstacle, Shortfall
from ckptsim.models.ordering.release.ledger import Ledger
from ckptsim.models.ordering.release.shelves import PendingState
from ckptsim.models.ordering.terms import CheckpointId, Medium, StateKind, StreamDescriptor

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
