"""The client: opens partitions, ingests their logs, and syncs data and checkpoints to a medium.

It is the synchronous host of the ingestion cores: each durable step is carried out at once.  What
it keeps in memory is lost by `crash`. What survives is in the medium, and the truth is in the log.
Start of a partition: read its checkpoint, refuse it when it lies beyond the log, reset and wipe
when it is damaged, put the mirror's rows back, and read on after the position.

A reset deletes the checkpoint *before* it wipes the data: a crash between the two then repeats
work, while the other order would leave a checkpoint that speaks of data that is gone.  It deletes
it in every slot: the one that is not in use now was once, and may be again.

Source: linkedin/venice, `StoreIngestionTask`, `DaVinciRecordTransformer.onRecovery`, pull requests
1670 and 2775 (checkpoint before data).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.store.ingestion.events import IngestionState, RulesChanged
from ckptsim.models.store.log import LogBook, Logs
from ckptsim.models.store.medium import (
    Area,
    Checkpoints,
    Codec,
    GroupCodec,
    Medium,
    PlainCodec,
    RowsWrite,
    Slot,
    SlotWrite,
    Step,
)
from ckptsim.models.store.replica import Replica, WorkingContent
from ckptsim.models.store.settings import Placement, Reset, Settings, SyncRules
from ckptsim.models.store.state import PartitionState, SharedCopies, VersionCopy, decode_state
from ckptsim.models.store.topics import LocalTopics, TopicPartition

# Neither says where the rows are: the partition starts anew, on wiped rows.
_STARTS_ANEW = (Refusal.CORRUPT_CHECKPOINT, Refusal.UNREADABLE_CHECKPOINT)

IngestionFactory = Callable[[SyncRules, PartitionState], PartitionIngestion]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a client is built from. A mutant replaces one of them."""

    ingestion: IngestionFactory = PartitionIngestion
    plain_codec: Callable[[], Codec] = PlainCodec
    group_codec: Callable[[], Codec] = GroupCodec
    checkpoints: type[Checkpoints] = Checkpoints
    generation: type[Checkpoints] | None = None  # of the user's own store
    replica: type[Replica] = Replica
    content: Callable[[Medium, TopicPartition], WorkingContent] = WorkingContent


OURS = Parts()


class StoreClient:
    """One process that keeps versions of stores locally, in one placement.

    fails_as_a_task: whether a recovery that fails ends the whole process, to be started again,
    instead of leaving all partitions paused.
    """

    fails_as_a_task = True

    def __init__(self, placement: Placement, medium: Medium, *, parts: Parts = OURS) -> None:
        self.placement = placement
        self.medium = medium
        # Nothing is written and nothing served yet. A host puts its own logs and server here.
        self.logs: Logs = LogBook()
        self.dictionaries: DictionaryServer = ModelDictionaryServer()
        self.parts = parts
        self.topics = LocalTopics()
        self.journal = Journal()
        self.settings = Settings()
        self.replicas: dict[TopicPartition, Replica] = {}  # closed by `close` and `close_all`
        self._copies = SharedCopies()
        self.failing_writes: dict[TopicPartition, None] = {}
        self._opened_before: dict[TopicPartition, None] = {}
        self.stores: dict[Slot, Checkpoints] = {}
        self.use_medium(medium)

    def use_medium(self, medium: Medium) -> None:
        """Keep everything durable in this medium from now on. For a client that has not begun."""
        self.medium = medium
        self.stores = {slot: self._new_store(slot) for slot in Slot}

    @property
    def store(self) -> Checkpoints:
        """Return the checkpoint store that is in use."""
        return self.stores[self.settings.slot]

    def configure(self, settings: Settings) -> None:
        """Change the choices. Open partitions continue with the new ones."""
        self.settings = settings
        for replica in self.replicas.values():
            replica.ingestion.step(RulesChanged(settings.rules(self.placement)))

    def open(self, key: TopicPartition) -> None:
        """Start a partition from its checkpoint. What an earlier incarnation held is dropped.

        Raises CHECKPOINT_AHEAD_OF_LOG without opening.  Raises CORRUPT_CHECKPOINT and
        UNREADABLE_CHECKPOINT after the partition was reset, wiped and opened at the beginning.
        """
        self.topics.check(key)
        self.close(key)
        damage: StoreError | None = None
        try:
            state = self.restored(key)
        except StoreError as error:
            if error.refusal not in _STARTS_ANEW:
                raise
            damage, state = error, PartitionState()
            self.reset(key, wipe=True)
        self.check_position(key, state.position)
        self._replay_mirror(key)
        self._opened_before[key] = None
        self.replicas[key] = self._new_replica(key, state)
        self.note_version(key)
        if damage is not None:
            raise damage

    def check_position(self, key: TopicPartition, position: int) -> None:
        """Refuse a position that the log has not: what it speaks of is gone from there.

        Source: linkedin/venice, pull request 99 (counted there, not refused).
        """
        if position > self.logs[key].end:
            reason = f"position {position}, log ends at {self.logs[key].end}"
            raise StoreError(Refusal.CHECKPOINT_AHEAD_OF_LOG, state=reason, event=key)

    def restored(self, key: TopicPartition) -> PartitionState:
        """Return the state to start from. Raises CORRUPT_ and UNREADABLE_CHECKPOINT."""
        blob = self.store.get(key)
        state = None if blob is None else decode_state(blob, of=key)
        if state is not None:
            return state
        group = self.placement is Placement.CONSUMER_GROUP_BLOB
        if group and self.settings.reset is Reset.LATEST and key in self._opened_before:
            return PartitionState(position=self.logs[key].end)
        return PartitionState()

    def ingest(self, key: TopicPartition, entries: int) -> None:
        """Apply up to so many entries of the log, with the syncs that they cause.

        An errored partition takes nothing.  Raises NOT_OPEN. WRITE_FAILED and INCONSISTENT_SVS,
        which freeze the partition before the entry. And whatever a sync raises.
        """
        replica = self.opened(key)
        for entry in self.logs[key].after(replica.position):
            if entries <= 0 or replica.state is IngestionState.ERRORED:
                return
            entries -= 1
            replica.take(entry)

    def sync(self, key: TopicPartition) -> None:
        """Sync a partition now. An errored one is left alone.  Raises NOT_OPEN."""
        self.opened(key).sync()

    def stop(self) -> None:
        """Sync every open partition that is not errored, then close all.

        One that fails does not keep the others from it. The first failure is raised at the end.
        """
        failure: StoreError | None = None
        for replica in self.replicas.values():
            try:
                replica.sync()
            except StoreError as error:
                failure = failure or error
        self.close_all()
        if failure is not None:
            raise failure

    def close(self, key: TopicPartition) -> None:
        """Drop the incarnation of a partition, if it is open, without a sync."""
        if self.replicas.pop(key, None) is not None:
            self._copies.forget(key)

    def close_all(self) -> None:
        """Drop every incarnation without a sync."""
        self.replicas, self._copies = {}, SharedCopies()
        for store in self.stores.values():
            store.process_ended()

    def crash(self) -> None:
        """Lose everything that is not durable."""
        self.close_all()
        self.medium.crash()

    def crash_within_sync(self, key: TopicPartition) -> None:
        """Start a sync, do its first durable step only, and crash.  Raises NOT_OPEN, no crash."""
        replica = self.opened(key)
        try:
            replica.begin_sync_only()
        finally:
            self.crash()

    def rebootstrap(self, key: TopicPartition, *, wipe: bool) -> None:
        """Close a partition, forget its checkpoint, and start it anew, on wiped rows or not."""
        self.topics.check(key)
        self.close(key)
        self.reset(key, wipe=wipe)
        self.open(key)

    def reset(self, key: TopicPartition, *, wipe: bool) -> None:
        """Delete the checkpoint of a partition, then wipe its rows if asked to."""
        slots = self.stage_forget(key)
        rows = tuple(RowsWrite(area=area, key=key, changes={}, wipe=True) for area in Area)
        self.commit_in_order(slots, rows if wipe else ())

    def stage_forget(self, key: TopicPartition) -> tuple[SlotWrite, ...]:
        """Return the writes that remove every checkpoint of a partition, whatever slot is in use.

        A slot that is not in use is written only where it holds something.
        """
        writes = list(self.store.stage_delete(key))
        for store in self.stores.values():
            if store is not self.store and store.stored(key) is not None:
                writes += store.stage_delete(key)
        return tuple(writes)

    def commit_in_order(self, slots: tuple[SlotWrite, ...], rows: tuple[RowsWrite, ...]) -> None:
        """Commit slots and rows in one step where there is one, else the slots first."""
        if self.medium.atomic:
            self.medium.commit(Step(slots=slots, rows=rows))
            return
        self.medium.commit(Step(slots=slots))
        self.medium.commit(Step(rows=rows))

    def read(self, key: TopicPartition, name: str) -> bytes | None:
        """Return the durable value of a row, or None, whether the partition is open or not."""
        self.topics.check(key)
        return self.medium.row(Area.DATA, key, name)

    def opened(self, key: TopicPartition) -> Replica:
        """Return the open replica of a partition. Raises NOT_OPEN."""
        self.topics.check(key)
        if key not in self.replicas:
            reason = "expected an open partition"
            raise StoreError(Refusal.NOT_OPEN, state=reason, event=key)
        return self.replicas[key]

    def checkpoint(self, key: TopicPartition) -> PartitionState | None:
        """Return the durable checkpoint. None when it is absent, cannot be read or is no state."""
        if not self.topics.knows(key.topic):
            return None
        try:
            blob = self.store.get(key)
            return None if blob is None else decode_state(blob)
        except StoreError:
            return None

    def known_state(self, key: TopicPartition) -> PartitionState | None:
        """Return the state in memory of an open partition, else the durable checkpoint."""
        if key in self.replicas:
            return self.replicas[key].ingestion.checkpoint
        return self.checkpoint(key)

    def version_copies(
        self, topic: str, *, apart_from: TopicPartition | None = None
    ) -> tuple[VersionCopy, ...]:
        """List what the partitions of a topic say about their version, equal ones once."""
        every = self.topics.of_topic(topic)
        shared = self._copies.of_topic(topic, len(every), apart_from=apart_from)
        if shared is not None:
            return shared
        keys = (key for key in every if key != apart_from)
        states = (self.known_state(key) for key in keys)
        copies = (state.version_copy() for state in states if state is not None)
        return tuple(dict.fromkeys(copy for copy in copies if copy is not None))

    def note_version(self, key: TopicPartition) -> None:
        """Take over what an open partition says about its version, after a control entry."""
        self._copies.note(key, self.replicas[key].ingestion.checkpoint.version_copy())

    def _replay_mirror(self, key: TopicPartition) -> None:
        if not self.mirrored:
            return
        rows = self.medium.rows(Area.MIRROR, key)
        if rows:
            self.medium.commit(Step(rows=(RowsWrite(area=Area.DATA, key=key, changes=rows),)))
        self.journal.record_replay(len(rows))

    @property
    def mirrored(self) -> bool:
        """Return whether a built-in copy of the rows is kept. Co-located there is none."""
        return self.settings.mirror and self.placement is not Placement.COLOCATED

    def _new_replica(self, key: TopicPartition, state: PartitionState) -> Replica:
        ingestion = self.parts.ingestion(self.settings.rules(self.placement), state)
        return self.parts.replica(self, key, ingestion, self.parts.content(self.medium, key))

    def _new_store(self, slot: Slot) -> Checkpoints:
        group = self.placement is Placement.CONSUMER_GROUP_BLOB
        codec = self.parts.group_codec() if group else self.parts.plain_codec()
        kind = self.parts.checkpoints
        if self.parts.generation is not None and slot is Slot.CUSTOM:
            kind = self.parts.generation
        return kind(self.medium, self.topics, codec=codec, slot=slot, remote=group)


class Journal:
    """What a client did, over all its incarnations, counted apart from what it believes.

    applied: data records applied. reprocessed: the known partitions and positions.
    """

    def __init__(self) -> None:
        self.applied = 0
        self.reprocessed = 0
        self.syncs = 0
        self.replayed = 0
        self.dictionary_fetches = 0
        self._seen: dict[TopicPartition, set[int]] = {}

    def record_applied(self, key: TopicPartition, position: int) -> None:
        """Count one applied data record."""
        seen = self._seen.setdefault(key, set())
        self.applied += 1
        self.reprocessed += position in seen
        seen.add(position)

    def record_sync(self) -> None:
        """Count one complete sync."""
        self.syncs += 1

    def record_replay(self, rows: int) -> None:
        """Count the mirror rows that an open put back."""
        self.replayed += rows

    def record_fetch(self) -> None:
        """Count one dictionary that was fetched."""
        self.dictionary_fetches += 1


class DictionaryServer(Protocol):
    """Serves the compression dictionary of a version topic, so no checkpoint has to repeat it."""

    def fetch(self, topic: str) -> str:
        """Return the dictionary. Raises StoreError DICT_UNAVAILABLE, which may be retried."""


class ModelDictionaryServer:
    """Dictionaries by topic, and a switch for the outage of the endpoint."""

    def __init__(self) -> None:
        self.dictionaries: dict[str, str] = {}
        self.up = True

    def fetch(self, topic: str) -> str:
        """Return the dictionary of a topic. Raises StoreError DICT_UNAVAILABLE."""
        if not self.up or topic not in self.dictionaries:
            reason = "no dictionary for this topic" if self.up else "the endpoint is down"
            raise StoreError(Refusal.DICT_UNAVAILABLE, state=reason, event=topic)
        return self.dictionaries[topic]
