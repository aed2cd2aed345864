"""What every barrier handler offers, and which handler a task gets."""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.handler.clock import AlignmentClock
from ckptsim.models.core import ProtocolError


class HandlerKind(IntEnum):
    """Which handler a task has."""

    ALIGNED = 0
    ALTERNATING = 1
    UNALIGNED = 2
    TRACKER = 3


class AllBarriers(IntEnum):
    """Whether all barriers of a checkpoint have come."""

    OPEN = 0
    DONE = 1
    FAILED = 2


class BarrierHandler(Protocol):
    """What a host may ask of any barrier handler."""

    @property
    def latest(self) -> int:
        """The newest checkpoint that the handler speaks of, -1 for none."""
        ...

    @property
    def pending(self) -> bool:
        """Whether a checkpoint is open."""
        ...

    @property
    def open_channels(self) -> int:
        """How many channels have not ended."""
        ...

    @property
    def clock(self) -> AlignmentClock:
        """The alignment clock, always the same; bytes may be counted on it directly."""
        ...

    def all_barriers(self, checkpoint: int) -> AllBarriers:
        """Tell whether all barriers of a checkpoint have come."""
        ...

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Take one event and return its effects."""
        ...


def handler_kind(*, exactly_once: bool, unaligned_enabled: bool) -> HandlerKind:
    """Choose the handler that a job's tasks get.

    Raises ProtocolError for unaligned checkpoints in at-least-once mode, which are refused at
    start.

    Source: Apache Flink 1.20.3, InputProcessorUtil.
    """
    if exactly_once:
        return HandlerKind.ALTERNATING if unaligned_enabled else HandlerKind.ALIGNED
    if unaligned_enabled:
        raise ProtocolError("unaligned_at_least_once", state="choosing a handler")
    return HandlerKind.TRACKER
