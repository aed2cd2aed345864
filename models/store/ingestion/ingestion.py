"""The ingestion of one partition, one incarnation: position, sync triggers, steps of a sync.

A state machine of four states.  OPEN takes records. SYNCING waits for a durable step, and takes
data records only where the host writes beside its ingestion. ERRORED has met a write that failed or
a version that disagrees, and is frozen until the partition is opened anew. A crash or a close
simply drops the object.  Rules that keep a restart harmless:

* the position moves after the write, never before it, and an errored partition is never
  checkpointed. Each of the two alone prevents the loss that the other one lets through.
* position, end-of-push flag and producers are taken into the checkpoint at one instant, at which
  the host takes the data of the sync, too: later data belongs to the next sync.
* the bytes of a sync leave the counter only after its last step is durable.
* a version description that disagrees with a sibling's is refused before it is applied.

Source: linkedin/venice, `StoreIngestionTask`. Pull request 2889 (position after the write, no
checkpoint of an errored replica). Issues 1240 and 1711 (a position read after the data).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ckptsim.models.core import ProtocolError
from ckptsim.models.store.errors import Refusal
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.log import Control, ControlRecord
from ckptsim.models.store.settings import StepContent, SyncRules
from ckptsim.models.store.state import (
    PartitionState,
    ProducerState,
    VersionCopy,
    copy_of,
    disagreement,
    encode_state,
)


class PartitionIngestion:
    """The ingestion core of one partition. See the theory at the head of the module."""

    def __init__(self, rules: SyncRules, restored: PartitionState) -> None:
        self.state = ingestion_events.IngestionState.OPEN
        self.checkpoint = restored
        self.bytes_since_sync = 0
        self.timer_set = False
        self._rules = rules
        self.cause = ingestion_events.Cause.REQUEST
        self._steps: tuple[StepContent, ...] = ()
        self._blob = b""
        self._bytes_in_sync = 0
        self._synced_position = restored.position

    @property
    def rules(self) -> SyncRules:
        """Return the rules of syncing that hold now."""
        return self._rules

    def step(self, event: ingestion_events.Event) -> list[ingestion_events.Effect]:
        """Take one event and return its effects. Raises ProtocolError `not_allowed`."""
        handler = _TABLE.get((self.state, type(event)))
        if handler is None:
            raise ProtocolError("not_allowed", state=self.state.name, event=event)
        return handler(self, event)

    def written(self, event: ingestion_events.DataWritten) -> list[ingestion_events.Effect]:
        """Advance after a write, and sync when enough bytes have gathered."""
        self._advance(event)
        self.bytes_since_sync += event.size_bytes
        return self._sync_or_wait()

    def _sync_or_wait(self) -> list[ingestion_events.Effect]:
        """Begin a sync that is due by bytes. Else have the timer run."""
        if self._rules.due_by_bytes(self.bytes_since_sync):
            return self.begin(ingestion_events.Cause.BYTES)
        if self._rules.sync_interval_ns > 0 and not self.timer_set:
            self.timer_set = True
            return [ingestion_events.SetSyncTimer(self._rules.sync_interval_ns)]
        return []

    def written_meanwhile(
        self, event: ingestion_events.DataWritten
    ) -> list[ingestion_events.Effect]:
        """Advance after a write that is not part of the sync that runs."""
        self.bytes_since_sync += event.size_bytes
        self._advance(event)
        return []

    def _advance(self, event: ingestion_events.DataWritten) -> None:
        producers = self.checkpoint.producers
        if event.producer is not None:
            producers = _with_producer(producers, event.producer)
        self.checkpoint = replace(self.checkpoint, position=event.position, producers=producers)

    def write_failed(self, _event: ingestion_events.WriteFailed) -> list[ingestion_events.Effect]:
        """Freeze with the position still before the record."""
        return self.freeze(Refusal.WRITE_FAILED, "a data record was not written")

    def control(self, event: ingestion_events.ControlRead) -> list[ingestion_events.Effect]:
        """Apply a control entry, advance after it, and sync unless it is a segment marker."""
        copies = self._rules.copies_dictionary
        applied = _applied(self.checkpoint, event.record, copies_dictionary=copies)
        conflict = self.conflict(event.record, applied, event.siblings)
        if conflict is not None:
            return self.freeze(Refusal.INCONSISTENT_SVS, conflict)
        self.checkpoint = replace(applied, position=event.position)
        if self._rules.due_by_control(event.record.control):
            return self.begin(ingestion_events.Cause.CONTROL)
        if self._rules.due_by_bytes(self.bytes_since_sync):
            return self.begin(ingestion_events.Cause.BYTES)
        return []

    def conflict(
        self, record: ControlRecord, applied: PartitionState, siblings: tuple[VersionCopy, ...]
    ) -> str | None:
        """Say in which field a start of push disagrees with a sibling, if it does."""
        mine = applied.version_copy()
        if record.control is not Control.START_OF_PUSH or mine is None:
            return None
        found = (disagreement(mine, sibling) for sibling in siblings)
        return next((conflict for conflict in found if conflict is not None), None)

    def requested(self, _event: ingestion_events.SyncRequested) -> list[ingestion_events.Effect]:
        """Begin the sync that the host wants."""
        return self.begin(ingestion_events.Cause.REQUEST)

    def timer_fired(self, _event: ingestion_events.SyncTimerFired) -> list[ingestion_events.Effect]:
        """Begin a sync when records are waiting for one. A late timer does nothing."""
        if not self.timer_set:
            return []
        self.timer_set = False
        return self.begin(ingestion_events.Cause.TIME)

    def begin(self, cause: ingestion_events.Cause) -> list[ingestion_events.Effect]:
        """Take the checkpoint at this instant and ask for the first durable step."""
        self.state = ingestion_events.IngestionState.SYNCING
        self.cause = cause
        self._steps = self._rules.steps()
        self._blob = encode_state(self.checkpoint)
        self._synced_position = self.checkpoint.position
        self._bytes_in_sync = self.bytes_since_sync
        cancel: list[ingestion_events.Effect] = (
            [ingestion_events.CancelSyncTimer()] if self.timer_set else []
        )
        self.timer_set = False
        return [*cancel, self._next_step()]

    def step_durable(self, _event: ingestion_events.StepDurable) -> list[ingestion_events.Effect]:
        """Ask for the next step, or finish. The written data meanwhile may demand the next sync."""
        self._steps = self._steps[1:]
        if self._steps:
            return [self._next_step()]
        self.state = ingestion_events.IngestionState.OPEN
        self.reset_counter()
        finish = ingestion_events.FinishSync(self._synced_position, self.cause)
        if self.checkpoint.position == self._synced_position:
            return [finish]
        return [finish, *self._sync_or_wait()]

    def reset_counter(self) -> None:
        """Count the bytes since the beginning of the sync that is just complete."""
        self.bytes_since_sync -= self._bytes_in_sync

    def step_refused(self, event: ingestion_events.StepRefused) -> list[ingestion_events.Effect]:
        """Give the sync up. The partition is not errored and its counter not reset."""
        self.state = ingestion_events.IngestionState.OPEN
        effects: list[ingestion_events.Effect] = [ingestion_events.AbortSync(event.refusal)]
        if self._rules.sync_interval_ns > 0:
            self.timer_set = True
            effects.append(ingestion_events.SetSyncTimer(self._rules.sync_interval_ns))
        return effects

    def rules_changed(self, event: ingestion_events.RulesChanged) -> list[ingestion_events.Effect]:
        """Take the new rules. A sync that runs continues by the old steps."""
        self._rules = event.rules
        return []

    def nothing(self, _event: ingestion_events.Event) -> list[ingestion_events.Effect]:
        """Let an event pass by that means nothing to a frozen partition."""
        return []

    def freeze(self, refusal: Refusal, reason: str) -> list[ingestion_events.Effect]:
        """Stop for good: this incarnation takes no entry and writes no checkpoint any more."""
        self.state = ingestion_events.IngestionState.ERRORED
        cancel: list[ingestion_events.Effect] = (
            [ingestion_events.CancelSyncTimer()] if self.timer_set else []
        )
        self.timer_set = False
        return [*cancel, ingestion_events.FreezePartition(refusal, reason)]

    def _next_step(self) -> ingestion_events.MakeDurable:
        part = self._steps[0]
        return ingestion_events.MakeDurable(part, None if part is StepContent.DATA else self._blob)


def _applied(
    state: PartitionState, record: ControlRecord, *, copies_dictionary: bool
) -> PartitionState:
    match record.control:
        case Control.START_OF_PUSH:
            return replace(state, version=copy_of(record.fields, dictionary=copies_dictionary))
        case Control.END_OF_PUSH:
            stamp = record.fields.get("endOfPushTimestamp", state.end_of_push_timestamp)
            return replace(state, end_of_push=True, end_of_push_timestamp=stamp)
        case _:
            return state


def _with_producer(
    producers: tuple[ProducerState, ...], changed: ProducerState
) -> tuple[ProducerState, ...]:
    others = (each for each in producers if each.guid != changed.guid)
    return tuple(sorted((*others, changed), key=lambda each: each.guid))


_Handler = Callable[[PartitionIngestion, ingestion_events.Event], list[ingestion_events.Effect]]
_OPEN, _SYNCING, _ERRORED = (
    ingestion_events.IngestionState.OPEN,
    ingestion_events.IngestionState.SYNCING,
    ingestion_events.IngestionState.ERRORED,
)

# (state, event) -> handler, looked up by name so that a subclass may replace one.
_TABLE: dict[tuple[ingestion_events.IngestionState, type], _Handler] = {
    (_OPEN, ingestion_events.DataWritten): lambda core, event: core.written(event),  # type: ignore[arg-type]
    (_OPEN, ingestion_events.WriteFailed): lambda core, event: core.write_failed(event),  # type: ignore[arg-type]
    (_OPEN, ingestion_events.ControlRead): lambda core, event: core.control(event),  # type: ignore[arg-type]
    (_OPEN, ingestion_events.SyncRequested): lambda core, event: core.requested(event),  # type: ignore[arg-type]
    (_OPEN, ingestion_events.SyncTimerFired): lambda core, event: core.timer_fired(event),  # type: ignore[arg-type]
    (_OPEN, ingestion_events.RulesChanged): lambda core, event: core.rules_changed(event),  # type: ignore[arg-type]
    (_SYNCING, ingestion_events.DataWritten): lambda core, event: core.written_meanwhile(event),  # type: ignore[arg-type]
    (_SYNCING, ingestion_events.StepDurable): lambda core, event: core.step_durable(event),  # type: ignore[arg-type]
    (_SYNCING, ingestion_events.StepRefused): lambda core, event: core.step_refused(event),  # type: ignore[arg-type]
    (_SYNCING, ingestion_events.RulesChanged): lambda core, event: core.rules_changed(event),  # type: ignore[arg-type]
    (_SYNCING, ingestion_events.SyncTimerFired): lambda core, event: core.nothing(event),
    (_ERRORED, ingestion_events.SyncRequested): lambda core, event: core.nothing(event),
    (_ERRORED, ingestion_events.SyncTimerFired): lambda core, event: core.nothing(event),
    (_ERRORED, ingestion_events.RulesChanged): lambda core, event: core.rules_changed(event),  # type: ignore[arg-type]
}
