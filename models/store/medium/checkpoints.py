"""The checkpoint store that ingestion uses: checks, sealing, and the commit to a medium.

It implements the interface of three operations on top of the slots of a medium.  Whatever comes in
is copied to bytes at the door, so that no one outside holds a reference to a stored value.
"""

from __future__ import annotations

from typing import Protocol

from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.medium.codec import Codec
from ckptsim.models.store.medium.medium import Medium, Slot, SlotWrite, Step
from ckptsim.models.store.state import PartitionState
from ckptsim.models.store.topics import LocalTopics, TopicPartition, parse_topic


class Live(Protocol):
    """The ingestion of a partition: its state, which changes later."""

    checkpoint: PartitionState


class Checkpoints:
    """One checkpoint store over one kind of slot. Counts the writes that reach the medium.

    A refused commit is armed with `fail_next_commit` where the medium is remote. It represents a
    broker that does not answer, and hits the next write of that partition once.
    """

    def __init__(
        self, medium: Medium, topics: LocalTopics, *, codec: Codec, slot: Slot, remote: bool
    ) -> None:
        self._medium = medium
        self._topics = topics
        self._codec = codec
        self._slot = slot
        self._remote = remote
        self._failing: dict[TopicPartition, None] = {}
        self.writes = 0

    def get(self, key: TopicPartition) -> bytes | None:
        """Return exactly the bytes of the last successful set, or None."""
        parse_topic(key.topic)
        self._topics.check(key)
        stored = self.stored(key)
        return None if stored is None else self._codec.decode(self.slot_key(key), stored)

    def set(self, key: TopicPartition, blob: bytes) -> None:
        """Replace the blob of a partition. Durable when the call returns."""
        self._medium.commit(Step(slots=(self.stage(key, blob),)))

    def delete(self, key: TopicPartition) -> None:
        """Remove the blob of a partition. A silent no-op for a topic that is not registered.

        Source: linkedin/venice, pull request 895 (the no-op).
        """
        parse_topic(key.topic)
        if not self._topics.knows(key.topic):
            return
        for write in self.stage_delete(key):
            self._medium.commit(Step(slots=(write,)))

    def stage(self, key: TopicPartition, blob: bytes) -> SlotWrite:
        """Check, seal and count a blob, and return the write that a step may carry."""
        write = self.seal(key, blob)
        self._count_write(key)
        return write

    def put(self, key: TopicPartition, blob: bytes, live: Live) -> tuple[SlotWrite, ...]:
        """Return the writes of a sync. live: the state itself, which changes after it."""
        del live
        return (self.stage(key, blob),)

    def process_ended(self) -> None:
        """Lose everything in memory. Bytes have nothing there."""

    def seal(self, key: TopicPartition, blob: bytes) -> SlotWrite:
        """Check and seal a blob, and return the write, which counts for nothing yet."""
        parse_topic(key.topic)
        self._topics.check(key)
        if not isinstance(blob, bytes | bytearray | memoryview):
            found = f"found {type(blob).__name__}, expected bytes"
            raise StoreError(Refusal.INVALID_BLOB, state=found, event=key)
        stored = self._codec.encode(self.slot_key(key), bytes(blob))
        return SlotWrite(slot=self._slot, key=self.slot_key(key), stored=stored)

    def stage_delete(self, key: TopicPartition) -> tuple[SlotWrite, ...]:
        """Return the writes that remove the blob of a partition."""
        self._topics.check(key)
        self._count_write(key)
        return (SlotWrite(slot=self._slot, key=self.slot_key(key), stored=None),)

    def fail_next_commit(self, key: TopicPartition) -> None:
        """Let the next write of this partition fail once, where the medium is remote."""
        if self._remote:
            self._failing[key] = None

    def slot_key(self, key: TopicPartition) -> TopicPartition:
        """Return the key of the slot: topic and partition, so that versions never share one."""
        return key

    def stored(self, key: TopicPartition) -> bytes | None:
        """Return what the medium holds for a partition, without a check of any kind."""
        return self._medium.slot(self._slot, self.slot_key(key))

    def overwrite(self, key: TopicPartition, stored: bytes) -> None:
        """Put bytes into the slot past the store, as another party or a bad disk does."""
        write = SlotWrite(slot=self._slot, key=self.slot_key(key), stored=stored)
        self._medium.commit(Step(slots=(write,)))

    def overwrite_blob(self, key: TopicPartition, blob: bytes) -> None:
        """Put a validly sealed blob into the slot past the store."""
        self.overwrite(key, self._codec.encode(self.slot_key(key), blob))

    def _count_write(self, key: TopicPartition) -> None:
        self.writes += 1
        if key in self._failing:
            del self._failing[key]
            raise StoreError(Refusal.COMMIT_FAILED, state="the medium refused it", event=key)
