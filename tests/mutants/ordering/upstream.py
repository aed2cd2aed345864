"""Mutants that show a public implementation's defects together, as its threads show them.

Source: airbytehq/airbyte, bulk load CDK: `CheckpointManager` and `StreamManager` (2026), PR #60886
and PR #61327, `StateStore` and `StateHistogramStore` before and after they were scoped by stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ckptsim.models.ordering import (
    CheckpointId,
    CheckpointIndex,
    CheckpointKey,
    Count,
    Level,
    Medium,
    Obstacle,
    OrderingCore,
    OrderingDoor,
    OrderingParameters,
    Parts,
    Refusal,
    Shortfall,
    StateKind,
    StreamDescriptor,
    release,
)
from ckptsim.models.ordering.events import Effect, ReleaseStatistics
from ckptsim.models.ordering.terms import Inference


def levels_sum(ledger: release.Ledger, identity: CheckpointId) -> int:
    """Return the sum of what both levels account for."""
    return sum(ledger.at(level, identity).accounted for level in Level)


def under_old_key(
    pending: Mapping[CheckpointIndex, release.PendingState], state: release.PendingState
) -> release.PendingState:
    """Return the state under the key that its index has already, if it has one."""
    old = pending.get(state.key.index)
    return state if old is None else replace(state, key=old.key)


def joined_text(stream: StreamDescriptor, ordinal: CheckpointIndex) -> CheckpointId:
    """Return `[namespace-]name-n`, which different streams can share."""
    prefix = f"{stream.namespace}-" if stream.namespace is not None else ""
    return f"{prefix}{stream.name}-{ordinal}"


class UncheckedLedger(release.Ledger):
    """Takes every report, of whatever id and size."""

    def exceeds(self, level: Level, identity: CheckpointId, increment: Count) -> bool:
        """Refuse nothing."""
        del level, identity, increment
        return False

    def account(self, level: Level, identity: CheckpointId, increment: Count) -> None:
        """Add an increment, for an id that was never read as well."""
        self._ids.setdefault(identity, release.IdCounts())
        super().account(level, identity, increment)


class ComponentwiseLedger(UncheckedLedger):
    """Takes the maximum of each component over the levels for everything that is committed."""

    def committed(self, identity: CheckpointId) -> Count:
        """Return a triple that may account for more records than either level does."""
        levels = [self.at(level, identity) for level in Level]
        return Count(
            max(count.records for count in levels),
            max(count.size_bytes for count in levels),
            max(count.rejected for count in levels),
        )


class UnreadLedger(ComponentwiseLedger):
    """Never counts the data read, as sockets did when keys came up."""

    def read(self, identity: CheckpointId, count: int, size_bytes: int) -> None:
        """Count nothing for the id."""
        del identity, size_bytes
        self.records_read += count


class SortedMapShelf(release.Shelf):
    """A sorted map with keys by index alone, without a look at the old values."""

    def refusal(self, key: CheckpointKey) -> Refusal | None:
        """Refuse nothing."""
        del key
        return None

    def add(self, state: release.PendingState) -> None:
        """Replace the message of a pending index, under the old id."""
        super().add(under_old_key(self._pending, state))

    def candidates(self) -> list[release.PendingState]:
        """Return the lowest state if it is the next one."""
        head = self.head
        if head is None or head != self.last_released + 1:
            return []
        return [self._pending[head]]


class UpstreamReleaser(release.Releaser):
    """Cursor and totals before the send. A count that does not match ends the pass for all."""

    def _look_on(self) -> list[Effect]:
        shelves = self._shelves.in_use()
        while self._position < len(shelves):
            for state in shelves[self._position].candidates():
                short = self._readiness.shortfall(state)
                if short is None:
                    return [self._send(state)]
                if state.kind is StateKind.STREAM and short.obstacle is Obstacle.SOURCE_COUNT:
                    self._position = len(shelves)
            self._position += 1
        return self._restart_pass() if self._again else self._end_pass()

    def _send(self, state: release.PendingState) -> Effect:
        effect = super()._send(state)
        self._shelves.of(state.scope).last_released = state.key.index
        if self._outgoing is not None:
            self._totals.update(self._outgoing.totals)
        return effect


class UpstreamReleaser2026(UpstreamReleaser):
    """As before. On sockets a global state gets a copy of the source's count."""

    def _statistics(
        self,
        state: release.PendingState,
        covered: list[release.Portion],
        changed: dict[StreamDescriptor, Count],
    ) -> ReleaseStatistics:
        statistics = super()._statistics(state, covered, changed)
        if state.scope is not None or state.source_count is None:
            return statistics
        return replace(statistics, destination=Count(records=state.source_count))


class FlushedReadiness(release.Readiness):
    """Compares flushed counts with the source's, on every medium. Reads are not counted.

    In global scope each listed partition is summed over all streams.
    """

    def shortfall(self, state: release.PendingState) -> Shortfall | None:
        """Return the difference of the counts, or None."""
        found = sum(self.flushed(state, identity) for identity in self._partitions(state))
        if state.source_count == found:
            return None
        expected = state.source_count if state.source_count is not None else -1
        return Shortfall(obstacle=Obstacle.SOURCE_COUNT, expected=expected, found=found)

    def flushed(self, state: release.PendingState, identity: CheckpointId) -> int:
        """Return the records of a partition that were flushed, in the state's scope."""
        streams = self._ledgers if state.scope is None else (state.scope,)
        return sum(
            self._ledgers[stream].at(Level.PERSISTED, identity).records for stream in streams
        )

    def _partitions(self, state: release.PendingState) -> list[CheckpointId]:
        inner = [identity for _, identity in state.inner]
        return [*inner, *([] if state.key.id in inner else [state.key.id])]


class UnscopedReadiness(FlushedReadiness):
    """Sums a partition over all streams whatever the scope. Inferred ids are joined texts."""

    def _partitions(self, state: release.PendingState) -> list[CheckpointId]:
        if self._medium is Medium.SOCKET or state.scope is not None:
            return super()._partitions(state)
        return [joined_text(stream, state.key.index) for stream in self._ledgers]

    def flushed(self, state: release.PendingState, identity: CheckpointId) -> int:
        """Return the records flushed under the id by any stream."""
        del state
        return sum(
            ledger.at(Level.PERSISTED, identity).records for ledger in self._ledgers.values()
        )


class DoublingShelf(release.Shelf):
    """The same key again adds to the expected value of it."""

    def refusal(self, key: CheckpointKey) -> Refusal | None:
        """Refuse nothing."""
        del key
        return None

    def add(self, state: release.PendingState) -> None:
        """Replace the message and add up the counts."""
        old = self._pending.get(state.key.index)
        expected = (state.source_count or 0) + ((old.source_count or 0) if old else 0)
        super().add(replace(state, source_count=expected))

    def candidates(self) -> list[release.PendingState]:
        """Return the lowest state if it is the next one."""
        head = self.head
        if head is None or head != self.last_released + 1:
            return []
        return [self._pending[head]]


class RemovedFirstReleaser(release.Releaser):
    """The state leaves its shelf before the send, so a failed send loses it."""

    def _send(self, state: release.PendingState) -> Effect:
        effect = super()._send(state)
        if self._outgoing is not None:
            super()._commit(self._outgoing)
        return effect

    def _commit(self, outgoing: release.Outgoing) -> None:
        del outgoing  # done before the send


class JoinedTextInference(Inference):
    """Joins namespace, name and number into one text, which collides."""

    def id_of(self, stream: StreamDescriptor, ordinal: CheckpointIndex) -> CheckpointId:
        """Return `[namespace-]name-n`."""
        return joined_text(stream, ordinal)

    def stream_key(self, stream: StreamDescriptor) -> CheckpointKey:
        """Return the key with the joined text."""
        return CheckpointKey(self.ordinal(stream), self.current_id(stream))


UPSTREAM = Parts(ledger=ComponentwiseLedger, shelf=SortedMapShelf, releaser=UpstreamReleaser2026)
PR60886_STDIO = Parts(ledger=ComponentwiseLedger, shelf=SortedMapShelf, releaser=UpstreamReleaser)


class NoSourceCountReadiness(release.Readiness):
    """What the source counted is not looked at."""

    def counts_agree(self, expected: int, found: int) -> bool:
        """Agree always."""
        del expected, found
        return True


PR60886_SOCKET = replace(PR60886_STDIO, ledger=UnreadLedger, readiness=NoSourceCountReadiness)
DATAFLOW = Parts(
    ledger=UncheckedLedger,
    shelf=DoublingShelf,
    readiness=FlushedReadiness,
    releaser=RemovedFirstReleaser,
)
UNSCOPED = replace(DATAFLOW, readiness=UnscopedReadiness, inference=JoinedTextInference)


def make_upstream(parameters: OrderingParameters) -> OrderingDoor:
    """Build the checkpoint manager of 2026 with its defects."""
    return OrderingCore(parameters, UPSTREAM)


def make_pr60886(parameters: OrderingParameters) -> OrderingDoor:
    """Build the checkpoint manager as it was when keys came up."""
    sockets = parameters.medium is Medium.SOCKET
    return OrderingCore(parameters, PR60886_SOCKET if sockets else PR60886_STDIO)


def make_dataflow(parameters: OrderingParameters) -> OrderingDoor:
    """Build the dataflow design."""
    return OrderingCore(parameters, DATAFLOW)


def make_unscoped(parameters: OrderingParameters) -> OrderingDoor:
    """Build the dataflow design before its counts were kept per stream."""
    return OrderingCore(parameters, UNSCOPED)
