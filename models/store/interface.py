"""The interface that an implementer of a checkpoint store has to fill: three operations on bytes.

It is the final plan of the proposal: opaque bytes under a strong key.  Bytes, because state is
serialised anyway, one binary column holds it, and user code that only stores and returns it cannot
touch live objects.  The topic is in the key, because versions live side by side.

Source: linkedin/venice, pull request 1476.
"""

from __future__ import annotations

from typing import Protocol

from ckptsim.models.store.topics import TopicPartition


class CheckpointStore(Protocol):
    """Keeps one blob per partition. A stored value changes by `set` and `delete` only."""

    def get(self, key: TopicPartition) -> bytes | None:
        """Return exactly the bytes of the last successful set, or None.

        Raises INVALID_TOPIC, UNKNOWN_TOPIC, UNKNOWN_PARTITION. CORRUPT_CHECKPOINT for damaged
        bytes, and changes nothing then.
        """

    def set(self, key: TopicPartition, blob: bytes) -> None:
        """Replace the blob of a partition. Durable when the call returns.

        Raises INVALID_TOPIC, UNKNOWN_TOPIC, UNKNOWN_PARTITION, INVALID_BLOB, BLOB_TOO_LARGE,
        COMMIT_FAILED, checked in that order. The previous value is kept in every case.
        """

    def delete(self, key: TopicPartition) -> None:
        """Remove the blob of a partition, if there is one.

        Does nothing for a topic that is not registered here.  Raises INVALID_TOPIC,
        UNKNOWN_PARTITION, COMMIT_FAILED.
        """
