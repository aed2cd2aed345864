"""The ordering core: decides when a destination may return a state to the platform.

A source reads partitions concurrently and sends records and, apart from them, states.  Returning a
state to the platform acknowledges every record that it covers. So this core returns state N of a
scope only after states 1..N-1, and only when every record of its id is durable. On sockets the
number must match the source.

Machines inside: per stream a ledger of counts and a lifecycle. Per scope (each stream, or the whole
sync) a shelf of unsent states with its cursor. On STDIO the inference of keys. One releaser that
makes the passes and ends the sync.  Records, counts and states arrive in any order and never block
each other. What blocks a release is reported by `blocked`.

Promised: no state before its records or its predecessors. Each index once. A refused event changes
nothing. A flush request is never lost. Nothing moves before its send has returned. Not promised:
that a state is ever ready (the source may count wrongly), and nothing about the attempt before:
memory is lost with the process, and the platform remembers the returned states.  There is therefore
no snapshot to restore from. A new attempt is a new core from the same parameters.

Source: airbytehq/airbyte, bulk load CDK, checkpoint manager after PR #60886, with the safety checks
of its 2026 form. Deviations are marked in the modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import assert_never

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import events as ordering_events
from ckptsim.models.ordering import terms
from ckptsim.models.ordering.events import (
    CloseInput,
    Effect,
    EndChannel,
    EndStream,
    OpenStream,
    PassRecords,
    ReportIncomplete,
)
from ckptsim.models.ordering.lifecycle import Lifecycle
from ckptsim.models.ordering.observation import Observation, observe
from ckptsim.models.ordering.release import (
    Ledger,
    PendingState,
    Readiness,
    Releaser,
    Shelf,
    Shelves,
)
from ckptsim.models.ordering.terms import Blocked, Inference


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The classes that a core is put together from. A test double swaps one to plant one fault."""

    ledger: type[Ledger] = Ledger
    shelf: type[Shelf] = Shelf
    shelves: type[Shelves] = Shelves
    inference: type[Inference] = Inference
    readiness: type[Readiness] = Readiness
    releaser: type[Releaser] = Releaser
    lifecycle: type[Lifecycle] = Lifecycle


RIGHT_PARTS = Parts()


class OrderingCore:
    """One attempt's ordering core: `step` takes an event and returns the effects it causes."""

    def __init__(self, parameters: terms.OrderingParameters, parts: Parts = RIGHT_PARTS) -> None:
        self.parameters = parameters
        self._socket = parameters.medium is terms.Medium.SOCKET
        self._make_ledger = partial(parts.ledger, parameters.released_ids_kept)
        self._ledgers = {stream: self._make_ledger() for stream in parameters.streams}
        self._lifecycle = parts.lifecycle(parameters)
        self._inference = parts.inference(parameters.streams)
        self._shelves = parts.shelves(parameters.streams, parts.shelf, remembers_ids=self._socket)
        readiness = parts.readiness(parameters.medium, self._ledgers)
        self._releaser = parts.releaser(self._shelves, self._ledgers, self._lifecycle, readiness)

    def step(self, event: ordering_events.Event) -> list[Effect]:  # noqa: C901, PLR0911 - one branch per event
        """Return an event's effects, in order. Raises ProtocolError with a `Refusal`, unchanged."""
        match event:
            case ordering_events.RecordsRead():
                return self._on_records_read(event)
            case ordering_events.RecordsDurable():
                return self._on_records_durable(event)
            case ordering_events.StateRead():
                return self._on_state_read(event)
            case ordering_events.FlushRequested():
                return self._releaser.request_flush()
            case ordering_events.StateSent():
                return self._releaser.confirm(event)
            case ordering_events.SendFailed():
                return self._releaser.fail(event)
            case ordering_events.CompleteRead():
                return self._on_complete_read(event)
            case ordering_events.ChannelClosed():
                return self._on_channel_closed(event)
            case ordering_events.ProcessingSucceeded():
                return self._on_processing_succeeded(event)
            case ordering_events.ProcessingFailed():
                return self._on_processing_failed(event)
            case ordering_events.FinishRequested():
                return self._releaser.request_finish(event)
            case ordering_events.FinishTimerFired():
                return self._releaser.end_wait(event)
            case ordering_events.StreamAnnounced():
                return self._on_stream_announced(event)
            case _:
                assert_never(event)

    # What hosts, reports and tests may ask.  Asking changes nothing.

    def blocked(self) -> tuple[Blocked, ...]:
        """Say for every scope with unsent states which is next and what it waits for."""
        return self._releaser.blocked()

    def pending_count(self) -> int:
        """Return the number of accepted states that were not sent."""
        return len(self._shelves)

    def head(self, scope: terms.Scope) -> terms.CheckpointIndex | None:
        """Return the scope's lowest unsent index, or None."""
        return self._shelves.of(scope).head

    def records_read(
        self, stream: terms.StreamDescriptor, identity: terms.CheckpointId | None = None
    ) -> int:
        """Return the records read for one id of the stream, or for the whole stream."""
        ledger = self._ledgers[stream]
        return ledger.records_read if identity is None else ledger.read_for(identity)

    def records_sufficient(
        self, stream: terms.StreamDescriptor, identity: terms.CheckpointId
    ) -> bool:
        """Return whether every record read for the id is durable, whatever the source counted."""
        return self._ledgers[stream].sufficient(identity)

    def ordinal(self, stream: terms.StreamDescriptor) -> terms.CheckpointIndex:
        """Return the number of the stream's current interval (STDIO)."""
        return self._inference.ordinal(stream)

    def inferred_id(
        self, stream: terms.StreamDescriptor, ordinal: terms.CheckpointIndex
    ) -> terms.CheckpointId:
        """Return the id inferred for the stream's n-th interval (STDIO)."""
        return self._inference.id_of(stream, ordinal)

    def stream_done(self, stream: terms.StreamDescriptor) -> bool:
        """Return whether the stream has ended and level COMPLETE accounts for all its records."""
        return self._lifecycle.ended(stream) and self._ledgers[stream].all_complete

    def verdict(self, stream: terms.StreamDescriptor) -> terms.Verdict:
        """Return how the stream's processing ended."""
        return self._lifecycle.verdict(stream)

    def observe(self) -> Observation:
        """Return everything observable as one value that can be compared."""
        return observe(
            ledgers=self._ledgers,
            lifecycle=self._lifecycle,
            inference=self._inference,
            shelves=self._shelves,
            releaser=self._releaser,
        )

    # One handler per event that is not the releaser's own: check everything, then change.

    def _on_records_read(self, event: ordering_events.RecordsRead) -> list[Effect]:
        ledger = self._ledger_of(event.stream, event)
        if event.count < 0 or event.size_bytes < 0:
            raise self._refused(terms.Refusal.INVALID_COUNT, event, event.stream)
        if not self._socket:
            identity = self._inference.current_id(event.stream)
        elif event.id is None:
            raise self._refused(terms.Refusal.MISSING_PARTITION_ID, event, event.stream)
        else:
            identity = event.id
        refusal = self._lifecycle.record_refusal(event.stream, event.channel)
        if refusal is not None:
            raise self._refused(refusal, event, event.stream)
        first = ledger.records_read == 0
        ledger.read(identity, event.count, event.size_bytes)
        if event.count == 0:
            return []
        passed = PassRecords(
            stream=event.stream, id=identity, count=event.count, size_bytes=event.size_bytes
        )
        if not first:
            return [passed]
        self._lifecycle.open(event.stream)
        return [OpenStream(stream=event.stream), passed]

    def _on_records_durable(self, event: ordering_events.RecordsDurable) -> list[Effect]:
        ledger = self._ledger_of(event.stream, event)
        if min(event.count, event.size_bytes, event.rejected) < 0:
            raise self._refused(terms.Refusal.INVALID_COUNT, event, event.stream)
        increment = terms.Count(event.count, event.size_bytes, event.rejected)
        if ledger.exceeds(event.level, event.id, increment):
            raise self._refused(terms.Refusal.OVER_COUNT, event, event.stream)
        ledger.account(event.level, event.id, increment)
        return self._releaser.flush_if_waiting()

    def _on_state_read(self, event: ordering_events.StateRead) -> list[Effect]:
        scope = self._scope_of(event)
        key, inner = self._keys_of(event, scope)
        refusal = self._shelves.refusal(scope, key)
        if refusal is not None:
            raise self._refused(refusal, event, scope)
        listed = event.listed
        if listed is None:
            from_inner = tuple(dict.fromkeys(stream for stream, _ in inner))
            listed = from_inner if event.kind is terms.StateKind.SNAPSHOT else tuple(self._ledgers)
        self._shelves.add(
            PendingState(scope, key, event.kind, event.payload, event.source_count, inner, listed)
        )
        if not self._socket:
            self._end_intervals(scope)
        return self._releaser.flush_if_waiting()

    def _on_complete_read(self, event: ordering_events.CompleteRead) -> list[Effect]:
        ledger = self._ledger_of(event.stream, event)
        refusal = self._lifecycle.complete_refusal(event.stream, event.channel)
        if refusal is not None:
            raise self._refused(refusal, event, event.stream)
        effects: list[Effect] = []
        if self._lifecycle.complete(event.stream):
            effects.append(EndStream(stream=event.stream, records_read=ledger.records_read))
        return effects + self._releaser.flush_if_waiting()

    def _on_channel_closed(self, event: ordering_events.ChannelClosed) -> list[Effect]:
        refusal = self._lifecycle.close_refusal(event.channel)
        if refusal is not None:
            raise ProtocolError(refusal, state=f"channel {event.channel}", event=event)
        effects: list[Effect] = [EndChannel(channel=event.channel)]
        ending = self._lifecycle.close(event.channel)
        if ending is None:
            return effects
        for stream in ending:
            read = self._ledgers[stream].records_read
            effects.append(EndStream(stream=stream, records_read=read))
        effects.append(CloseInput())
        if self._lifecycle.incomplete:
            effects.append(ReportIncomplete(streams=self._lifecycle.incomplete))
        return effects

    def _on_processing_succeeded(self, event: ordering_events.ProcessingSucceeded) -> list[Effect]:
        self._ledger_of(event.stream, event)
        if not self._lifecycle.ended(event.stream):
            raise self._refused(terms.Refusal.NOT_CLOSED, event, event.stream)
        self._lifecycle.judge(event.stream, terms.Verdict.SUCCEEDED)
        return []

    def _on_processing_failed(self, event: ordering_events.ProcessingFailed) -> list[Effect]:
        self._ledger_of(event.stream, event)
        self._lifecycle.judge(event.stream, terms.Verdict.FAILED)
        return []

    def _on_stream_announced(self, event: ordering_events.StreamAnnounced) -> list[Effect]:
        if event.stream not in self._ledgers:
            self._inference.announce(event.stream, common=self._shelves.per_stream is False)
            self._ledgers[event.stream] = self._make_ledger()
            self._lifecycle.announce(event.stream)
            self._shelves.announce(event.stream)
            self._releaser.announce(event.stream)
        return []

    # Helpers.

    def _ledger_of(
        self, stream: terms.StreamDescriptor | None, event: ordering_events.Event
    ) -> Ledger:
        ledger = None if stream is None else self._ledgers.get(stream)
        if ledger is None:
            raise ProtocolError(
                terms.Refusal.UNKNOWN_STREAM, state=f"{len(self._ledgers)} streams", event=event
            )
        return ledger

    def _scope_of(self, event: ordering_events.StateRead) -> terms.Scope:
        """Return a state's scope. Every stream that it names must be in the catalog."""
        for stream in (*(stream for stream, _ in event.inner), *(event.listed or ())):
            self._ledger_of(stream, event)
        if event.kind is not terms.StateKind.STREAM:
            return None
        self._ledger_of(event.stream, event)
        return event.stream

    def _keys_of(
        self, event: ordering_events.StateRead, scope: terms.Scope
    ) -> tuple[terms.CheckpointKey, tuple[tuple[terms.StreamDescriptor, terms.CheckpointId], ...]]:
        """Return a state's own key and its inner ids, read on SOCKET and inferred on STDIO."""
        snapshot = event.kind is terms.StateKind.SNAPSHOT
        if not self._socket:
            if snapshot:
                raise self._refused(terms.Refusal.MISSING_CHECKPOINT_KEY, event, scope)
            return self._inferred_key(event, scope), ()
        inner = tuple((s, i) for s, i in event.inner if i is not None) if snapshot else ()
        missing_inner = snapshot and len(inner) < len(event.inner)
        if event.index is None or event.id is None or missing_inner:
            raise self._refused(terms.Refusal.MISSING_CHECKPOINT_KEY, event, scope)
        if event.source_count is None:
            raise self._refused(terms.Refusal.MISSING_SOURCE_STATS, event, scope)
        return terms.CheckpointKey(event.index, event.id), inner

    def _inferred_key(
        self, event: ordering_events.StateRead, scope: terms.Scope
    ) -> terms.CheckpointKey:
        if scope is not None:
            return self._inference.stream_key(scope)
        key = self._inference.common_key()
        if key is None:
            raise self._refused(terms.Refusal.ORDINAL_MISMATCH, event, scope)
        return key

    def _end_intervals(self, scope: terms.Scope) -> None:
        if scope is None:
            self._inference.end_all_intervals()
        else:
            self._inference.end_interval(scope)

    def _refused(
        self, kind: terms.Refusal, event: ordering_events.Event, scope: terms.Scope
    ) -> ProtocolError:
        shelf = self._shelves.of(scope)
        unsent = ", ".join(str(index) for index in shelf.indexes[:8]) or "none"
        return ProtocolError(
            kind,
            state=f"scope {'*' if scope is None else scope}",
            event=event,
            story=(f"last released: {shelf.last_released}", f"unsent: {unsent}"),
        )
