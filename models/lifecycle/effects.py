"""What a task does at the end of its life. The output of the lifecycle core, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ckptsim.models.lifecycle.states import OperatorState, StopMode, TaskState

# The transaction that is open and not yet pre-committed for any checkpoint.
OPEN: Literal["open"] = "open"
TransactionId = int | Literal["open"]


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The task has entered `state`. `operator` is None where the operators' state has no say."""

    state: TaskState
    operator: OperatorState | None


@dataclass(frozen=True, slots=True)
class FinishTask:
    """Stop the source gracefully, never by interrupt."""


@dataclass(frozen=True, slots=True)
class AdvanceToMaxWatermark:
    """Advance event time to its end and fire all timers."""


@dataclass(frozen=True, slots=True)
class EmitMaxWatermark:
    """Send the final watermark on every output."""


@dataclass(frozen=True, slots=True)
class EndInput:
    """Tell an operator that an input has ended.

    operator: index in the chain from its head.  gate: index of the input gate, or None where the
    task has one gate or the operator is not the head.
    """

    operator: int
    gate: int | None = None


@dataclass(frozen=True, slots=True)
class FinishOperator:
    """Call finish() of the operator with this index in the chain."""

    operator: int


@dataclass(frozen=True, slots=True)
class CloseOperator:
    """Call close() of the operator with this index in the chain."""

    operator: int


@dataclass(frozen=True, slots=True)
class EmitEndOfData:
    """Send EndOfData on every output, after the last record."""

    stop_mode: StopMode


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """Snapshot the operators and acknowledge to the coordinator.

    operators_finished: the acknowledgement says that EndOfData has been sent.
    finished_on_restore: it says that the task has been restored as finished and holds no state.
    """

    checkpoint_id: int
    operators_finished: bool
    finished_on_restore: bool


@dataclass(frozen=True, slots=True)
class DeclineCheckpoint:
    """Tell the coordinator that this task has closed and takes no part in a checkpoint."""

    checkpoint_id: int


@dataclass(frozen=True, slots=True)
class AcknowledgeEndOfData:
    """Tell the task upstream of a channel that its EndOfData has been polled."""

    channel: int


@dataclass(frozen=True, slots=True)
class PrecommitTransaction:
    """Pre-commit the open transaction for a checkpoint."""

    checkpoint_id: int


@dataclass(frozen=True, slots=True)
class CommitTransactions:
    """Commit all transactions that checkpoints up to `up_to` have pre-committed, oldest first."""

    up_to: int
    transactions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AbortTransactions:
    """Abort transactions. The open one comes last."""

    transactions: tuple[TransactionId, ...]


@dataclass(frozen=True, slots=True)
class LeaveTransactions:
    """Nothing is done about these: they stay pre-committed when the task has closed."""

    transactions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RecoverAndCommit:
    """Commit a pre-committed transaction of the restored state. It may have been committed."""

    name: str


@dataclass(frozen=True, slots=True)
class RecoverAndAbort:
    """Abort the transaction that the restored state has open. It may have been aborted."""

    name: str


@dataclass(frozen=True, slots=True)
class EmitEndOfPartition:
    """Send EndOfPartition on every output and release it."""


@dataclass(frozen=True, slots=True)
class FailTask:
    """Fail the task, and with it the job."""

    reason: Literal["stop_with_savepoint_failed"]


Effect = (
    StateChanged
    | FinishTask
    | AdvanceToMaxWatermark
    | EmitMaxWatermark
    | EndInput
    | FinishOperator
    | CloseOperator
    | EmitEndOfData
    | TakeSnapshot
    | DeclineCheckpoint
    | AcknowledgeEndOfData
    | PrecommitTransaction
    | CommitTransactions
    | AbortTransactions
    | LeaveTransactions
    | RecoverAndCommit
    | RecoverAndAbort
    | EmitEndOfPartition
    | FailTask
)
