"""Versions of a store: how one is made, dropped, made current, and what a version has in common.

The current pointer moves only to a version after the end of push of all local partitions. A dropped
version takes its own rows, checkpoints and registration with it and nothing else. The current
version cannot be dropped.

Source: linkedin/venice, pull requests 1448, 1459 and 1474 (a swap that wiped the current version,
one view for all stores).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ckptsim.models.store.client import StoreClient
from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.medium import Area, ModelMedium, RowsWrite, SlotWrite
from ckptsim.models.store.settings import Placement
from ckptsim.models.store.state import DICTIONARY_STRATEGY, VersionCopy, VersionState, agreed
from ckptsim.models.store.topics import TopicPartition, version_topic

T = TypeVar("T")


class StoreVersions:
    """The versions that a client keeps. `current` names one per store."""

    def __init__(self, client: StoreClient) -> None:
        self.client = client
        self.current: dict[str, int] = {}
        self._unready = Patrol[TopicPartition]()

    def swap(self, store: str, version: int) -> None:
        """Point a store at a version. Raises UNKNOWN_TOPIC or NOT_READY."""
        keys = self.client.topics.of_topic(version_topic(store, version))
        unready = self._unready.first_not(keys, self._has_ended)
        if unready is not None:
            raise StoreError(Refusal.NOT_READY, state="no end of push", event=unready)
        self.current[store] = version

    def _has_ended(self, key: TopicPartition) -> bool:
        state = self.client.known_state(key)
        return state is not None and state.end_of_push

    def drop(self, topic: str) -> None:
        """Delete rows, checkpoints and registration of a topic.

        Raises UNKNOWN_TOPIC. VERSION_IN_USE for the current version, and nothing is dropped then.
        COMMIT_FAILED, and the topic stays registered then so that the drop can be repeated.
        """
        keys = self.client.topics.of_topic(topic)
        if any(topic == version_topic(store, each) for store, each in self.current.items()):
            reason = "it is the current version, expected another one"
            raise StoreError(Refusal.VERSION_IN_USE, state=reason, event=topic)
        for key in keys:
            self.client.close(key)
        slots = tuple(write for key in keys for write in self.client.stage_forget(key))
        self.remove(keys, slots)
        self.client.topics.forget(topic)

    def remove(self, keys: tuple[TopicPartition, ...], slots: tuple[SlotWrite, ...]) -> None:
        """Delete checkpoints and rows: in one transaction where there is one."""
        rows = tuple(
            RowsWrite(area=area, key=key, changes={}, wipe=True) for key in keys for area in Area
        )
        self.client.commit_in_order(slots, rows)

    def state(self, topic: str) -> VersionState | None:
        """Regenerate the state of a version, or return None while no start of push was seen.

        Raises UNKNOWN_TOPIC, INCONSISTENT_SVS, DICT_UNAVAILABLE.
        """
        copy = self.agreed_copy(topic)
        if copy is None:
            return None
        return VersionState(copy=copy, compression_dictionary=self.dictionary(topic, copy))

    def agreed_copy(self, topic: str) -> VersionCopy | None:
        """Return what all partitions of a topic say. Raises INCONSISTENT_SVS."""
        return agreed(self.client.version_copies(topic))

    def dictionary(self, topic: str, copy: VersionCopy) -> str | None:
        """Return the dictionary of a version that is compressed with one: its copy, or fetched."""
        if copy.compression_strategy != DICTIONARY_STRATEGY:
            return None
        if isinstance(copy.compression_dictionary, str):
            return copy.compression_dictionary
        found = self.client.dictionaries.fetch(topic)
        self.client.journal.record_fetch()
        return found


class Patrol(Generic[T]):
    """Looks for one of many that is not there yet, beginning with the one of the last time.

    Where each asks as it arrives, each is looked at once or twice, and not each time.
    """

    def __init__(self) -> None:
        self._at = 0

    def first_not(self, many: Sequence[T], holds: Callable[[T], bool]) -> T | None:
        """Return one for which something does not hold, or None where it holds for all."""
        for step in range(len(many)):
            at = (self._at + step) % len(many)
            if not holds(many[at]):
                self._at = at
                return many[at]
        return None


def make_store(placement: Placement) -> StoreVersions:
    """Return a fresh client with its versions. Its medium survives every crash."""
    medium = ModelMedium(atomic=placement is Placement.COLOCATED)
    return StoreVersions(StoreClient(placement, medium))
