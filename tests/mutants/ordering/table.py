"""Mutants of the ordering core, by name.

A mutant is made like the right core, from its parameters, and differs in one rule.  The ones of
profile `spec` are mutants: some conformance vector and some simulated run must tell each from the
right core.  The others show the defects of a public implementation and reproduce the vectors that
describe them.
"""

from __future__ import annotations

from ckptsim.models import ordering
from ckptsim.models.ordering.events import Effect
from ckptsim.models.ordering.lifecycle import Lifecycle
from ckptsim.models.ordering.terms import Inference
from ckptsim.sim.mutants import shown
from ckptsim.sim.mutants.mutant import Mutant, by_name
from tests.mutants.ordering import upstream

SLOT = "ordering"


class LexicographicShelf(ordering.release.Shelf):
    """Indexes are compared as texts, so 10 comes before 2."""

    def candidates(self) -> list[ordering.release.PendingState]:
        """Return the first state by text, if its predecessor went."""
        head = min(self._pending, key=str, default=0)
        return [self._pending[head]] if head == self.last_released + 1 else []


class AtLeastReadiness(ordering.release.Readiness):
    """More records than the source counted are fine."""

    def counts_agree(self, expected: int, found: int) -> bool:
        """Compare with `>=`."""
        return found >= expected


class NoLocalCheckReadiness(ordering.release.Readiness):
    """Whether the records that were read are durable is not looked at."""

    def sufficient(self, ledger: ordering.release.Ledger, identity: str) -> bool:
        """Agree always."""
        del ledger, identity
        return True


class RejectsIgnoredReadiness(ordering.release.Readiness):
    """Rejected records are taken for missing ones."""

    def sufficient(self, ledger: ordering.release.Ledger, identity: str) -> bool:
        """Compare committed records alone with those read."""
        return ledger.committed(identity).records == ledger.read_for(identity)

    def found(self, covered: list[tuple[ordering.StreamDescriptor, str]]) -> int:
        """Count committed records alone."""
        return sum(self._ledgers[stream].committed(i).records for stream, i in covered)


class LevelsAddedReadiness(ordering.release.Readiness):
    """The two levels are taken for different records."""

    def sufficient(self, ledger: ordering.release.Ledger, identity: str) -> bool:
        """Compare the sum of both levels with the records read."""
        return upstream.levels_sum(ledger, identity) == ledger.read_for(identity)

    def found(self, covered: list[tuple[ordering.StreamDescriptor, str]]) -> int:
        """Count both levels."""
        return sum(upstream.levels_sum(self._ledgers[stream], i) for stream, i in covered)


class TotalsFirstReleaser(ordering.release.Releaser):
    """The totals grow before the send, and again with each new attempt at it."""

    def _send(self, state: ordering.release.PendingState) -> Effect:
        effect = super()._send(state)
        if self._outgoing is not None:
            self._totals.update(self._outgoing.totals)
        return effect


class MixedShelves(ordering.release.Shelves):
    """States of streams and of the whole sync are accepted together."""

    def refusal(
        self, scope: ordering.Scope, key: ordering.CheckpointKey
    ) -> ordering.Refusal | None:
        """Look at the key alone."""
        return self.of(scope).refusal(key)

    def in_use(self) -> tuple[ordering.release.Shelf, ...]:
        """Return all shelves."""
        return self._all


class OneCounterInference(Inference):
    """All streams share one counter of intervals."""

    def end_interval(self, stream: ordering.StreamDescriptor) -> None:
        """Begin the next interval of every stream."""
        del stream
        self.end_all_intervals()


class EarlyReturnReleaser(ordering.release.Releaser):
    """The first scope that is not ready ends the pass for all."""

    def _look_on(self) -> list[Effect]:
        shelves = self._shelves.in_use()
        while self._position < len(shelves):
            shelf = shelves[self._position]
            for state in shelf.candidates():
                if self._readiness.shortfall(state) is None:
                    return [self._send(state)]
            self._position = len(shelves) if len(shelf) else self._position + 1
        return self._restart_pass() if self._again else self._end_pass()


class FlushDroppedReleaser(ordering.release.Releaser):
    """A flush that is requested during a send is dropped."""

    def request_flush(self) -> list[Effect]:
        """Start a pass unless one is under way."""
        return [] if self._outgoing is not None else super().request_flush()


class ReplacingShelf(ordering.release.Shelf):
    """A second state with a pending index takes the place, not the id, of the first."""

    def refusal(self, key: ordering.CheckpointKey) -> ordering.Refusal | None:
        """Refuse what the right shelf refuses, except for a pending index."""
        return None if self._is_pending(key.index) else super().refusal(key)

    def add(self, state: ordering.release.PendingState) -> None:
        """Keep the old key, as a sorted map with keys by index alone does."""
        super().add(upstream.under_old_key(self._pending, state))

    def _is_pending(self, index: ordering.CheckpointIndex) -> bool:
        return index in self._pending


class StaleAcceptedShelf(ordering.release.Shelf):
    """A state that went already is accepted again and stays before all others."""

    def refusal(self, key: ordering.CheckpointKey) -> ordering.Refusal | None:
        """Refuse what the right shelf refuses, except for an index that went."""
        refusal = super().refusal(key)
        return None if refusal is ordering.Refusal.STALE_INDEX else refusal

    def candidates(self) -> list[ordering.release.PendingState]:
        """Return the lowest state if it is the next one."""
        head = self.head
        return [self._pending[head]] if head == self.last_released + 1 else []


class LateCompleteLifecycle(Lifecycle):
    """COMPLETE is accepted on any channel, and ends its stream after the last close as well."""

    def complete_refusal(
        self, stream: ordering.StreamDescriptor, channel: int
    ) -> ordering.Refusal | None:
        """Refuse what the right lifecycle refuses, except for a channel that has ended."""
        refusal = super().complete_refusal(stream, channel)
        return None if refusal is ordering.Refusal.STREAM_CLOSED else refusal

    def complete(self, stream: ordering.StreamDescriptor) -> bool:
        """End the stream at once when no channel is left to wait for."""
        late = self.input_closed and stream not in self._ended
        ends = super().complete(stream) or late
        if ends:
            self._ended[stream] = None
        return ends


def _mutant(name: str, says: str, parts: ordering.Parts) -> Mutant:
    return Mutant(name, says, SLOT, lambda parameters: ordering.OrderingCore(parameters, parts))


MUTANTS = by_name(
    shown.MUTANTS["no_ordering"],
    shown.MUTANTS["gaps_tolerated"],
    shown.MUTANTS["arrival_order"],
    _mutant(
        "lexicographic_order",
        "Orders indexes as texts, so that 10 comes before 2.",
        ordering.Parts(shelf=LexicographicShelf),
    ),
    _mutant(
        "no_source_count",
        "Does not compare with the source's count, so records under way are overlooked.",
        ordering.Parts(readiness=upstream.NoSourceCountReadiness),
    ),
    _mutant(
        "at_least",
        "Compares with the source's count by `>=` instead of equality.",
        ordering.Parts(readiness=AtLeastReadiness),
    ),
    _mutant(
        "rejects_ignored",
        "Takes rejected records for missing ones, so that one of them blocks for ever.",
        ordering.Parts(readiness=RejectsIgnoredReadiness),
    ),
    _mutant(
        "levels_added",
        "Adds the levels persisted and complete, which count the same records.",
        ordering.Parts(readiness=LevelsAddedReadiness),
    ),
    _mutant(
        "no_local_check",
        "Does not look whether the records that were read are durable.",
        ordering.Parts(readiness=NoLocalCheckReadiness),
    ),
    shown.MUTANTS["cursor_before_send"],
    _mutant(
        "totals_before_send",
        "Adds to the totals before the send, so that a failed send counts twice.",
        ordering.Parts(releaser=TotalsFirstReleaser),
    ),
    _mutant(
        "kinds_mixed",
        "Accepts states of streams and of the whole sync in one attempt.",
        ordering.Parts(shelves=MixedShelves),
    ),
    _mutant(
        "one_counter",
        "Infers keys on STDIO from one counter for all streams.",
        ordering.Parts(inference=OneCounterInference),
    ),
    _mutant(
        "early_return",
        "Ends the pass at the first scope that is not ready, which starves the others.",
        ordering.Parts(releaser=EarlyReturnReleaser),
    ),
    _mutant(
        "flush_dropped",
        "Drops a flush that is requested while a send is outstanding.",
        ordering.Parts(releaser=FlushDroppedReleaser),
    ),
    _mutant(
        "removed_before_send",
        "Removes a state before its send, so that a failed send loses it.",
        ordering.Parts(releaser=upstream.RemovedFirstReleaser),
    ),
    _mutant(
        "message_replaced",
        "Puts a second state of an index under the first one's id.",
        ordering.Parts(shelf=ReplacingShelf),
    ),
    _mutant(
        "stale_accepted",
        "Accepts an index that went already and waits on it for ever.",
        ordering.Parts(shelf=StaleAcceptedShelf),
    ),
    _mutant(
        "complete_after_close",
        "Accepts COMPLETE on a channel that has ended, so that a stream ends twice.",
        ordering.Parts(lifecycle=LateCompleteLifecycle),
    ),
    Mutant(
        "upstream",
        "The public checkpoint manager of 2026 with all its known defects.",
        SLOT,
        upstream.make_upstream,
        profile="upstream",
    ),
    Mutant(
        "pr60886",
        "PR #60886 on sockets: reads are not counted and counts are not compared.",
        SLOT,
        upstream.make_pr60886,
        profile="pr60886",
    ),
    Mutant(
        "dataflow",
        "The public dataflow design: flushed counts alone, removed before publication.",
        SLOT,
        upstream.make_dataflow,
        profile="upstream",
        engines=("ss",),
    ),
    Mutant(
        "unscoped",
        "The dataflow design before its counts were kept per stream.",
        SLOT,
        upstream.make_unscoped,
        profile="unscoped",
        engines=("ss",),
    ),
)
