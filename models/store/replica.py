"""One open partition: its ingestion core, its working content, and the durable steps it asks for.

The replica interprets the effects of the core in the order given.  A step that fails is reported
to the core first and raised to the caller afterwards, so that the core's state is settled.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ckptsim.models.core import ProtocolError
from ckptsim.models.store.errors import StoreError
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.log import ControlRecord, DataRecord, Entry
from ckptsim.models.store.medium import Area, Changes, Medium, Rows, RowsWrite, SlotWrite, Step
from ckptsim.models.store.settings import Durability, Placement, StepContent
from ckptsim.models.store.topics import TopicPartition

if TYPE_CHECKING:
    from ckptsim.models.store.client import StoreClient


class Replica:
    """One incarnation of a partition. Dropped by a close, a crash or a new open."""

    def __init__(
        self,
        client: StoreClient,
        key: TopicPartition,
        ingestion: PartitionIngestion,
        content: WorkingContent,
    ) -> None:
        self._client = client
        self._key = key
        self.ingestion = ingestion
        self.content = content

    @property
    def position(self) -> int:
        """Return the last position processed."""
        return self.ingestion.checkpoint.position

    @property
    def state(self) -> ingestion_events.IngestionState:
        """Return where the ingestion is."""
        return self.ingestion.state

    def take(self, entry: Entry) -> None:
        """Apply one entry. Raises StoreError when it, or the sync that it causes, fails."""
        if isinstance(entry.record, ControlRecord):
            self._carry_out(self.read_control(entry.position, entry.record))
        elif self._key in self._client.failing_writes:
            del self._client.failing_writes[self._key]
            self._carry_out(self.ingestion.step(ingestion_events.WriteFailed(entry.position)))
        else:
            self._write(entry.position, entry.record)

    def read_control(self, position: int, record: ControlRecord) -> list[ingestion_events.Effect]:
        """Hand a control entry to the core, with what the other partitions say of the version."""
        siblings = self._client.version_copies(self._key.topic, apart_from=self._key)
        event = ingestion_events.ControlRead(position=position, record=record, siblings=siblings)
        effects = self.ingestion.step(event)
        self._client.note_version(self._key)
        return effects

    def sync(self) -> None:
        """Sync now. Raises StoreError when a durable step fails."""
        self._carry_out(self.ingestion.step(ingestion_events.SyncRequested()))

    def begin_sync_only(self) -> None:
        """Carry out the first durable step of a sync, and none of those that follow."""
        for effect in self.ingestion.step(ingestion_events.SyncRequested()):
            if isinstance(effect, ingestion_events.MakeDurable):
                self.begin_step(effect)

    def begin_step(self, wanted: ingestion_events.MakeDurable) -> None:
        """Carry out a step up to where a crash meets it: only a step that is a half is durable.

        A step that holds both halves is abandoned between them: no checkpoint was written, and none
        is counted.
        """
        if wanted.part is StepContent.BOTH and wanted.checkpoint is not None:
            sealed = self._client.store.seal(self._key, wanted.checkpoint)
            self._client.medium.abandon(Step(rows=self._flush(), slots=(sealed,)))
        else:
            self._client.medium.commit(self.step_of(wanted))

    def _write(self, position: int, record: DataRecord) -> None:
        self.content.apply(record)
        if self._per_record:
            change = {record.key: record.value}
            write = RowsWrite(area=Area.DATA, key=self._key, changes=change)
            self._client.medium.commit(Step(rows=(write,)))
        self._client.journal.record_applied(self._key, position)
        written = ingestion_events.DataWritten(position=position, size_bytes=record.size_bytes)
        self._carry_out(self.ingestion.step(written))

    def _carry_out(self, found: list[ingestion_events.Effect]) -> None:
        failure: StoreError | None = None
        effects = deque(found)
        while effects:
            match effects.popleft():
                case ingestion_events.MakeDurable() as wanted:
                    outcome, refused = self.make_durable(wanted)
                    failure = failure or refused
                    effects.extend(self.ingestion.step(outcome))
                case ingestion_events.FinishSync():
                    self._client.journal.record_sync()
                case ingestion_events.FreezePartition(refusal, reason):
                    failure = StoreError(refusal, state=reason, event=self._key)
                case ingestion_events.AbortSync():
                    pass  # the failure that caused it is raised below
                case ingestion_events.SetSyncTimer() | ingestion_events.CancelSyncTimer() as timer:
                    raise ProtocolError("no_clock", state="a synchronous host", event=timer)
        if failure is not None:
            raise failure

    def take_rows(self) -> tuple[RowsWrite, ...]:
        """Take the rows of a step that begins now. The applied data from now on is the next one's.

        The host applies them again if the step is refused.
        """
        rows = self._flush()
        if self._hooked:
            self.content.flushed()
        return rows

    def make_durable(
        self, wanted: ingestion_events.MakeDurable, rows: tuple[RowsWrite, ...] | None = None
    ) -> tuple[ingestion_events.StepDurable | ingestion_events.StepRefused, StoreError | None]:
        """Carry out one durable step. Return what to tell the core, and why it failed if it did.

        rows: those taken when the step began, if anything was applied since.
        """
        try:
            self._client.medium.commit(self.step_of(wanted, rows))
        except StoreError as error:
            return ingestion_events.StepRefused(error.refusal), error
        if rows is None and wanted.part is not StepContent.CHECKPOINT and self._hooked:
            self.content.flushed()
        return ingestion_events.StepDurable(), None

    def step_of(
        self, wanted: ingestion_events.MakeDurable, rows: tuple[RowsWrite, ...] | None = None
    ) -> Step:
        """Return the writes of one durable step."""
        if rows is None:
            rows = () if wanted.part is StepContent.CHECKPOINT else self._flush()
        slots: tuple[SlotWrite, ...] = ()
        if wanted.checkpoint is not None:
            slots = self._client.store.put(self._key, wanted.checkpoint, self.ingestion)
        return Step(rows=rows, slots=slots)

    def _flush(self) -> tuple[RowsWrite, ...]:
        writes: list[RowsWrite] = []
        if self._hooked:
            writes.append(RowsWrite(area=Area.DATA, key=self._key, changes=self.content.changes()))
        if self._client.mirrored:
            old = self._client.medium.rows(Area.MIRROR, self._key)
            changes = dict(difference(old, self.content.rows()))
            writes.append(RowsWrite(area=Area.MIRROR, key=self._key, changes=changes))
        return tuple(writes)

    @property
    def _hooked(self) -> bool:
        return self._client.settings.sync_hook or self._colocated

    @property
    def _per_record(self) -> bool:
        durability = self._client.settings.durability
        return durability is Durability.PER_RECORD and not self._colocated

    @property
    def _colocated(self) -> bool:
        return self._client.placement is Placement.COLOCATED


class WorkingContent:
    """What an incarnation sees: it starts as the durable content, and a crash drops the rest.

    The changes since the last flush are kept by key, the last one wins. A flush hands them to the
    medium as one set.
    """

    def __init__(self, medium: Medium, key: TopicPartition) -> None:
        self._medium = medium
        self._key = key
        self._changes: dict[str, bytes | None] = {}

    def apply(self, record: DataRecord) -> None:
        """Put or delete one record."""
        self._changes[record.key] = record.value

    def rows(self) -> Rows:
        """Return the whole content."""
        rows = self._medium.rows(Area.DATA, self._key)
        rows.update((name, value) for name, value in self._changes.items() if value is not None)
        for name, value in self._changes.items():
            if value is None:
                rows.pop(name, None)
        return rows

    def changes(self) -> Changes:
        """Return the changes that are not flushed, one per key. Valid until the next one."""
        return self._changes

    def flushed(self) -> None:
        """Forget the changes, which are durable now."""
        self._changes = {}


def difference(old: Rows, new: Rows) -> Changes:
    """Return the changes that turn one content into another."""
    changes: dict[str, bytes | None] = {name: None for name in old if name not in new}
    changes.update((name, value) for name, value in new.items() if old.get(name) != value)
    return changes
