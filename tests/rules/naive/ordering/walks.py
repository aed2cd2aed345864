"""Questions to an ordering core, and the events of its walks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from ckptsim.models import ordering
from ckptsim.models.ordering import Level, StateKind
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import one_line
from tests.rules.naive.ordering.answers import OrderingAnswers
from tests.rules.naive.ordering.facts import LEVELS, Stream


class OrderingRules(OrderingAnswers):
    """The rules with what can be asked of the core, and the events of its walks."""

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield "pending_count", core.pending_count(), len(self._states) - len(self._sent)
        blocked = self._all_blocked()
        yield "blocked", core.blocked(), blocked
        for each in blocked[:1]:
            scope = () if each.scope is None else (each.scope,)
            waits = each.lowest if each.key is None else each.key.index
            yield "that a line names what is blocked", one_line(str(each), waits, *scope), True
        if self._outstanding is not None:
            outgoing = self._outstanding.scope, self._outstanding.index
            yield "outgoing", core.observe().outgoing, outgoing
        for newest in list(self._reads)[-1:]:
            read, found = self._read(*newest), self._accounted(newest)
            yield f"records_read of {newest}", core.records_read(*newest), read
            yield f"records_sufficient of {newest}", core.records_sufficient(*newest), read == found
        for stream in self._catalog:
            yield f"records_read of {stream}", core.records_read(stream), self._read(stream)
            verdicts = [verdict for s, verdict in self._verdicts if s == stream]
            verdict = verdicts[0] if verdicts else ordering.Verdict.PENDING
            yield f"verdict of {stream}", core.verdict(stream), verdict
            done = self._ended(stream) and self._complete(stream) == self._read(stream)
            yield f"stream_done of {stream}", core.stream_done(stream), done
            if not self._sockets:
                interval = self._interval(stream)
                yield f"ordinal of {stream}", core.ordinal(stream), interval
                yield "inferred_id", core.inferred_id(stream, interval), str(interval)

    def stray(self, pick: Pick) -> Any:
        """Return what a right host may send next, more often than what it may not."""
        return self._plausible(pick) if not pick.one_in(4) else self._careless(pick)

    def _plausible(self, pick: Pick) -> Any:
        """Return an event with right numbers: records, reports, states, answers to sends."""
        if self._ending == "waiting" and pick.one_in(3):
            return ordering.FinishTimerFired()
        if self._outstanding is not None and not pick.one_in(3):
            sent = (self._outstanding.scope, self._outstanding.index)
            answer = ordering.SendFailed if pick.one_in(4) else ordering.StateSent
            return answer(scope=sent[0], index=sent[1])
        stream, identity = pick.of(self._catalog), pick.of(("p", "q", "r"))
        kind = pick.integer(0, 9)
        missing = self._missing() if kind < 3 else []
        if missing:
            stream, identity, level, left = pick.of(missing)
            # Of several folded ids each may report for itself.
            count = left if pick.one_in(2) else pick.integer(1, left)
            rejected = pick.integer(0, count) if pick.one_in(4) else 0
            return ordering.RecordsDurable(
                stream=stream,
                id=identity,
                count=count - rejected,
                size_bytes=pick.integer(0, 5),
                rejected=rejected,
                level=level,
            )
        if kind < 5:
            # More records of an id would keep a state that counts it from ever being released.
            unsent = [state for state in self._states if state not in self._sent]
            counted = [one for state in unsent for one in (state.id, *(i for _, i in state.inner))]
            if identity in counted and not pick.one_in(8):
                identity = next((each for each in "pqr" if each not in counted), "s")
            return ordering.RecordsRead(
                stream=stream,
                size_bytes=pick.integer(0, 9),
                count=pick.integer(0, 3),
                id=identity,
                channel=pick.of(self._channels),
            )
        if kind < 8:
            return self._next_state(pick, stream, identity)
        if self._states and self._ending == "open" and pick.one_in(4):
            return ordering.FinishRequested(wait_ns=5)
        return ordering.FlushRequested()

    def _missing(self) -> list[tuple[Stream, str, Level, int]]:
        """Return which reports are still to come, and how many records each accounts for.

        Of the ids whose counters are folded the records of all are left together.
        """
        found = [
            (*portion, level, self._read(*portion) - self._accounted_at(level, *portion))
            for portion in self._reads
            for level in LEVELS
        ]
        folded = [state.id for state in self._sent if (state.scope, state.id) not in self._reads]
        found += [
            (stream, folded[-1], level, self._folded_left(stream, level))
            for stream in self._catalog
            for level in LEVELS
            if folded and (stream, folded[-1]) not in self._reads
        ]
        return [one for one in found if one[-1] > 0]

    def _next_state(self, pick: Pick, stream: Stream, identity: str) -> Any:
        """Return a state of the attempt's kind with the index behind the last one, or so."""
        of_streams = not self._states or self._states[0].scope is not None
        scope = stream if of_streams else None
        if not self._states and pick.one_in(2):
            of_streams, scope = False, None
        used = [state.index for state in self._states if state.scope == scope]
        gap = next(index for index in count(1) if index not in used)
        before = self._states[-1].inner if self._states else ()
        if before and pick.one_in(2):  # one id in several states, which readers may have drawn
            stream, identity = before[0]
        ids = [state.id for state in self._states if state.scope == scope]
        fresh = f"{identity}{len(ids)}" if identity in ids else identity
        snapshot = not of_streams and self._sockets and pick.one_in(1 if before else 2)
        inner = ((stream, identity),) if snapshot else ()
        kind = StateKind.STREAM if of_streams else StateKind.GLOBAL
        covered = [stream] if of_streams else self._catalog
        portions = inner or tuple((each, fresh) for each in covered)
        return ordering.StateRead(
            kind=StateKind.SNAPSHOT if snapshot else kind,
            payload=len(self._states),
            stream=scope,
            index=gap if not pick.one_in(4) else max(used, default=0) + pick.of((1, 2)),
            id=fresh,
            source_count=sum(self._accounted(portion) for portion in portions),
            inner=inner,
            listed=pick.of((None, tuple(self._catalog), (stream,))),
        )

    def _careless(self, pick: Pick) -> Any:
        """Return an event with a wrong, old or repeated number, or one that comes too late."""
        stream = pick.of([*self._catalog, Stream("a stream that nobody knows")])
        channel = pick.of([*self._channels, -1, len(self._channels)])
        known = [identity for _, identity in self._reads] or ["none"]
        identity = pick.of([known[0], known[-1], pick.of(known), "none"])
        kind = pick.integer(0, 9)
        if kind == 0:
            return ordering.RecordsRead(
                stream=stream,
                size_bytes=pick.of([-1, 0, 7]),
                count=pick.of([0, 1, -1, 3]),
                id=pick.of([None, identity, "new"]),
                channel=channel,
            )
        if kind == 1:
            return self._stray_report(pick, stream, identity)
        if kind in (2, 3, 4):
            return self._stray_state(pick, stream, identity)
        states = [(state.scope, state.index) for state in self._states] or [(stream, 1)]
        scope, index = pick.of(states)
        return pick.of(
            [
                ordering.StateSent(scope=scope, index=index),
                ordering.SendFailed(scope=scope, index=index),
                ordering.CompleteRead(stream=stream, channel=channel),
                ordering.ChannelClosed(channel=channel),
                ordering.ProcessingSucceeded(stream=stream),
                ordering.ProcessingFailed(stream=stream),
                ordering.FinishRequested(wait_ns=pick.of([0, 5, 5]))
                if len(self._sent) > 2 or pick.one_in(4)  # not much comes behind it
                else ordering.FinishTimerFired(),
                ordering.FlushRequested(),
                ordering.StreamAnnounced(stream=stream),
            ]
        )

    def _stray_report(self, pick: Pick, stream: Stream, identity: str) -> Any:
        count, rejected = pick.of([-1, 0, 1, 5]), pick.of([0, 0, -1, 1])
        # Bytes of no record mean nothing: a core may count them or not.
        sizes = [-1, 0, 9] if max(count, rejected) > 0 else [-1, 0]
        return ordering.RecordsDurable(
            stream=stream,
            id=identity,
            count=count,
            size_bytes=pick.of(sizes),
            rejected=rejected,
            level=pick.of(tuple(Level)),
        )

    def _stray_state(self, pick: Pick, stream: Stream, identity: str) -> Any:
        used = [state.index for state in self._states] or [1]
        ids = [state.id for state in self._states] or ["none"]
        inner_id = pick.of([identity, identity, None])
        return ordering.StateRead(
            kind=pick.of(tuple(StateKind)),
            payload="stray",
            stream=stream if not pick.one_in(16) else None,
            index=pick.of([0, -1, None, pick.of(used), max(used) + 1, max(used) + 2]),
            id=pick.of([identity, None, pick.of(ids), "new"]),
            source_count=pick.of([None, 0, 1, 5]),
            inner=pick.of([(), ((stream, inner_id),)]),
            listed=pick.of([None, (stream,), ()]),
        )
