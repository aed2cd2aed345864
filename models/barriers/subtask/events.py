"""Events that the subtask side of a checkpoint takes and effects that it asks of its host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.reason import FailureReason


@dataclass(frozen=True, slots=True)
class CheckpointInitialized:
    """The handler, or a source's host, asks for InitializeInput. all_received: all barriers."""

    barrier: Barrier
    all_received: bool = False


@dataclass(frozen=True, slots=True)
class InputReceived:
    """All barriers have come (AllBarriersReceived): the input part of the state is whole."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CheckpointTriggered:
    """The barrier handler, or for a source the coordinator, triggers a checkpoint."""

    now_ns: int
    barrier: Barrier


@dataclass(frozen=True, slots=True)
class CheckpointAborted:
    """The barrier handler gives a checkpoint up."""

    checkpoint: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class AbortNotified:
    """The coordinator says that a checkpoint has been aborted."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class OutputTimerFired:
    """The output alignment timer has run out. It may be a stale one."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class BarrierSent:
    """BroadcastBarrier is done. open_outputs: subpartitions that answered OutputStateOpened."""

    now_ns: int
    checkpoint: int
    open_outputs: int = 0


@dataclass(frozen=True, slots=True)
class OutputSettled:
    """The output state of `count` subpartitions is known (OutputStateKnown), or has failed."""

    checkpoint: int
    count: int = 1
    failed: bool = False


@dataclass(frozen=True, slots=True)
class SyncPartDone:
    """The operators have taken their synchronous snapshot."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class AsyncPartDone:
    """The operators' state is durable."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class AsyncPartFailed:
    """The operators' state could not be written."""

    checkpoint: int
    reason: FailureReason = FailureReason.CHECKPOINT_ASYNC_EXCEPTION


@dataclass(frozen=True, slots=True)
class ChannelStateWritten:
    """The in-flight data is durable (PartWritten). `bytes` of it."""

    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ChannelStateFailed:
    """The in-flight data could not be written (PartFailed)."""

    checkpoint: int
    reason: FailureReason


SubtaskEvent: TypeAlias = (
    CheckpointInitialized
    | InputReceived
    | CheckpointTriggered
    | CheckpointAborted
    | AbortNotified
    | OutputTimerFired
    | BarrierSent
    | OutputSettled
    | SyncPartDone
    | AsyncPartDone
    | AsyncPartFailed
    | ChannelStateWritten
    | ChannelStateFailed
)


@dataclass(frozen=True, slots=True)
class StartWriter:
    """Begin to write in-flight data of a checkpoint (WriteStarted)."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class SavePartialRecords:
    """Write the rest of partly read records, of every channel, before its queue."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CloseInputState:
    """No more input data follows for this checkpoint (InputClosed)."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CloseOutputState:
    """No more output data follows for this checkpoint (OutputClosed)."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class AbortWriter:
    """Give up writing in-flight data of a checkpoint (WriteAborted)."""

    checkpoint: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class PrepareOperators:
    """Let the operators do the work before the barrier."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class BroadcastBarrier:
    """Put the barrier into every subpartition (`Barrier.over_edge`), then answer BarrierSent."""

    barrier: Barrier


@dataclass(frozen=True, slots=True)
class BroadcastCancellation:
    """Put a cancellation marker after everything in every subpartition."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class SetOutputTimer:
    """Report OutputTimerFired after `delay_ns`. There is one such timer."""

    checkpoint: int
    delay_ns: int


@dataclass(frozen=True, slots=True)
class CancelOutputTimer:
    """Cancel the output timer of a checkpoint."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class TimeOutOutputs:
    """Let the barrier overtake in every subpartition where it still waits."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class AbortOutputs:
    """Give up the output state of a checkpoint in every subpartition."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class SnapshotOperators:
    """Take the synchronous snapshot, then answer with SyncPartDone. The task does nothing else."""

    barrier: Barrier


@dataclass(frozen=True, slots=True)
class StartAsyncPart:
    """Make the operators' state durable, beside the task's work."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CancelAsyncPart:
    """Stop making the operators' state durable."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class AcknowledgeCheckpoint:
    """Acknowledge to the coordinator. persisted_bytes, unaligned: of in-flight data."""

    checkpoint: int
    persisted_bytes: int
    unaligned: bool


@dataclass(frozen=True, slots=True)
class DeclineCheckpoint:
    """Tell the coordinator that this subtask cannot take part."""

    checkpoint: int
    reason: FailureReason


SubtaskEffect: TypeAlias = (
    StartWriter
    | SavePartialRecords
    | CloseInputState
    | CloseOutputState
    | AbortWriter
    | PrepareOperators
    | BroadcastBarrier
    | BroadcastCancellation
    | SetOutputTimer
    | CancelOutputTimer
    | TimeOutOutputs
    | AbortOutputs
    | SnapshotOperators
    | StartAsyncPart
    | CancelAsyncPart
    | AcknowledgeCheckpoint
    | DeclineCheckpoint
)
