"""What can happen to a task at the end of its life. The input of the lifecycle core.

Channels are numbered from 0 through all input gates in gate order. Checkpoint ids ascend.
"""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.lifecycle.states import StopMode
from ckptsim.models.lifecycle.transactions import SinkState


@dataclass(frozen=True, slots=True)
class Started:
    """The task has been deployed. It matters only to a source that was restored as finished."""


@dataclass(frozen=True, slots=True)
class StateRestored:
    """A sink gets the elements of its list state, before anything else happens to it.

    One element per old subtask that it takes over. None where that had finished or is new.
    """

    states: tuple[SinkState, ...]


@dataclass(frozen=True, slots=True)
class InputExhausted:
    """A source has no more records."""


@dataclass(frozen=True, slots=True)
class StopWithSavepointTriggered:
    """The coordinator asks a source to stop with savepoint `checkpoint_id`.

    The source ends its data at once. The savepoint itself is triggered after that, like any other
    checkpoint.

    Source: Apache Flink 1.20.3, SourceStreamTask.triggerStopWithSavepointAsync.
    """

    checkpoint_id: int
    drain: bool


@dataclass(frozen=True, slots=True)
class CheckpointTriggered:
    """The coordinator asks the task for a checkpoint by remote call. A closed task declines it.

    A task that lives does nothing yet: it may still skip a trigger that comes too late, and only
    what it performs (`CheckpointPerformed`) can let it go.
    """

    checkpoint_id: int


@dataclass(frozen=True, slots=True)
class CheckpointPerformed:
    """The task takes part in a checkpoint: its barrier has been sent, its snapshot is due.

    The subtask's checkpoints (`ckptsim.models.barriers.subtask`) decide that, once per id, ids
    ascending.

    savepoint: the checkpoint is the savepoint of a stop.
    """

    checkpoint_id: int
    savepoint: bool = False


@dataclass(frozen=True, slots=True)
class MaxWatermarkReceived:
    """One input channel has delivered the final watermark."""

    channel: int


@dataclass(frozen=True, slots=True)
class EndOfDataReceived:
    """One input channel has delivered EndOfData, after its last record."""

    channel: int
    stop_mode: StopMode


@dataclass(frozen=True, slots=True)
class EndOfPartitionReceived:
    """One input channel has ended for good."""

    channel: int


@dataclass(frozen=True, slots=True)
class EndOfDataAcknowledged:
    """The task downstream of an output channel has polled our EndOfData."""

    channel: int


@dataclass(frozen=True, slots=True)
class CheckpointCompleted:
    """The coordinator notifies that a checkpoint is complete. May be late, lost or reordered."""

    checkpoint_id: int


@dataclass(frozen=True, slots=True)
class CheckpointAborted:
    """The coordinator notifies that a checkpoint was aborted.

    latest_completed: the id of the latest completed checkpoint that the message repeats, or None.
    """

    checkpoint_id: int
    latest_completed: int | None = None


Event = (
    Started
    | StateRestored
    | InputExhausted
    | StopWithSavepointTriggered
    | CheckpointTriggered
    | CheckpointPerformed
    | MaxWatermarkReceived
    | EndOfDataReceived
    | EndOfPartitionReceived
    | EndOfDataAcknowledged
    | CheckpointCompleted
    | CheckpointAborted
)
