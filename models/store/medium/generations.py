"""Stores of earlier interfaces, as an implementer fills them who knows no more than the interface.

| generation | the interface | it invites to |
|---|---|---|
| six operations | typed, mutable objects under a topic | keep objects, and miss clears |
| accessors | the same objects, read-only | keep views of objects |
| wrappers | a copy of the public fields | forget the other fields |
| offset manager | the half of a partition, without its version | keep two stores |
| two levels | an engine per version, without a topic | use one engine for all, keep objects |
| store and version | a key of store and version | write a view over its version |
| decorated views | the same, and views named as stores by a decorator | - |

The interface of three operations is `Checkpoints` itself.

Source: linkedin/venice, pull request 1476: its stages, and the alternatives of its review, with
the decorators of views (1466).  Which call sites miss the service is read there at 77ea837f47.
"""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models.store.medium.checkpoints import Checkpoints, Live
from ckptsim.models.store.medium.medium import Slot, SlotWrite
from ckptsim.models.store.state import PartitionState, VersionCopy, decode_state, encode_state
from ckptsim.models.store.topics import TopicPartition, parse_topic


class LiveObjects(Checkpoints):
    """Keeps the objects that it was handed, and writes all of them at each put, as one file.

    An object that ingestion has changed since is written as it is then: ahead of its rows.
    """

    _kept: dict[TopicPartition, Live] | None = None

    def put(self, key: TopicPartition, blob: bytes, live: Live) -> tuple[SlotWrite, ...]:
        """Write this state, and the states of other partitions as they are by now."""
        kept = self._objects()
        kept[self.slot_key(key)] = live
        others = (each for each in kept if each != self.slot_key(key))
        return self.stage(key, blob), *(
            replace(self._sealed(each, encode_state(kept[each].checkpoint)), key=each)
            for each in others
        )

    def get(self, key: TopicPartition) -> bytes | None:
        """Return the object that is kept, as it is by now."""
        stored, live = super().get(key), self._objects().get(self.slot_key(key))
        return stored if live is None else encode_state(live.checkpoint)

    def stage_delete(self, key: TopicPartition) -> tuple[SlotWrite, ...]:
        """Forget the object too."""
        self._objects().pop(self.slot_key(key), None)
        return super().stage_delete(key)

    def process_ended(self) -> None:
        """Lose all objects: memory is gone."""
        self._objects().clear()

    def _objects(self) -> dict[TopicPartition, Live]:
        if self._kept is None:
            self._kept = {}
        return self._kept

    def _sealed(self, slot_key: TopicPartition, blob: bytes) -> SlotWrite:
        stored = self._codec.encode(slot_key, blob)
        return SlotWrite(slot=self._slot, key=slot_key, stored=stored)


class SixOperations(LiveObjects):
    """Live objects, and clears that go to the storage engine past the service."""

    def stage_delete(self, key: TopicPartition) -> tuple[SlotWrite, ...]:
        """Return nothing: neither the recovery hook nor a drop asks the service to clear."""
        del key
        return ()


class TwoLevels(LiveObjects):
    """One engine for all versions of a store: its operations name a partition only."""

    def slot_key(self, key: TopicPartition) -> TopicPartition:
        """Name the partition, of whichever version and view."""
        return TopicPartition("engine_v0", key.partition)


class StoreAndVersion(Checkpoints):
    """A key of store and version, into which a view topic has to be mapped."""

    def slot_key(self, key: TopicPartition) -> TopicPartition:
        """Name the slot by store and version only."""
        name = parse_topic(key.topic)
        return TopicPartition(f"{name.store}_v{name.version}", key.partition)


class DecoratedViews(Checkpoints):
    """The same key with a decorator, which presents each view as a store `STORE.VIEW`."""

    def slot_key(self, key: TopicPartition) -> TopicPartition:
        """Name the slot by store and version only, of a view by a store of its own."""
        name = parse_topic(key.topic)
        store = name.store if name.view is None else f"{name.store}.{name.view}"
        return TopicPartition(f"{store}_v{name.version}", key.partition)


class Wrappers(Checkpoints):
    """Copies a state into a class of its own, with the fields that are public."""

    def seal(self, key: TopicPartition, blob: bytes) -> SlotWrite:
        """Keep position, end of push and version."""
        state = decode_state(blob) if isinstance(blob, bytes) else None
        if state is not None:
            blob = encode_state(replace(state, producers=(), transformer_hash=None))
        return super().seal(key, blob)


class OffsetManager(Checkpoints):
    """Keeps the state of the partition. Its version stays in the built-in store."""

    def put(self, key: TopicPartition, blob: bytes, live: Live) -> tuple[SlotWrite, ...]:
        """Write the half of the partition here, and the half of the version there."""
        version = encode_state(PartitionState(version=live.checkpoint.version))
        half = encode_state(replace(live.checkpoint, version=None))
        there = SlotWrite(slot=Slot.BUILT_IN, key=key, stored=self._codec.encode(key, version))
        return self.stage(key, half), there

    def get(self, key: TopicPartition) -> bytes | None:
        """Put both halves together again, as far as they are there."""
        blob = super().get(key)
        state = None if blob is None else decode_state(blob)
        if state is None:
            return blob
        return encode_state(replace(state, version=self._version(key) or state.version))

    def _version(self, key: TopicPartition) -> VersionCopy | None:
        stored = self._medium.slot(Slot.BUILT_IN, key)
        found = None if stored is None else decode_state(self._codec.decode(key, stored))
        return None if found is None else found.version


GENERATIONS: dict[str, type[Checkpoints]] = {
    "three_operations": Checkpoints,
    "six_operations": SixOperations,
    "accessors": LiveObjects,
    "wrappers": Wrappers,
    "offset_manager": OffsetManager,
    "two_levels": TwoLevels,
    "store_and_version": StoreAndVersion,
    "decorated_views": DecoratedViews,
}
