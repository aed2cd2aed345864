"""First generation: a metadata service of six operations on typed, mutable objects.

The user implements all six, for partitions and for whole versions, under a topic that is a text.
Its weakness: objects are live, so a kept reference can change the stored data. The version's state
has a life of its own beside the partitions' states. And every caller inside has to go through the
service, which not all did (see `ckptsim.models.store.medium.generations`).

Source: linkedin/venice, pull request 1476, first stage. Signatures after `StorageMetadataService`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from ckptsim.models.store.interface import CheckpointStore
from ckptsim.models.store.state import (
    NOTHING,
    PartitionState,
    VersionCopy,
    agreed,
    decode_state,
    encode_state,
)
from ckptsim.models.store.topics import LocalTopics, TopicPartition


@dataclass(slots=True, kw_only=True)
class LiveState:
    """A partition state as the first two generations handed it around: typed and mutable."""

    position: int = NOTHING
    end_of_push: bool = False


class MetadataService(Protocol):
    """The six operations that an implementer has to fill."""

    def put(self, topic: str, partition: int, state: LiveState) -> None:
        """Store the state of a partition."""
        ...

    def get(self, topic: str, partition: int) -> LiveState:
        """Return the state of a partition. An empty one, never None, when there is none."""
        ...

    def clear(self, topic: str, partition: int) -> None:
        """Remove the state of a partition."""
        ...

    def compute_version_state(
        self, topic: str, change: Callable[[VersionCopy | None], VersionCopy]
    ) -> VersionCopy:
        """Read, change and write the state of a version in one go, and return it."""
        ...

    def get_version_state(self, topic: str) -> VersionCopy | None:
        """Return the state of a version, or None."""
        ...

    def clear_version_state(self, topic: str) -> None:
        """Remove the state of a version and the states of its partitions."""
        ...


class MetadataOverStore:
    """The six operations on top of the store of three: serialised, so nothing stays live.

    The version's state has no slot of its own there. It goes into every partition's state and is
    regenerated from them.
    """

    def __init__(self, store: CheckpointStore, topics: LocalTopics) -> None:
        self._store = store
        self._topics = topics

    def put(self, topic: str, partition: int, state: LiveState) -> None:
        """Store the state of a partition beside the version's copy that is there."""
        key = TopicPartition(topic, partition)
        changed = replace(self._read(key), position=state.position, end_of_push=state.end_of_push)
        self._store.set(key, encode_state(changed))

    def get(self, topic: str, partition: int) -> LiveState:
        """Return a fresh object with the state of a partition."""
        state = self._read(TopicPartition(topic, partition))
        return LiveState(position=state.position, end_of_push=state.end_of_push)

    def clear(self, topic: str, partition: int) -> None:
        """Delete the blob of a partition."""
        self._store.delete(TopicPartition(topic, partition))

    def compute_version_state(
        self, topic: str, change: Callable[[VersionCopy | None], VersionCopy]
    ) -> VersionCopy:
        """Write the changed copy into every partition's state."""
        changed = change(self.get_version_state(topic))
        for key in self._topics.of_topic(topic):
            self._store.set(key, encode_state(replace(self._read(key), version=changed)))
        return changed

    def get_version_state(self, topic: str) -> VersionCopy | None:
        """Regenerate the state of a version. Raises INCONSISTENT_SVS."""
        copies = (self._read(key).version_copy() for key in self._topics.of_topic(topic))
        return agreed(copy for copy in copies if copy is not None)

    def clear_version_state(self, topic: str) -> None:
        """Delete the blobs of all partitions of a topic."""
        for key in self._topics.of_topic(topic):
            self._store.delete(key)

    def _read(self, key: TopicPartition) -> PartitionState:
        blob = self._store.get(key)
        state = None if blob is None else decode_state(blob, of=key)
        return PartitionState() if state is None else state


class LiveMetadata:
    """What an implementer writes first: dictionaries that keep the objects they were handed.

    It keeps the letter of the interface.  Callers that reuse or edit such an object change the
    stored data.
    """

    def __init__(self) -> None:
        self._states: dict[tuple[str, int], LiveState] = {}
        self._versions: dict[str, VersionCopy] = {}

    def put(self, topic: str, partition: int, state: LiveState) -> None:
        """Keep the caller's object."""
        self._states[topic, partition] = state

    def get(self, topic: str, partition: int) -> LiveState:
        """Return the stored object itself, or a new empty one."""
        return self._states.get((topic, partition), LiveState())

    def clear(self, topic: str, partition: int) -> None:
        """Forget the state of a partition."""
        self._states.pop((topic, partition), None)

    def compute_version_state(
        self, topic: str, change: Callable[[VersionCopy | None], VersionCopy]
    ) -> VersionCopy:
        """Change the state of a version."""
        self._versions[topic] = change(self._versions.get(topic))
        return self._versions[topic]

    def get_version_state(self, topic: str) -> VersionCopy | None:
        """Return the state of a version, or None."""
        return self._versions.get(topic)

    def clear_version_state(self, topic: str) -> None:
        """Forget the version-level state only, as the built-in implementation does.

        The contract says that the partitions' states go too.
        Source: linkedin/venice, `RocksDBStorageEngine.clearStoreVersionState`.
        """
        self._versions.pop(topic, None)


class RecordTransformer(Protocol):
    """The part of a user's transformer that chooses where checkpoints go."""

    def storage_metadata_service(self) -> MetadataService | None:
        """Return the user's service. None leaves the built-in path unchanged."""
        ...


def metadata_for(
    transformer: RecordTransformer | None, built_in: MetadataService
) -> MetadataService:
    """Choose the service of an ingestion task, once, when it starts."""
    service = None if transformer is None else transformer.storage_metadata_service()
    return built_in if service is None else service
