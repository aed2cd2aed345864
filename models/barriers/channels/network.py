"""What channels and subpartitions ask of their host.

A task has one outbox, a plain list that all its channels and subpartitions append to.  The host
empties it, in order, after every call that can leave something there: those that concern barriers,
and those that carry data while a channel persists.  This replaces the returned list of other cores,
because one call here happens for every buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Buffers: TypeAlias = tuple[object, ...]
"""Data elements as the host put them in, oldest first."""


@dataclass(frozen=True, slots=True)
class PersistInput:
    """Write these buffers to the input-channel state of a checkpoint."""

    channel: int
    checkpoint: int
    buffers: Buffers


@dataclass(frozen=True, slots=True)
class ResumeSender:
    """Tell the channel's sender that it may continue."""

    channel: int


@dataclass(frozen=True, slots=True)
class PersistOutput:
    """Write these buffers to the result-subpartition state of a checkpoint."""

    subpartition: int
    checkpoint: int
    buffers: Buffers


@dataclass(frozen=True, slots=True)
class OutputStateOpened:
    """The output state of a timeoutable checkpoint is not known yet. Its acknowledgement waits."""

    subpartition: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class OutputStateKnown:
    """The output state of a timeoutable checkpoint: empty when the barrier was sent in time."""

    subpartition: int
    checkpoint: int
    buffers: Buffers


@dataclass(frozen=True, slots=True)
class OutputStateFailed:
    """The output state of a timeoutable checkpoint will never be known: aborted or replaced."""

    subpartition: int
    checkpoint: int


NetworkEffect: TypeAlias = (
    PersistInput
    | ResumeSender
    | PersistOutput
    | OutputStateOpened
    | OutputStateKnown
    | OutputStateFailed
)
