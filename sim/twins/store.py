"""Faulty twins of the checkpoint store: each lacks one safeguard of placement or ingestion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from models.store.checkpoints import Checkpoints
from models.store.client import Parts, StoreClient
from models.store.codec import Codec, GroupCodec, PlainCodec
from models.store.ingestion import PartitionIngestion
from models.store.ingestion_events import (
    Cause,
    ControlRead,
    Effect,
    Event,
    IngestionState,
    RulesChanged,
    StepDurable,
    SyncRequested,
    WriteFailed,
)
from models.store.log import ControlRecord
from models.store.medium import Medium, ModelMedium, Slot, SlotWrite, Step
from models.store.partition_state import PartitionState
from models.store.rules import Order, SyncRules
from models.store.settings import Placement
from models.store.topics import TopicPartition, parse_topic
from models.store.version_state import VersionCopy
from models.store.versions import StoreVersions


class VersionlessSlots(Checkpoints):
    """Leaves the version out of the key of a slot."""

    def slot_key(self, key: TopicPartition) -> TopicPartition:
        """Name the slot by store and view only."""
        name = parse_topic(key.topic)
        return TopicPartition(f"{name.store}_v0_{name.view}_mv", key.partition)


class ViewlessSlots(Checkpoints):
    """Leaves the view out of the key of a slot."""

    def slot_key(self, key: TopicPartition) -> TopicPartition:
        """Name the slot by store and version only."""
        name = parse_topic(key.topic)
        return TopicPartition(f"{name.store}_v{name.version}", key.partition)


class AliasingSlots(Checkpoints):
    """Keeps and returns the caller's own object instead of a copy of its bytes."""

    _live: dict[TopicPartition, bytes] | None = None

    def get(self, key: TopicPartition) -> bytes | None:
        """Return the live object while the slot holds what was set by it."""
        blob = super().get(key)
        return blob if blob is None else self._objects().get(key, blob)

    def set(self, key: TopicPartition, blob: bytes) -> None:
        """Store the bytes and remember the object."""
        super().set(key, blob)
        self._objects()[key] = blob

    def stage(self, key: TopicPartition, blob: bytes) -> SlotWrite:
        """Forget the object, the slot is about to hold something else."""
        write = super().stage(key, blob)
        self._objects().pop(key, None)
        return write

    def _objects(self) -> dict[TopicPartition, bytes]:
        if self._live is None:
            self._live = {}
        return self._live


class DeletesSiblings(Checkpoints):
    """Deletes the blobs of all partitions of a topic with the one it was asked to delete."""

    def stage_delete(self, key: TopicPartition) -> tuple[SlotWrite, ...]:
        """Return a delete for every partition of the topic."""
        (wanted,) = super().stage_delete(key)
        topic = self._topics.of_topic(key.topic)
        return tuple(replace(wanted, key=self.slot_key(each)) for each in topic)


class BlindCodec(PlainCodec):
    """Returns a payload without looking at the checksum."""

    def decode(self, key: TopicPartition, stored: bytes) -> bytes:
        """Cut the payload out of a frame by the lengths that a right frame has."""
        overhead = len(self.encode(key, b""))
        start = overhead - 32
        return stored[start : len(stored) - 32]


class OffByOneGroup(GroupCodec):
    """Commits the last processed position as the offset to read next."""

    def offset_of(self, position: int) -> int:
        """Forget to add one."""
        return position


class UnlimitedGroup(GroupCodec):
    """Takes blobs of any size."""

    blob_bytes_max = 1 << 40
    metadata_characters_max = 1 << 40


class TornMedium(ModelMedium):
    """Writes the rows of a step before the rest, so that a crash can fall between."""

    def abandon(self, step: Step) -> None:
        """Leave the rows of the unfinished step behind."""
        self.commit(Step(rows=step.rows))


class CheckpointFirst(PartitionIngestion):
    """Writes the checkpoint before the data, whatever the settings say."""

    def __init__(self, rules: SyncRules, restored: PartitionState) -> None:
        super().__init__(replace(rules, order=Order.CHECKPOINT_FIRST), restored)

    def rules_changed(self, event: RulesChanged) -> list[Effect]:
        """Take the rules, but not the order."""
        return super().rules_changed(
            RulesChanged(replace(event.rules, order=Order.CHECKPOINT_FIRST))
        )


class NoControlSync(PartitionIngestion):
    """Does not sync on control entries."""

    def begin(self, cause: Cause) -> list[Effect]:
        """Begin a sync for any cause but a control entry."""
        return [] if cause is Cause.CONTROL else super().begin(cause)


class SegmentSync(PartitionIngestion):
    """Syncs on segment markers too."""

    def control(self, event: ControlRead) -> list[Effect]:
        """Begin a sync after every control entry."""
        effects = super().control(event)
        if effects or self.state is not IngestionState.OPEN:
            return effects
        return self.begin(Cause.CONTROL)


class LateThreshold(PartitionIngestion):
    """Syncs when the counter is above the threshold, not when it reaches it."""

    def begin(self, cause: Cause) -> list[Effect]:
        """Wait for one more byte."""
        if cause is Cause.BYTES and self.bytes_since_sync == self.rules.sync_bytes:
            return []
        return super().begin(cause)


class CounterRunsOn(PartitionIngestion):
    """Never counts the bytes anew."""

    def reset_counter(self) -> None:
        """Leave the counter as it is."""


class CheckpointsErrored(PartitionIngestion):
    """Writes the checkpoint of an errored partition when a sync is wanted."""

    _was_errored = False

    def step(self, event: Event) -> list[Effect]:
        """Let the errored state pass a request."""
        if self.state is IngestionState.ERRORED and isinstance(event, SyncRequested):
            self._was_errored = True
            return self.begin(Cause.REQUEST)
        return super().step(event)

    def step_durable(self, event: StepDurable) -> list[Effect]:
        """Return to the errored state after the sync."""
        effects = super().step_durable(event)
        if self._was_errored and self.state is IngestionState.OPEN:
            self.state = IngestionState.ERRORED
        return effects


class AdvancesBeforeWrite(PartitionIngestion):
    """Moves the position before it knows that the record was written."""

    def write_failed(self, event: WriteFailed) -> list[Effect]:
        """Freeze behind the record that is not there."""
        self.checkpoint = replace(self.checkpoint, position=event.position)
        return super().write_failed(event)


class AdvancesAndCheckpointsErrored(AdvancesBeforeWrite, CheckpointsErrored):
    """Lacks both safeguards, as before linkedin/venice pull request 2889."""


class MergesQuietly(PartitionIngestion):
    """Applies a start of push that disagrees with a sibling's."""

    def conflict(
        self, record: ControlRecord, applied: PartitionState, siblings: tuple[VersionCopy, ...]
    ) -> str | None:
        """See no conflict."""
        del record, applied, siblings
        return None


class IgnoresFallback(StoreClient):
    """Uses the custom store although the hook returned none."""

    @property
    def store(self) -> Checkpoints:
        """Return the custom store, always."""
        return next(iter(self.stores.values()))


class LeakingRedirect(StoreClient):
    """Redirects the reads and writes of checkpoints to the custom store, but not the deletes."""

    def reset(self, key: TopicPartition, *, wipe: bool) -> None:
        """Delete the built-in checkpoint, wherever the one in use lies."""
        used = self.settings
        self.settings = replace(used, slot=Slot.BUILT_IN)
        try:
            super().reset(key, wipe=wipe)
        finally:
            self.settings = used


class NeverWipes(StoreClient):
    """Restarts at the beginning over the rows that are there."""

    def reset(self, key: TopicPartition, *, wipe: bool) -> None:
        """Delete the checkpoint only."""
        del wipe
        super().reset(key, wipe=False)


class DropsAllVersions(StoreVersions):
    """Drops every version of a store with the one that it was asked to drop."""

    def drop(self, topic: str) -> None:
        """Drop the topic and then its siblings."""
        super().drop(topic)
        store = parse_topic(topic).store
        for key in self.client.topics.all_partitions():
            if parse_topic(key.topic).store == store:
                self.client.replicas.pop(key, None)
                self.remove((key,), self.client.store.stage_delete(key))


class MergesVersions(StoreVersions):
    """Takes the first partition's word for the whole version."""

    def agreed_copy(self, topic: str) -> VersionCopy | None:
        """Return the first copy, whatever the others say."""
        return next(iter(self.client.version_copies(topic)), None)


class NoDictionary(StoreVersions):
    """Regenerates version state without its dictionary."""

    def dictionary(self, topic: str, copy: VersionCopy) -> str | None:
        """Fetch nothing."""
        del topic, copy
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTwin:
    """A faulty twin: what it is built from, and in one sentence what is wrong with it."""

    says: str
    parts: Parts = Parts()  # noqa: RUF009  (frozen)
    medium: Callable[..., Medium] = ModelMedium
    client: type[StoreClient] = StoreClient
    versions: type[StoreVersions] = StoreVersions

    def factory(self, placement: Placement) -> StoreVersions:
        """Build the twin for a placement."""
        medium = self.medium(atomic=placement is Placement.COLOCATED)
        return self.versions(self.client(placement, medium, parts=self.parts))


def _ingestion(kind: type[PartitionIngestion]) -> StoreTwin:
    return StoreTwin(says=_sentence(kind), parts=Parts(ingestion=kind))


def _slots(kind: type[Checkpoints]) -> StoreTwin:
    return StoreTwin(says=_sentence(kind), parts=Parts(checkpoints=kind))


def _group(kind: Callable[[], Codec]) -> StoreTwin:
    return StoreTwin(says=_sentence(kind), parts=Parts(group_codec=kind))


def _sentence(kind: object) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


TWINS: dict[str, StoreTwin] = {
    "version_not_in_key": _slots(VersionlessSlots),
    "view_not_in_key": _slots(ViewlessSlots),
    "checkpoint_first": _ingestion(CheckpointFirst),
    "colocated_not_atomic": StoreTwin(says=_sentence(TornMedium), medium=TornMedium),
    "aliases_blobs": _slots(AliasingSlots),
    "skips_tamper_check": StoreTwin(
        says=_sentence(BlindCodec), parts=Parts(plain_codec=BlindCodec)
    ),
    "deletes_all_partitions": _slots(DeletesSiblings),
    "drops_all_versions": StoreTwin(says=_sentence(DropsAllVersions), versions=DropsAllVersions),
    "group_offset_off_by_one": _group(OffByOneGroup),
    "no_size_limit": _group(UnlimitedGroup),
    "ignores_null": StoreTwin(says=_sentence(IgnoresFallback), client=IgnoresFallback),
    "no_control_sync": _ingestion(NoControlSync),
    "syncs_on_segments": _ingestion(SegmentSync),
    "threshold_above": _ingestion(LateThreshold),
    "counter_not_reset": _ingestion(CounterRunsOn),
    "checkpoints_errored_replica": _ingestion(CheckpointsErrored),
    "advances_before_write": _ingestion(AdvancesBeforeWrite),
    "advances_and_checkpoints_errored": _ingestion(AdvancesAndCheckpointsErrored),
    "redirect_leaks_deletes": StoreTwin(says=_sentence(LeakingRedirect), client=LeakingRedirect),
    "never_wipes": StoreTwin(says=_sentence(NeverWipes), client=NeverWipes),
    "merges_version_state": StoreTwin(
        says=_sentence(MergesVersions),
        parts=Parts(ingestion=MergesQuietly),
        versions=MergesVersions,
    ),
    "keeps_no_dictionary": StoreTwin(says=_sentence(NoDictionary), versions=NoDictionary),
}
