"""Events that the shared writer of in-flight data takes and effects that it asks of its host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ckptsim.models.barriers.reason import FailureReason


@dataclass(frozen=True, slots=True)
class WriteStarted:
    """A subtask begins to write in-flight data of a checkpoint."""

    subtask: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class DataAdded:
    """A subtask has something to write."""

    subtask: int
    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class InputClosed:
    """A subtask's input part is whole."""

    subtask: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class OutputClosed:
    """A subtask's output part is whole."""

    subtask: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class WriteAborted:
    """A subtask gives its part up."""

    subtask: int
    checkpoint: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class StreamStored:
    """The host has stored the file of StoreStream."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class StreamFailed:
    """The host could not write the file of a checkpoint."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class SubtaskReleased:
    """A subtask has ended and will begin no checkpoint any more. What it has begun stays open."""

    subtask: int


WriterEvent: TypeAlias = (
    WriteStarted
    | DataAdded
    | InputClosed
    | OutputClosed
    | WriteAborted
    | StreamStored
    | StreamFailed
    | SubtaskReleased
)


@dataclass(frozen=True, slots=True)
class OpenStream:
    """Open the file of a checkpoint: the first byte is on its way."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class WriteBytes:
    """Append to the file."""

    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class StoreStream:
    """Close the file and make it durable. Answer with StreamStored or StreamFailed."""

    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DropStream:
    """Close and remove the file."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class PartWritten:
    """A subtask's in-flight data of a checkpoint is durable. `bytes` of it."""

    subtask: int
    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PartFailed:
    """A subtask's in-flight data of a checkpoint will not become durable."""

    subtask: int
    checkpoint: int
    reason: FailureReason


WriterEffect: TypeAlias = (
    OpenStream | WriteBytes | StoreStream | DropStream | PartWritten | PartFailed
)
