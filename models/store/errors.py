"""The refusals of a checkpoint store and the error that carries them."""

from __future__ import annotations

from enum import StrEnum

from ckptsim.models.core import ProtocolError


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
    """A store refused a call. `kind` is the text of `refusal`, stored values are as before."""

    def __init__(self, refusal: Refusal, *, state: str = "", event: object = None) -> None:
        self.refusal = refusal
        super().__init__(refusal.value, state=state, event=event)
