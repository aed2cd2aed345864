"""Mutants of the store's keys, codecs and media."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models.store import medium
from ckptsim.models.store.replica import WorkingContent
from ckptsim.models.store.topics import TopicPartition, parse_topic


class VersionlessSlots(medium.Checkpoints):
    """Leaves the version out of the key of a slot."""

    def slot_key(self, key: TopicPartition) -> TopicPartition:
        """Name the slot by store and view only."""
        name = parse_topic(key.topic)
        return TopicPartition(f"{name.store}_v0_{name.view}_mv", key.partition)


class ViewlessSlots(medium.Checkpoints):
    """Leaves the view out of the key of a slot."""

    def slot_key(self, key: TopicPartition) -> TopicPartition:
        """Name the slot by store and version only."""
        name = parse_topic(key.topic)
        return TopicPartition(f"{name.store}_v{name.version}", key.partition)


class AliasingSlots(medium.Checkpoints):
    """Keeps and returns the caller's own object instead of a copy of its bytes."""

    _live: dict[TopicPartition, bytes] | None = None

    def get(self, key: TopicPartition) -> bytes | None:
        """Return the live object while the slot holds the settings by it."""
        blob = super().get(key)
        return blob if blob is None else self._objects().get(key, blob)

    def set(self, key: TopicPartition, blob: bytes) -> None:
        """Store the bytes and remember the object."""
        super().set(key, blob)
        self._objects()[key] = blob

    def stage(self, key: TopicPartition, blob: bytes) -> medium.SlotWrite:
        """Forget the object, the slot is about to hold something else."""
        write = super().stage(key, blob)
        self._objects().pop(key, None)
        return write

    def _objects(self) -> dict[TopicPartition, bytes]:
        if self._live is None:
            self._live = {}
        return self._live


class DeletesSiblings(medium.Checkpoints):
    """Deletes the blobs of all partitions of a topic with the one it was asked to delete."""

    def stage_delete(self, key: TopicPartition) -> tuple[medium.SlotWrite, ...]:
        """Return a delete for every partition of the topic."""
        (wanted,) = super().stage_delete(key)
        topic = self._topics.of_topic(key.topic)
        return tuple(replace(wanted, key=self.slot_key(each)) for each in topic)


class BlindCodec(medium.PlainCodec):
    """Returns a payload without looking at the checksum."""

    def decode(self, key: TopicPartition, stored: bytes) -> bytes:
        """Cut the payload out of a frame by the lengths that a right frame has."""
        overhead = len(self.encode(key, b""))
        start = overhead - 32
        return stored[start : len(stored) - 32]


class OffByOneGroup(medium.GroupCodec):
    """Commits the last processed position as the offset to read next."""

    def offset_of(self, position: int) -> int:
        """Forget to add one."""
        return position


class UnlimitedGroup(medium.GroupCodec):
    """Takes blobs of any size."""

    blob_bytes_max = 1 << 40
    metadata_characters_max = 1 << 40


class TornMedium(medium.ModelMedium):
    """Writes the rows of a step before the rest, so that a crash can fall between."""

    def abandon(self, step: medium.Step) -> None:
        """Leave the rows of the unfinished step after."""
        self.commit(medium.Step(rows=step.rows))


class ForgetfulMedium(medium.ModelMedium):
    """Reports a checkpoint as durable that is still in a cache, which a crash empties."""

    def __init__(self, *, atomic: bool) -> None:
        super().__init__(atomic=atomic)
        self._before = medium.Step()

    def commit(self, step: medium.Step) -> None:
        """Remember what the slots held before."""
        olds = (replace(each, stored=self.slot(each.slot, each.key)) for each in step.slots)
        self._before = medium.Step(slots=tuple(olds))
        super().commit(step)

    def crash(self) -> None:
        """Lose the checkpoints that were reported last."""
        self.commit(self._before)


class MirrorsDeleted(WorkingContent):
    """Has in its whole content all that was deleted since the last flush, and so in a mirror."""

    def rows(self) -> medium.Rows:
        """Leave rows in that are deleted and not flushed."""
        rows = self._medium.rows(medium.Area.DATA, self._key)
        return super().rows() | {
            name: rows[name]
            for name, value in super().changes().items()
            if value is None and name in rows
        }


class FlushesNoDeletes(WorkingContent):
    """Flushes everything that was put and forgets everything that was deleted."""

    def changes(self) -> medium.Changes:
        """Return the puts only."""
        return {name: value for name, value in super().changes().items() if value is not None}
