"""Names of topics and partitions, and which of them exist locally.

A checkpoint is keyed by a partition of a *version topic* `<store>_v<N>` or of a *view topic*
`<store>_v<N>_<view>_mv`.  Real-time topics `<store>_rt` are never keys: their position is part of
the state of a version.  Two versions of a store live at once, therefore the topic stays in the key.
Views are topics of their own.

Source: linkedin/venice, `Version.java`, `VeniceView.java` (suffix `_mv`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ckptsim.models.store.errors import Refusal, StoreError

# Source: Apache Kafka, `Topic.LEGAL_CHARS` and `MAX_NAME_LENGTH`.
TOPIC_CHARACTERS_MAX = 249
_LEGAL = r"[a-zA-Z0-9._-]+"
_TOPIC = re.compile(rf"(?P<store>{_LEGAL})_v(?P<version>[0-9]+)(?:_(?P<view>{_LEGAL})_mv)?")
# Assumption: no topic comes near it. A number above is a mistake of the caller.
PARTITIONS_MAX = 1_000_000


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """One partition of a topic: the key of data and checkpoints."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicName:
    """What a valid topic speaks of. `view` is None for a version topic."""

    store: str
    version: int
    view: str | None


def parse_topic(topic: str) -> TopicName:
    """Take the name of a version or view topic apart.

    Raises StoreError INVALID_TOPIC for every other text.
    """
    match = _TOPIC.fullmatch(topic) if isinstance(topic, str) else None
    if match is None or len(topic) > TOPIC_CHARACTERS_MAX:
        expected = (
            "expected STORE_vN or STORE_vN_VIEW_mv, letters, digits and . _ -, at most "
            f"{TOPIC_CHARACTERS_MAX} characters"
        )
        raise StoreError(Refusal.INVALID_TOPIC, state=expected, event=topic)
    return TopicName(
        store=match["store"], version=int(match["version"]), view=match["view"] or None
    )


def version_topic(store: str, version: int) -> str:
    """Name the topic of one version of a store."""
    return f"{store}_v{version}"


class LocalTopics:
    """The topics that exist here, each with its number of partitions."""

    def __init__(self) -> None:
        self._partitions: dict[str, int] = {}
        self._keys: dict[str, tuple[TopicPartition, ...]] = {}  # made once for each topic

    def register(self, topic: str, partitions: int) -> None:
        """Make a topic known. Raises INVALID_TOPIC unless it is a version or view topic."""
        parse_topic(topic)
        if not _is_index(partitions, PARTITIONS_MAX + 1) or partitions < 1:
            state = f"partitions: found {partitions!r}, expected 1 to {PARTITIONS_MAX}"
            raise StoreError(Refusal.INVALID_ARGUMENT, state=state, event=topic)
        self._partitions[topic] = partitions
        self._keys[topic] = tuple(TopicPartition(topic, index) for index in range(partitions))

    def forget(self, topic: str) -> None:
        """Make a topic unknown again."""
        self._partitions.pop(topic, None)

    def knows(self, topic: str) -> bool:
        """Return whether the topic is registered here."""
        return topic in self._partitions

    def check_topic(self, topic: str) -> None:
        """Raise UNKNOWN_TOPIC unless the topic is registered here."""
        if topic not in self._partitions:
            known = ", ".join(self._partitions) or "none"
            raise StoreError(Refusal.UNKNOWN_TOPIC, state=f"registered: {known}", event=topic)

    def check(self, key: TopicPartition) -> None:
        """Raise UNKNOWN_TOPIC or UNKNOWN_PARTITION unless the partition exists here."""
        self.check_topic(key.topic)
        if not _is_index(key.partition, self._partitions[key.topic]):
            expected = f"expected 0 to {self._partitions[key.topic] - 1}"
            raise StoreError(Refusal.UNKNOWN_PARTITION, state=expected, event=key)

    def of_topic(self, topic: str) -> tuple[TopicPartition, ...]:
        """List the partitions of a registered topic by index. Raises UNKNOWN_TOPIC."""
        self.check_topic(topic)
        return self._keys[topic]


def _is_index(value: object, end: int) -> bool:
    """Return whether a value is an integer from 0 to below an end. A truth value is none."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < end
