"""Mutants of the client and of its versions."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models.store.client import StoreClient
from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.medium import Checkpoints, RowsWrite, Slot, SlotWrite, Step
from ckptsim.models.store.replica import Replica
from ckptsim.models.store.state import PartitionState, VersionCopy
from ckptsim.models.store.topics import TopicPartition, parse_topic
from ckptsim.models.store.versions import StoreVersions


class IgnoresFallback(StoreClient):
    """Uses the custom store although the hook returned none."""

    @property
    def store(self) -> Checkpoints:
        """Return the custom store, always."""
        return next(iter(self.stores.values()))


class LeakingRedirect(StoreClient):
    """Redirects the reads and writes of checkpoints to the custom store, but not the deletes."""

    def stage_forget(self, key: TopicPartition) -> tuple[SlotWrite, ...]:
        """Delete the built-in checkpoint, wherever the one in use lies."""
        return self.stores[Slot.BUILT_IN].stage_delete(key)


class ForgetsOneSlot(StoreClient):
    """Deletes the checkpoint of the slot in use only, in a reset as in a drop."""

    def stage_forget(self, key: TopicPartition) -> tuple[SlotWrite, ...]:
        """Leave the other slot's checkpoint after."""
        return self.store.stage_delete(key)


class TakesUnreadableForNone(StoreClient):
    """Starts from the beginning on the old rows when a checkpoint is of a newer schema."""

    def restored(self, key: TopicPartition) -> PartitionState:
        """Return an empty state where the right client refuses."""
        try:
            return super().restored(key)
        except StoreError as error:
            if error.refusal is not Refusal.UNREADABLE_CHECKPOINT:
                raise
            return PartitionState()


class DropsAllVersions(StoreVersions):
    """Drops every version of a store with the one that it was asked to drop."""

    def drop(self, topic: str) -> None:
        """Drop the topic and then its siblings."""
        super().drop(topic)
        store = parse_topic(topic).store
        siblings = (f"{store}_v{version}" for version in range(1, 10))
        for sibling in filter(self.client.topics.knows, siblings):
            for key in self.client.topics.of_topic(sibling):
                self.client.close(key)
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


class WipesBeforeClearing(StoreClient):
    """Removes the rows of a partition before the checkpoint that speaks of them."""

    def commit_in_order(self, slots: tuple[SlotWrite, ...], rows: tuple[RowsWrite, ...]) -> None:
        """Commit the rows first."""
        self.medium.commit(Step(rows=rows))
        self.medium.commit(Step(slots=slots))


class ReusesReplica(StoreClient):
    """Opens a partition with the state of its last incarnation (linkedin/venice, 2589)."""

    def open(self, key: TopicPartition) -> None:
        """Keep the position that the old incarnation had in memory."""
        before: Replica | None = self.replicas.get(key)
        super().open(key)
        if before is not None:
            old, new = before.ingestion.checkpoint, self.replicas[key].ingestion
            new.checkpoint = replace(old, position=max(old.position, new.checkpoint.position))


class HangsOnRecovery(StoreClient):
    """Waits for ever for a recovery that has failed."""

    fails_as_a_task = False


class GoesOnBeyondTheLog(StoreClient):
    """Opens a partition with a checkpoint that lies beyond the end of its log."""

    def check_position(self, key: TopicPartition, position: int) -> None:
        """Look at nothing."""


class SwapsEarly(StoreVersions):
    """Makes a version current with a push that has not ended everywhere."""

    def swap(self, store: str, version: int) -> None:
        """Move the pointer without a look at the partitions."""
        self.current[store] = version


class KeepsDroppedRows(StoreVersions):
    """Forgets a dropped version and its checkpoints, and leaves its rows where they are."""

    def remove(self, keys: tuple[TopicPartition, ...], slots: tuple[SlotWrite, ...]) -> None:
        """Delete the checkpoints alone."""
        self.client.commit_in_order(slots, ())
