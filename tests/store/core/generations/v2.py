"""Second generation: a storage engine for checkpoints, one instance per store version.

The built-in metadata service is rewritten on top of it, so that an implementer has less to fill.
One engine per version means that its operations name no topic.  Its weakness: nothing reminds an
implementer that two versions live at once, and one engine after two of them lets the second clobber
the first. Objects are as live as before.

Source: linkedin/venice, pull request 1476, second stage. The missing topic is inferred from engines
being per version there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ckptsim.models.store.interface import CheckpointStore
from ckptsim.models.store.state import VersionCopy
from ckptsim.models.store.topics import LocalTopics
from tests.store.core.generations.v1 import LiveState, MetadataOverStore


class CheckpointStorageEngine(Protocol):
    """Checkpoints of one store version."""

    def put_partition_state(self, partition: int, state: LiveState) -> None:
        """Store the state of a partition."""
        ...

    def get_partition_state(self, partition: int) -> LiveState | None:
        """Return the state of a partition, or None."""
        ...

    def clear_partition_state(self, partition: int) -> None:
        """Remove the state of a partition."""
        ...

    def put_version_state(self, state: VersionCopy) -> None:
        """Store the state of the version."""
        ...

    def get_version_state(self) -> VersionCopy | None:
        """Return the state of the version, or None."""
        ...

    def clear_version_state(self) -> None:
        """Remove the state of the version."""
        ...


class EngineOverStore:
    """An engine of one version on top of the store of three operations: it binds the topic."""

    def __init__(self, store: CheckpointStore, topics: LocalTopics, topic: str) -> None:
        self._metadata = MetadataOverStore(store, topics)
        self._topic = topic

    def put_partition_state(self, partition: int, state: LiveState) -> None:
        """Store the state of a partition under the version's topic."""
        self._metadata.put(self._topic, partition, state)

    def get_partition_state(self, partition: int) -> LiveState | None:
        """Return the state of a partition, or None while nothing was processed."""
        state = self._metadata.get(self._topic, partition)
        return None if state == LiveState() else state

    def clear_partition_state(self, partition: int) -> None:
        """Remove the state of a partition."""
        self._metadata.clear(self._topic, partition)

    def put_version_state(self, state: VersionCopy) -> None:
        """Write the version's copy into every partition's state."""
        self._metadata.compute_version_state(self._topic, lambda _old: state)

    def get_version_state(self) -> VersionCopy | None:
        """Regenerate the state of the version. Raises INCONSISTENT_SVS."""
        return self._metadata.get_version_state(self._topic)

    def clear_version_state(self) -> None:
        """Remove the states of all partitions of the version."""
        self._metadata.clear_version_state(self._topic)


class EngineWithoutTopic:
    """What an implementer writes who does not know that versions live side by side.

    It is right for one version.  Handed out for two of them, they share every slot.
    """

    def __init__(self) -> None:
        self._states: dict[int, LiveState] = {}
        self._version: VersionCopy | None = None

    def put_partition_state(self, partition: int, state: LiveState) -> None:
        """Keep the state of a partition, of whichever version."""
        self._states[partition] = state

    def get_partition_state(self, partition: int) -> LiveState | None:
        """Return the state of a partition, of whichever version."""
        return self._states.get(partition)

    def clear_partition_state(self, partition: int) -> None:
        """Forget the state of a partition, of whichever version."""
        self._states.pop(partition, None)

    def put_version_state(self, state: VersionCopy) -> None:
        """Keep the state of whichever version."""
        self._version = state

    def get_version_state(self) -> VersionCopy | None:
        """Return the state of whichever version."""
        return self._version

    def clear_version_state(self) -> None:
        """Forget the state of whichever version."""
        self._version = None


class MetadataOverEngines:
    """The metadata service of the first generation, rewritten on top of engines per version."""

    def __init__(self, engine_of: Callable[[str], CheckpointStorageEngine]) -> None:
        self._engine_of = engine_of

    def put(self, topic: str, partition: int, state: LiveState) -> None:
        """Store the state of a partition in its version's engine."""
        self._engine_of(topic).put_partition_state(partition, state)

    def get(self, topic: str, partition: int) -> LiveState:
        """Return the state of a partition. An empty one, never None, when there is none."""
        state = self._engine_of(topic).get_partition_state(partition)
        return LiveState() if state is None else state

    def clear(self, topic: str, partition: int) -> None:
        """Remove the state of a partition from its version's engine."""
        self._engine_of(topic).clear_partition_state(partition)

    def compute_version_state(
        self, topic: str, change: Callable[[VersionCopy | None], VersionCopy]
    ) -> VersionCopy:
        """Change the state of a version."""
        engine = self._engine_of(topic)
        changed = change(engine.get_version_state())
        engine.put_version_state(changed)
        return changed

    def get_version_state(self, topic: str) -> VersionCopy | None:
        """Return the state of a version, or None."""
        return self._engine_of(topic).get_version_state()

    def clear_version_state(self, topic: str) -> None:
        """Remove the state of a version."""
        self._engine_of(topic).clear_version_state()
