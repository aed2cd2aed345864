"""The pass that releases states, one send at a time, and the end of the sync.

Two small machines.  The *pass* is idle or has one send outstanding:

    idle     + flush requested        -> look at every scope; send the first ready state -> sending
    sending  + state sent             -> cursor, totals and shelf move; look on from the same scope
    sending  + send failed            -> nothing moved; the pass is over
    sending  + flush requested        -> remembered: a whole new pass follows, whatever comes out

The *ending* is open, waiting or last. While it waits a timer runs, and every change starts a pass.
The last pass gives the verdict.

Promised: nothing is removed and no cursor or total moves before the send has returned. What a state
carries is what the totals become.  Streams are independent: a state that is not ready stops its own
scope only.  Not promised: that a send is tried again without a further request, except while
waiting for the end.

Source: airbytehq/airbyte, PR #60886 (send, then move, the merged code moved the cursor first), PR
#46649 (a flush request must not be dropped), PR #51043 (no scope may stop the others).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering.events import (
    CancelFinishTimer,
    CompleteSync,
    Effect,
    FailSync,
    FinishRequested,
    FinishTimerFired,
    ReleaseStatistics,
    SendFailed,
    SendState,
    SetFinishTimer,
    StateSent,
)
from ckptsim.models.ordering.lifecycle import Lifecycle
from ckptsim.models.ordering.release.ledger import (
    Ledger,
    PendingState,
    Portion,
    Readiness,
    Shelf,
    Shelves,
    portions,
)
from ckptsim.models.ordering.terms import ZERO, Blocked, Count, Obstacle, Refusal, StreamDescriptor


class EndOfSync(IntEnum):
    """How far the end of the sync is."""

    OPEN = 0
    WAITING = 1
    LAST = 2


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The outstanding state. credit: what each portion adds. totals: the new ones."""

    state: PendingState
    credit: tuple[tuple[Portion, Count], ...]
    totals: dict[StreamDescriptor, Count]


class Releaser:
    """Passes over the shelves of one attempt, its running totals, and its end."""

    def __init__(
        self,
        shelves: Shelves,
        ledgers: Mapping[StreamDescriptor, Ledger],
        lifecycle: Lifecycle,
        readiness: Readiness,
    ) -> None:
        self._shelves = shelves
        self._ledgers = ledgers
        self._lifecycle = lifecycle
        self._readiness = readiness
        self._totals: dict[StreamDescriptor, Count] = dict.fromkeys(ledgers, ZERO)
        self._position = 0  # the scope that the pass looks at
        self._again = False  # a flush was requested while a send was outstanding
        self._outgoing: Outgoing | None = None
        self._ending = EndOfSync.OPEN

    def announce(self, stream: StreamDescriptor) -> None:
        """Add a stream to the totals."""
        self._totals[stream] = ZERO

    @property
    def outgoing(self) -> PendingState | None:
        """The outstanding state, or None."""
        return None if self._outgoing is None else self._outgoing.state

    @property
    def again(self) -> bool:
        """Whether a new pass follows the present one."""
        return self._again

    @property
    def ending(self) -> EndOfSync:
        """How far the end of the sync is."""
        return self._ending

    @property
    def totals(self) -> tuple[tuple[StreamDescriptor, Count], ...]:
        """The running totals of released states, by stream in the order of the catalog."""
        return tuple(self._totals.items())

    def request_flush(self) -> list[Effect]:
        """Start a pass, or remember that one is wanted."""
        if self._outgoing is not None:
            self._again = True
            return []
        self._position = 0
        return self._look_on()

    def flush_if_waiting(self) -> list[Effect]:
        """Start a pass when the sync waits for its end: something has changed."""
        return self.request_flush() if self._ending is EndOfSync.WAITING else []

    def request_finish(self, event: FinishRequested) -> list[Effect]:
        """Begin the end of the sync."""
        if self._ending is not EndOfSync.OPEN:
            raise ProtocolError(
                Refusal.ALREADY_FINISHING, state=f"ending {self._ending.name}", event=event
            )
        if event.wait_ns > 0:
            self._ending = EndOfSync.WAITING
            return [SetFinishTimer(wait_ns=event.wait_ns), *self.request_flush()]
        self._ending = EndOfSync.LAST
        return self.request_flush()

    def end_wait(self, event: FinishTimerFired) -> list[Effect]:
        """Make the next pass the last. A timer that fires after the verdict means nothing."""
        del event
        if self._ending is not EndOfSync.WAITING:
            return []
        self._ending = EndOfSync.LAST
        return self.request_flush()

    def confirm(self, event: StateSent) -> list[Effect]:
        """Move cursor, totals and shelf now that the send has returned, and look on."""
        outgoing = self._expected(event)
        self._outgoing = None
        self._commit(outgoing)
        return self._look_on()

    def fail(self, event: SendFailed) -> list[Effect]:
        """Stop the pass with nothing moved. A remembered request starts a new one."""
        self._expected(event)
        self._outgoing = None
        if self._again:
            return self._restart_pass()
        if self._ending is EndOfSync.LAST:
            self._ending = EndOfSync.OPEN
            return [self._failure(Refusal.SEND_FAILED)]
        return []

    def blocked(self) -> tuple[Blocked, ...]:
        """Say for every scope with unsent states which is next and what it waits for."""
        return tuple(self._explain(shelf) for shelf in self._shelves.in_use() if len(shelf))

    def _look_on(self) -> list[Effect]:
        """Send the next ready state from the present scope on, or end the pass."""
        shelves = self._shelves.in_use()
        while self._position < len(shelves):
            for state in shelves[self._position].candidates():
                if self._readiness.shortfall(state) is None:
                    return [self._send(state)]
            self._position += 1
        return self._restart_pass() if self._again else self._end_pass()

    def _restart_pass(self) -> list[Effect]:
        self._again = False
        self._position = 0
        return self._look_on()

    def _end_pass(self) -> list[Effect]:
        """Give the verdict if this pass was the last, or if there is nothing to wait for."""
        if self._ending is EndOfSync.OPEN:
            return []
        incomplete = self._lifecycle.incomplete
        well = not incomplete and not len(self._shelves)
        waiting = self._ending is EndOfSync.WAITING
        if waiting and not well:
            return []
        self._ending = EndOfSync.OPEN
        if well:
            return [CancelFinishTimer(), CompleteSync()] if waiting else [CompleteSync()]
        kind = Refusal.INCOMPLETE_STREAMS if incomplete else Refusal.UNFLUSHED_STATES
        return [self._failure(kind)]

    def _failure(self, kind: Refusal) -> FailSync:
        return FailSync(kind=kind, incomplete=self._lifecycle.incomplete, blocked=self.blocked())

    def _send(self, state: PendingState) -> Effect:
        """Make the send of a ready state the outstanding one. Nothing else moves yet."""
        covered = portions(state, self._ledgers)
        credit = tuple((p, self._ledgers[p[0]].uncredited(p[1])) for p in covered)
        changed: dict[StreamDescriptor, Count] = {}
        for (stream, _), count in credit:
            changed[stream] = changed.get(stream, self._totals[stream]) + count
        self._outgoing = Outgoing(state, credit, changed)
        return SendState(
            scope=state.scope,
            key=state.key,
            kind=state.kind,
            payload=state.payload,
            source_count=state.source_count,
            statistics=self._statistics(state, covered, changed),
        )

    def _statistics(
        self, state: PendingState, covered: list[Portion], changed: dict[StreamDescriptor, Count]
    ) -> ReleaseStatistics:
        """Return the attached counts. The totals are those with this state, not before it."""
        own = sum((self._ledgers[stream].committed(i) for stream, i in covered), ZERO)
        if state.scope is not None:
            return ReleaseStatistics(destination=own, total=changed[state.scope])
        totals = self._totals | changed
        return ReleaseStatistics(
            destination=own,
            total=sum(totals.values(), ZERO),
            per_stream=tuple((stream, totals[stream]) for stream in state.listed),
        )

    def _commit(self, outgoing: Outgoing) -> None:
        self._totals.update(outgoing.totals)
        for (stream, identity), count in outgoing.credit:
            self._ledgers[stream].release(identity, count)
        self._shelves.of(outgoing.state.scope).release(outgoing.state)

    def _expected(self, event: StateSent | SendFailed) -> Outgoing:
        outgoing = self._outgoing
        if (
            outgoing is None
            or outgoing.state.scope != event.scope
            or outgoing.state.key.index != event.index
        ):
            what = "none" if outgoing is None else f"state {outgoing.state.key.index}"
            raise ProtocolError(
                Refusal.UNEXPECTED_SEND_RESULT, state=f"outstanding: {what}", event=event
            )
        return outgoing

    def _explain(self, shelf: Shelf) -> Blocked:
        """Say what a shelf with states waits for."""
        candidates = shelf.candidates()
        state = candidates[0] if candidates else None
        short = None if state is None else self._readiness.shortfall(state)
        obstacle = Obstacle.FLUSH if short is None else short.obstacle
        if state is None:
            obstacle = Obstacle.PREDECESSOR
        elif state is self.outgoing:
            obstacle = Obstacle.SEND
        return Blocked(
            scope=shelf.scope,
            next_index=shelf.last_released + 1,
            lowest=shelf.indexes[0],
            pending=len(shelf),
            obstacle=obstacle,
            key=None if state is None else state.key,
            shortfall=short,
        )
