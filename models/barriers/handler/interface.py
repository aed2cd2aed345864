"""What every barrier handler offers, and which handler a task gets."""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from ckptsim.models.barriers.handler import events as handler_events
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


class ByteClock(Protocol):
    """The clock of an alignment as hosts see it."""

    @property
    def running(self) -> bool:
        """Whether an alignment is under way, used before bytes are counted."""

    def add_bytes(self, count: int) -> None:
        """Count the bytes of a buffer, used when the task takes one."""


class BarrierHandler(Protocol):
    """A barrier handler as hosts see it."""

    def step(self, event: handler_events.HandlerEvent) -> list[handler_events.HandlerEffect]:
        """Take one event and return its effects."""

    @property
    def latest(self) -> int:
        """The newest checkpoint seen, -1 for none, used where a task waits for a barrier."""

    @property
    def pending(self) -> bool:
        """Whether a checkpoint is open, used where a task waits for a barrier."""

    @property
    def clock(self) -> ByteClock:
        """The clock of the alignment, always the same object, used when the task takes a buffer."""


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
