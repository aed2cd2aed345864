"""The interface that an implementer of a checkpoint store has to fill: three operations on bytes.

It is the final plan of the proposal: opaque bytes under a strong key.  Bytes, because state is
serialised anyway, one binary column holds it, and user code that only stores and returns it cannot
touch live objects.  The topic is in the key, because versions live side by side.

Source: linkedin/venice, pull request 1476.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from ckptsim.models.core import ProtocolError

if TYPE_CHECKING:
    from ckptsim.models.store.topics import TopicPartition


class CheckpointStore(Protocol):
    """Keeps one blob per partition; a stored value changes by `set` and `delete` only."""

    def get(self, key: TopicPartition) -> bytes | None:
        """Return exactly the bytes of the last successful set, or None.

        Raises INVALID_TOPIC, UNKNOWN_TOPIC, UNKNOWN_PARTITION; CORRUPT_CHECKPOINT when the stored
        bytes are not what was set, and changes nothing then.
        """
        ...

    def set(self, key: TopicPartition, blob: bytes) -> None:
        """Replace the blob of a partition; durable when the call returns.

        Raises INVALID_TOPIC, UNKNOWN_TOPIC, UNKNOWN_PARTITION, INVALID_BLOB, BLOB_TOO_LARGE,
        COMMIT_FAILED, checked in that order; the previous value is kept in every case.
        """
        ...

    def delete(self, key: TopicPartition) -> None:
        """Remove the blob of a partition, if there is one.

        Does nothing for a topic that is not registered here.  Raises INVALID_TOPIC,
        UNKNOWN_PARTITION, COMMIT_FAILED.
        """
        ...


class Refusal(StrEnum):
    """Why a store, a placement or an ingestion refuses what it was asked.

    The checks of a call come in the order: argument, topic, partition, type of the blob, size of
    the blob, then whatever the medium says.
    """

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    INVALID_TOPIC = "INVALID_TOPIC"
    UNKNOWN_TOPIC = "UNKNOWN_TOPIC"
    UNKNOWN_PARTITION = "UNKNOWN_PARTITION"
    INVALID_BLOB = "INVALID_BLOB"
    BLOB_TOO_LARGE = "BLOB_TOO_LARGE"
    COMMIT_FAILED = "COMMIT_FAILED"
    WRITE_FAILED = "WRITE_FAILED"
    NOT_OPEN = "NOT_OPEN"
    NOT_READY = "NOT_READY"
    VERSION_IN_USE = "VERSION_IN_USE"
    CORRUPT_CHECKPOINT = "CORRUPT_CHECKPOINT"
    UNREADABLE_CHECKPOINT = "UNREADABLE_CHECKPOINT"
    CHECKPOINT_AHEAD_OF_LOG = "CHECKPOINT_AHEAD_OF_LOG"
    INCONSISTENT_SVS = "INCONSISTENT_SVS"
    DICT_UNAVAILABLE = "DICT_UNAVAILABLE"


class StoreError(ProtocolError):
    """A store refused a call; `kind` is the text of `refusal`, stored values are as before."""

    def __init__(self, refusal: Refusal, *, state: str = "", event: object = None) -> None:
        self.refusal = refusal
        super().__init__(refusal.value, state=state, event=event)
