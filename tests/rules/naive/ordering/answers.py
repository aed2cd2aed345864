"""The rules of the ordering protocol, stated naively: what follows from which event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckptsim.models import ordering
from ckptsim.models.ordering import Count, Obstacle, Refusal, StateKind
from tests.rules.naive.ordering.facts import ZERO, AcceptedState, OrderingFacts, Portion, Stream


class OrderingAnswers(OrderingFacts):
    """What an ordering core is to answer, from the facts of its attempt."""

    # The pass ------------------------------------------------------------------------------

    def _flush(self) -> list[Any]:
        """Begin a pass; while a send is outstanding, note that one is wanted."""
        if self._outstanding is not None:
            self._wanted = True
            return []
        return self._look(self._scopes())

    def _flush_if_waiting(self) -> list[Any]:
        return self._flush() if self._ending == "waiting" else []

    def _look(self, scopes: Sequence[ordering.Scope]) -> list[Any]:
        """Send what can be sent first; else begin a wanted pass, or give the verdict."""
        for scope in scopes:
            for state in self._unsent(scope):
                if state.index == self._last(scope) + 1 and self._short(state) is None:
                    return [self._send(state)]
        if self._wanted:
            self._wanted = False
            return self._look(self._scopes())
        return self._verdict()

    def _verdict(self) -> list[Any]:
        incomplete = self._incomplete()
        well = not incomplete and len(self._sent) == len(self._states)
        if self._ending == "open" or (self._ending == "waiting" and not well):
            return []
        waited, self._ending = self._ending == "waiting", "open"
        if well:
            return [*([ordering.CancelFinishTimer()] if waited else []), ordering.CompleteSync()]
        return [self._fail(Refusal.INCOMPLETE_STREAMS if incomplete else Refusal.UNFLUSHED_STATES)]

    def _fail(self, kind: Refusal) -> ordering.FailSync:
        return ordering.FailSync(
            kind=kind, incomplete=self._incomplete(), blocked=self._all_blocked()
        )

    def _all_blocked(self) -> tuple[ordering.Blocked, ...]:
        waiting = [(scope, self._unsent(scope)) for scope in self._scopes()]
        return tuple(self._blocked(scope, unsent) for scope, unsent in waiting if unsent)

    def _blocked(self, scope: ordering.Scope, unsent: list[AcceptedState]) -> ordering.Blocked:
        following = self._last(scope) + 1
        state = next((each for each in unsent if each.index == following), None)
        short = None if state is None else self._short(state)
        obstacle = Obstacle.FLUSH if short is None else short.obstacle
        if state is None:
            obstacle = Obstacle.PREDECESSOR
        elif state is self._outstanding:
            obstacle = Obstacle.SEND
        return ordering.Blocked(
            scope=scope,
            next_index=following,
            lowest=min(each.index for each in unsent),
            pending=len(unsent),
            obstacle=obstacle,
            key=None if state is None else ordering.CheckpointKey(state.index, state.id),
            shortfall=short,
        )

    def _send(self, state: AcceptedState) -> ordering.SendState:
        covered = self._covered(state)
        self._outstanding = state
        self._credit = [(portion, self._uncredited(portion)) for portion in covered]
        taken = [(s, count) for (s, _), count in self._credits + self._credit]
        taken += self._folded_credits
        totals = {
            stream: sum((count for s, count in taken if s == stream), ZERO)
            for stream in self._catalog
        }
        listed = () if state.scope else state.listed
        return ordering.SendState(
            scope=state.scope,
            key=ordering.CheckpointKey(state.index, state.id),
            kind=state.read.kind,
            payload=state.read.payload,
            source_count=state.read.source_count,
            statistics=ordering.ReleaseStatistics(
                destination=sum((self._committed(portion) for portion in covered), ZERO),
                total=totals[state.scope] if state.scope else sum(totals.values(), ZERO),
                per_stream=tuple((stream, totals[stream]) for stream in listed),
            ),
        )

    def _uncredited(self, portion: Portion) -> Count:
        before = sum((count for p, count in self._credits if p == portion), ZERO)
        return self._committed(portion) - before

    # Refusals ------------------------------------------------------------------------------

    def refusals(self, event: Any) -> list[str]:
        """Return why the event breaks a rule: any of these, for a state the first."""
        if isinstance(event, ordering.StateRead):
            return list(self._state_refusals(event))
        stream = getattr(event, "stream", None)
        known = stream in self._catalog or isinstance(event, ordering.StreamAnnounced)
        if stream is not None and not known:
            return [Refusal.UNKNOWN_STREAM]
        found: list[Refusal] = []
        match event:
            case ordering.RecordsRead():
                found = self._record_refusals(event)
            case ordering.RecordsDurable():
                found = self._report_refusals(event)
            case ordering.CompleteRead():
                found = self._channel_refusals(event.channel, Refusal.STREAM_CLOSED)
                if not self._sockets and event.stream in self._completes:
                    found.append(Refusal.ALREADY_CLOSED)
            case ordering.ChannelClosed():
                found = self._channel_refusals(event.channel, Refusal.ALREADY_CLOSED)
            case ordering.StateSent() | ordering.SendFailed():
                sending = self._outstanding
                if sending is None or (sending.scope, sending.index) != (event.scope, event.index):
                    found = [Refusal.UNEXPECTED_SEND_RESULT]
            case ordering.FinishRequested() if self._ending != "open":
                found = [Refusal.ALREADY_FINISHING]
            case ordering.ProcessingSucceeded() if not self._ended(event.stream):
                found = [Refusal.NOT_CLOSED]
        return list(found)

    def _channel_refusals(self, channel: int, closed: Refusal) -> list[Refusal]:
        if channel not in self._channels:
            return [Refusal.UNKNOWN_CHANNEL]
        return [closed] if channel in self._closed else []

    def _record_refusals(self, event: ordering.RecordsRead) -> list[Refusal]:
        found = self._channel_refusals(event.channel, Refusal.STREAM_CLOSED)
        if min(event.count, event.size_bytes) < 0:
            found.append(Refusal.INVALID_COUNT)
        if self._sockets and event.id is None:
            found.append(Refusal.MISSING_PARTITION_ID)
        if self._ended(event.stream):
            found.append(Refusal.STREAM_CLOSED)
        return found

    def _report_refusals(self, event: ordering.RecordsDurable) -> list[Refusal]:
        found = []
        if min(event.count, event.size_bytes, event.rejected) < 0:
            found.append(Refusal.INVALID_COUNT)
        left = self._folded_left(event.stream, event.level)
        if (event.stream, event.id) in self._reads:
            before = self._accounted_at(event.level, event.stream, event.id)
            left = self._read(event.stream, event.id) - before
        if event.count + event.rejected > left:
            found.append(Refusal.OVER_COUNT)
        return found

    def _state_refusals(self, event: ordering.StateRead) -> list[Refusal]:
        named = [stream for stream, _ in event.inner] + list(event.listed or ())
        if event.kind is StateKind.STREAM:
            named.append(event.stream)  # type: ignore[arg-type]
        if any(stream not in self._catalog for stream in named):
            return [Refusal.UNKNOWN_STREAM]
        snapshot = event.kind is StateKind.SNAPSHOT
        keys = [event.index, event.id, *(i for _, i in event.inner if snapshot)]
        if (snapshot and not self._sockets) or (self._sockets and None in keys):
            return [Refusal.MISSING_CHECKPOINT_KEY]
        if self._sockets and event.source_count is None:
            return [Refusal.MISSING_SOURCE_STATS]
        state = self._state(event)
        if self._states and (self._states[0].scope is None) != (state.scope is None):
            # On one pipe the intervals of streams differ perhaps, which is as good a reason.
            return [Refusal.MIXED_STATE_TYPES, Refusal.ORDINAL_MISMATCH]
        here = [each for each in self._states if each.scope == state.scope]
        if state.index < 1:
            return [Refusal.INVALID_INDEX]
        if any(each.index == state.index for each in self._unsent(state.scope)):
            return [Refusal.DUPLICATE_INDEX]
        if state.index <= self._last(state.scope):
            return [Refusal.STALE_INDEX]
        return [Refusal.DUPLICATE_ID] if state.id in [each.id for each in here] else []

    def _state(self, event: ordering.StateRead) -> AcceptedState:
        scope = event.stream if event.kind is StateKind.STREAM else None
        index, identity = event.index, event.id
        if not self._sockets:
            index = self._interval(scope or self._catalog[0]) if scope or self._catalog else 1
            identity = str(index)
        snapshot = event.kind is StateKind.SNAPSHOT
        inner = tuple((s, i) for s, i in event.inner if i is not None) if snapshot else ()
        whole = tuple(dict.fromkeys(s for s, _ in inner)) if snapshot else tuple(self._catalog)
        listed = whole if event.listed is None else event.listed
        return AcceptedState(scope, index or 0, identity or "", event, inner, listed)

    # Facts ---------------------------------------------------------------------------------

    def take(self, event: Any) -> Sequence[Any]:  # noqa: C901, PLR0911 - one branch per event
        """Note an event that breaks no rule, and return the effects that it has."""
        match event:
            case ordering.RecordsRead():
                return self._take_records(event)
            case ordering.RecordsDurable():
                self._take_report(event)
                return self._flush_if_waiting()
            case ordering.StateRead():
                self._states.append(self._state(event))
                return self._flush_if_waiting()
            case ordering.FlushRequested():
                return self._flush()
            case ordering.StateSent():
                return self._take_sent(event)
            case ordering.SendFailed():
                return self._take_failed()
            case ordering.CompleteRead():
                self._completes.append(event.stream)
                if self._sockets:
                    return self._flush_if_waiting()
                return [self._end(event.stream), *self._flush_if_waiting()]
            case ordering.ChannelClosed():
                return self._take_close(event.channel)
            case ordering.ProcessingSucceeded():
                self._verdicts.append((event.stream, ordering.Verdict.SUCCEEDED))
            case ordering.ProcessingFailed():
                self._verdicts.append((event.stream, ordering.Verdict.FAILED))
            case ordering.FinishRequested():
                waits = event.wait_ns > 0
                self._ending = "waiting" if waits else "last"
                timer = ordering.SetFinishTimer(wait_ns=event.wait_ns)
                return [*([timer] if waits else []), *self._flush()]
            case ordering.FinishTimerFired() if self._ending == "waiting":
                self._ending = "last"
                return self._flush()
            case ordering.StreamAnnounced() if event.stream not in self._catalog:
                self._catalog.append(event.stream)
        return []

    def _take_records(self, event: ordering.RecordsRead) -> list[Any]:
        identity = event.id if self._sockets else str(self._interval(event.stream))
        fresh = not self._read(event.stream)
        portion = (event.stream, identity or "")
        if event.count or event.size_bytes:
            self._reads[portion] = (*self._reads.get(portion, ()), event.count)
        if event.count == 0:
            return []
        passed = ordering.PassRecords(
            stream=event.stream,
            id=identity or "",
            count=event.count,
            size_bytes=event.size_bytes,
        )
        return [*([ordering.OpenStream(stream=event.stream)] if fresh else []), passed]

    def _take_sent(self, event: ordering.StateSent) -> list[Any]:
        sent, self._outstanding = self._outstanding, None
        if sent is not None:
            self._sent.append(sent)
        self._credits += self._credit
        for portion, _ in self._credit:
            if portion in self._reads and portion not in self._released:
                self._released.append(portion)
                self._fold_oldest(portion[0])
        return self._look(self._scopes()[self._scopes().index(event.scope) :])

    def _take_failed(self) -> list[Any]:
        self._outstanding = None
        if self._wanted:
            self._wanted = False
            return self._look(self._scopes())
        if self._ending != "last":
            return []
        self._ending = "open"
        return [self._fail(Refusal.SEND_FAILED)]

    def _take_close(self, channel: int) -> list[Any]:
        before = [stream for stream in self._catalog if self._ended(stream)]
        self._closed.append(channel)
        effects: list[Any] = [ordering.EndChannel(channel=channel)]
        if not self._closed_all():
            return effects
        effects += [self._end(stream) for stream in self._catalog if stream not in before]
        effects.append(ordering.CloseInput())
        if self._incomplete():
            effects.append(ordering.ReportIncomplete(streams=self._incomplete()))
        return effects

    def _end(self, stream: Stream) -> ordering.EndStream:
        return ordering.EndStream(stream=stream, records_read=self._read(stream))
