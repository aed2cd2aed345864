"""Events and effects of a barrier handler, and what every handler offers.

Channels are numbered over all gates of the task, in the order of the gates.  Times are simulated
nanoseconds.  Effects are carried out in the order given.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeAlias

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError


@dataclass(frozen=True, slots=True)
class BarrierArrived:
    """The task took a barrier, or the coordinator sent it (by_rpc): its sender has finished."""

    now_ns: int
    channel: int
    barrier: Barrier
    by_rpc: bool = False


@dataclass(frozen=True, slots=True)
class BarrierAnnounced:
    """The task has taken an announcement. `sequence` is the barrier's place in its channel."""

    now_ns: int
    channel: int
    barrier: Barrier
    sequence: int


@dataclass(frozen=True, slots=True)
class CancellationArrived:
    """The task has taken a cancellation marker from a channel."""

    now_ns: int
    channel: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class ChannelEnded:
    """The task has taken the end of partition from a channel."""

    now_ns: int
    channel: int


@dataclass(frozen=True, slots=True)
class BytesProcessed:
    """The task was handed a buffer of so many bytes."""

    count: int


@dataclass(frozen=True, slots=True)
class TimerFired:
    """An alignment timer has run out. It may have been cancelled too late."""

    now_ns: int
    barrier: Barrier


@dataclass(frozen=True, slots=True)
class InputRefused:
    """The host could not carry out the latest InitializeInput or StartInput, and stopped there."""

    now_ns: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class HandlerClosed:
    """The task is ending."""


HandlerEvent: TypeAlias = (
    BarrierArrived
    | BarrierAnnounced
    | CancellationArrived
    | ChannelEnded
    | BytesProcessed
    | TimerFired
    | InputRefused
    | HandlerClosed
)


@dataclass(frozen=True, slots=True)
class BlockChannel:
    """Note that a channel's sender has stopped after a barrier that the task has taken."""

    channel: int


@dataclass(frozen=True, slots=True)
class ResumeChannels:
    """Tell the senders of these channels, ascending, that they may continue."""

    channels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PrioritizeBarriers:
    """Move queued barriers to the front of their channels: pairs of channel and sequence."""

    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class InitializeInput:
    """Prepare the channel state of a checkpoint: start its writer, save partly read records."""

    barrier: Barrier


@dataclass(frozen=True, slots=True)
class StartInput:
    """Persist what a gate has queued before the barrierand later arrivals before it."""

    gate: int
    barrier: Barrier


@dataclass(frozen=True, slots=True)
class StopInput:
    """Persist nothing more of a gate for this checkpoint."""

    gate: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class TriggerCheckpoint:
    """Snapshot the task now, with the options of `barrier`."""

    barrier: Barrier
    start_delay_ns: int


@dataclass(frozen=True, slots=True)
class AlignmentMeasured:
    """The alignment of a triggered checkpoint has ended. bytes: handed to the task meanwhile."""

    checkpoint: int
    duration_ns: int
    bytes: int


@dataclass(frozen=True, slots=True)
class AbortCheckpoint:
    """Give a checkpoint up: decline it, and tell the tasks below."""

    checkpoint: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class AllBarriersReceived:
    """Every open channel has delivered its barrier: the input part of the state is whole."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Report TimerFired(barrier) after `delay_ns`, unless `timer` is cancelled before."""

    timer: int
    delay_ns: int
    barrier: Barrier


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """Cancel a timer that was set. It may have run out."""

    timer: int


@dataclass(frozen=True, slots=True)
class FailTask:
    """Fail the task: the input broke a rule. bad_argument: the barrier itself is refused."""

    story: str
    bad_argument: bool = False


HandlerEffect: TypeAlias = (
    BlockChannel
    | ResumeChannels
    | PrioritizeBarriers
    | InitializeInput
    | StartInput
    | StopInput
    | TriggerCheckpoint
    | AlignmentMeasured
    | AbortCheckpoint
    | AllBarriersReceived
    | SetTimer
    | CancelTimer
    | FailTask
)


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

    def step(self, event: HandlerEvent) -> list[HandlerEffect]:
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
