"""The rules of the ordering protocol, stated naively: from lists of what was read and reported.

Source: the protocol's own description (docs/ordering.md) and airbytehq/airbyte, PR #60886 with the
checks of the 2026 checkpoint manager; not the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ckptsim.models import ordering
from ckptsim.models.ordering import Count, Level, Medium, Obstacle, Refusal, StateKind
from ckptsim.sim.rules.naive import Naive

_ZERO = Count()
_Stream = ordering.StreamDescriptor
_Portion = tuple[_Stream, str]


@dataclass(frozen=True, slots=True)
class _State:
    """An accepted state."""

    scope: ordering.Scope
    index: int
    id: str
    read: ordering.StateRead
    inner: tuple[_Portion, ...]
    listed: tuple[_Stream, ...]


class OrderingAnswers(Naive):
    """What an ordering core is to answer, from the facts of its attempt."""

    def __init__(self, parameters: ordering.OrderingParameters) -> None:
        self._sockets = parameters.medium is Medium.SOCKET
        self._channels = range(parameters.channels)
        # Facts, in the order in which they happened.
        self._catalog = list(parameters.streams)
        self._reads: dict[_Portion, tuple[int, ...]] = {}
        self._durable: dict[tuple[_Stream, Level, str], tuple[Count, ...]] = {}
        self._states: list[_State] = []
        self._sent: list[_State] = []
        self._credits: list[tuple[_Portion, Count]] = []  # of sent states
        self._completes: list[_Stream] = []
        self._closed: list[int] = []
        self._verdicts: list[tuple[_Stream, ordering.Verdict]] = []
        # The pass: the state whose send is outstanding, and whether a flush was wanted meanwhile.
        self._outstanding: _State | None = None
        self._credit: list[tuple[_Portion, Count]] = []  # what its return adds
        self._wanted = False
        self._ending = "open"

    # What follows from the facts -----------------------------------------------------------

    def _read(self, stream: _Stream, identity: str | None = None) -> int:
        if identity is not None:
            return sum(self._reads.get((stream, identity), ()))
        return sum(sum(counts) for (s, _), counts in self._reads.items() if s == stream)

    def _at(self, level: Level, stream: _Stream, identity: str) -> Count:
        return sum(self._durable.get((stream, level, identity), ()), _ZERO)

    def _committed(self, portion: _Portion) -> Count:
        """Return the word of the level that accounts for more; COMPLETE is the later one."""
        persisted, complete = (self._at(level, *portion) for level in Level)
        return complete if complete.accounted >= persisted.accounted else persisted

    def _accounted(self, portion: _Portion) -> int:
        return max(self._at(level, *portion).accounted for level in Level)

    def _interval(self, stream: _Stream) -> int:
        """Return the number of the interval that the stream's records count for, on one pipe."""
        return 1 + sum(state.scope in (None, stream) for state in self._states)

    def _unsent(self, scope: ordering.Scope) -> list[_State]:
        return [s for s in self._states if s.scope == scope and s not in self._sent]

    def _last(self, scope: ordering.Scope) -> int:
        return max((state.index for state in self._sent if state.scope == scope), default=0)

    def _scopes(self) -> list[ordering.Scope]:
        if not self._states:
            return []
        return [None] if self._states[0].scope is None else list(self._catalog)

    def _closed_all(self) -> bool:
        return len(self._closed) == len(self._channels)

    def _ended(self, stream: _Stream) -> bool:
        return stream in self._completes and (not self._sockets or self._closed_all())

    def _incomplete(self) -> tuple[_Stream, ...]:
        return tuple(stream for stream in self._catalog if stream not in self._completes)

    def _covered(self, state: _State) -> list[_Portion]:
        if state.scope is not None:
            return [(state.scope, state.id)]
        outer = [(stream, state.id) for stream in self._catalog]
        return list(dict.fromkeys((*state.inner, *outer)))

    def _short(self, state: _State) -> ordering.Shortfall | None:
        """Return what the state waits for, or None when it may be released."""
        covered = self._covered(state)
        if state.read.kind is StateKind.SNAPSHOT:
            inner = list(dict.fromkeys(state.inner))
            short = self._not_durable(inner)
            if short is not None or self._not_counted(state, inner) is None:
                return short
        return self._not_durable(covered) or self._not_counted(state, covered)

    def _not_durable(self, covered: list[_Portion]) -> ordering.Shortfall | None:
        for portion in covered:
            read, found = self._read(*portion), self._accounted(portion)
            if read != found:
                stream, identity = portion
                return ordering.Shortfall(
                    obstacle=Obstacle.DURABILITY,
                    expected=read,
                    found=found,
                    stream=stream,
                    id=identity,
                )
        return None

    def _not_counted(self, state: _State, covered: list[_Portion]) -> ordering.Shortfall | None:
        found = sum(self._committed(portion).accounted for portion in covered)
        expected = state.read.source_count or 0
        if not self._sockets or found == expected:
            return None
        return ordering.Shortfall(obstacle=Obstacle.SOURCE_COUNT, expected=expected, found=found)

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
        blocked = tuple(self._blocked(scope) for scope in self._scopes() if self._unsent(scope))
        return ordering.FailSync(kind=kind, incomplete=self._incomplete(), blocked=blocked)

    def _blocked(self, scope: ordering.Scope) -> ordering.Blocked:
        unsent = self._unsent(scope)
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

    def _send(self, state: _State) -> ordering.SendState:
        covered = self._covered(state)
        self._outstanding = state
        self._credit = [(portion, self._uncredited(portion)) for portion in covered]
        totals = {
            stream: sum((c for (s, _), c in self._credits + self._credit if s == stream), _ZERO)
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
                destination=sum((self._committed(portion) for portion in covered), _ZERO),
                total=totals[state.scope] if state.scope else sum(totals.values(), _ZERO),
                per_stream=tuple((stream, totals[stream]) for stream in listed),
            ),
        )

    def _uncredited(self, portion: _Portion) -> Count:
        before = sum((count for p, count in self._credits if p == portion), _ZERO)
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
        before = self._at(event.level, event.stream, event.id).accounted
        if before + event.count + event.rejected > self._read(event.stream, event.id):
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

    def _state(self, event: ordering.StateRead) -> _State:
        scope = event.stream if event.kind is StateKind.STREAM else None
        index, identity = event.index, event.id
        if not self._sockets:
            index = self._interval(scope or self._catalog[0]) if scope or self._catalog else 1
            identity = str(index)
        snapshot = event.kind is StateKind.SNAPSHOT
        inner = tuple((s, i) for s, i in event.inner if i is not None) if snapshot else ()
        whole = tuple(dict.fromkeys(s for s, _ in inner)) if snapshot else tuple(self._catalog)
        listed = whole if event.listed is None else event.listed
        return _State(scope, index or 0, identity or "", event, inner, listed)

    # Facts ---------------------------------------------------------------------------------

    def take(self, event: Any) -> Sequence[Any]:  # noqa: C901, PLR0911 - one branch per event
        """Note an event that breaks no rule, and return the effects that it has."""
        match event:
            case ordering.RecordsRead():
                return self._take_records(event)
            case ordering.RecordsDurable():
                count = Count(event.count, event.size_bytes, event.rejected)
                report = (event.stream, event.level, event.id)
                self._durable[report] = (*self._durable.get(report, ()), count)
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

    def _end(self, stream: _Stream) -> ordering.EndStream:
        return ordering.EndStream(stream=stream, records_read=self._read(stream))
