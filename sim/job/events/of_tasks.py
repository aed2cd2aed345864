"""What happens at single tasks: barriers, channel state, snapshots, their end, their records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.events.stream import Event, TaskEvent

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.models.lifecycle import TaskState
    from ckptsim.sim.job.graph import OutputSpec


class BarrierTaken(TaskEvent):
    """A task takes a barrier from a channel."""

    channel: int
    barrier: Barrier


class BarrierSeen(TaskEvent):
    """A task hears of a checkpoint by an announcement, or by a trigger of its own."""

    barrier: Barrier


class BarrierReplaced(TaskEvent):
    """A trigger by remote call stands for the barrier of a channel."""

    channel: int
    checkpoint: int


class CancellationTaken(TaskEvent):
    """A task takes a cancellation marker, so that no barrier comes."""

    checkpoint: int


class ChannelEnded(TaskEvent):
    """A task takes the end of a channel."""

    channel: int


class HandlerTriggered(TaskEvent):
    """The barrier handler has the task take part in a checkpoint."""

    barrier: Barrier


class HandlerAborted(TaskEvent):
    """The barrier handler gives a checkpoint up."""

    checkpoint: int


class BarriersReceived(TaskEvent):
    """The barrier handler says that all barriers of a checkpoint have come."""

    checkpoint: int


class HandlerFailed(TaskEvent):
    """The barrier handler fails its task."""


class HandlerSettled(TaskEvent):
    """The task has carried out what its barrier handler wanted."""


class AlignmentMeasured(TaskEvent):
    """The figures of an alignment are known; size: processed meanwhile."""

    checkpoint: int
    duration_ns: int
    size: int


# Channel state ------------------------------------------------------------------------------------


class ChannelStateBegun(TaskEvent):
    """The channel state of a checkpoint is begun."""

    barrier: Barrier


class GateStarting(TaskEvent):
    """A gate is to persist what is in flight for a checkpoint."""

    gate: int
    checkpoint: int


class GateStarted(TaskEvent):
    """A gate has begun to persist; refused: it could not."""

    gate: int
    checkpoint: int
    refused: bool


class GateStopped(TaskEvent):
    """A gate is to persist no more."""

    gate: int


class InputPersisted(TaskEvent):
    """Elements of an input become state."""

    channel: int
    checkpoint: int
    elements: Any


class OutputPersisted(TaskEvent):
    """Elements of a subpartition become state."""

    output: int
    checkpoint: int
    elements: Any


class OutputOpened(TaskEvent):
    """A subpartition does not know its state of a checkpoint yet."""

    output: int
    checkpoint: int


class OutputSettled(TaskEvent):
    """A subpartition knows its state of a checkpoint, or never will."""

    output: int
    checkpoint: int


class FileEvent(Event):
    """Something happens to the file of channel state of a group of tasks, by their numbers."""

    group: tuple[int, ...]
    checkpoint: int


class FilePartBegun(FileEvent):
    """A subtask begins to write its part."""

    subtask: int


class FileAborted(FileEvent):
    """A subtask gives its part up."""


class FileBroken(FileEvent):
    """A file could not be written."""


class FileAnswered(FileEvent):
    """A subtask hears what became of its part."""

    subtask: int
    failed: bool


class FileSettled(FileEvent):
    """The beginning of a part has been taken in."""

    subtask: int


# Snapshots ----------------------------------------------------------------------------------------


class SnapshotDue(TaskEvent):
    """The task is to take part in a checkpoint as soon as its thread can."""

    barrier: Barrier
    start_delay_ns: int


class TriggerEntered(TaskEvent):
    """The thread is about to take part in a checkpoint, or to skip its trigger."""

    checkpoint: int


class TriggerAnswered(TaskEvent):
    """The thread has dealt with a trigger."""

    checkpoint: int


class BarrierSent(TaskEvent):
    """A barrier takes its place in all queues of the outputs: it comes next."""

    barrier: Barrier


class CancellationSent(TaskEvent):
    """The tasks below hear that no barrier comes."""

    checkpoint: int


class SnapshotTaken(TaskEvent):
    """The task takes its snapshot; stop: of the savepoint of a stop."""

    checkpoint: int
    stop: bool


class WritingBegun(TaskEvent):
    """The part is being written, and acknowledged when it is whole."""

    checkpoint: int


class StateFileBegun(TaskEvent):
    """A file of the task's own state is begun, where that takes a file."""

    checkpoint: int


class WritingEnded(TaskEvent):
    """The part is acknowledged, as it is whole, or declined or taken back."""

    checkpoint: int
    whole: bool


class WritesSettled(TaskEvent):
    """Nothing of the task is being written any more."""


class NotificationArrived(TaskEvent):
    """A notification of the end of a checkpoint comes to the task."""

    checkpoint: int
    completed: bool


class CompletionTaken(TaskEvent):
    """The thread takes the notification of a completion; acted: something followed of it."""

    checkpoint: int
    acted: bool


class AbortTaken(TaskEvent):
    """The thread takes the notification that a checkpoint was given up.

    latest: the completed checkpoint that it repeats.
    """

    checkpoint: int
    latest: int | None


class AbortBegun(TaskEvent):
    """The task is to give a checkpoint up, before it may close."""

    checkpoint: int


class AbortDone(TaskEvent):
    """The task gives the checkpoint up that it was told to."""


# The end of a task --------------------------------------------------------------------------------


class OperatorCalled(TaskEvent):
    """An operator is called: `advance`, `end_input`, `finish` or `close`."""

    what: str
    operator: int


class EndMarked(TaskEvent):
    """An end mark is sent next: `watermark`, `end of data` or `end of partition`."""

    mark: str
    drain: bool = False


class TaskStateChanged(TaskEvent):
    """A task takes on another state."""

    state: TaskState


class SourceStopped(TaskEvent):
    """A source is asked to stop; ended: it had ended its data before."""

    drain: bool
    ended: bool


class DataEndAcknowledged(TaskEvent):
    """A task acknowledges the EndOfData of an input."""

    channel: int


class AcknowledgementArrived(TaskEvent):
    """A task hears that the EndOfData of one of its outputs was taken."""

    output: int


class FinalWatermarkTaken(TaskEvent):
    """The final watermark of an input counts from now on."""

    channel: int


class RecordRead(TaskEvent):
    """A source makes a record; timestamp: its event time in ns, None where that is not used."""

    split: int
    timestamp: int | None


class RecordTaken(TaskEvent):
    """A task begins to process a record of an input.

    owner: the subtask that has its key group, None on an edge without keys.  unit: what it belongs
    to among what keeps its order, None where order is not needed.  split, timestamp: as it was
    read.
    """

    channel: int
    record: int
    owner: int | None
    unit: tuple[int, ...] | None
    split: int
    timestamp: int | None


class RecordsRestored(TaskEvent):
    """A task begins with records in its state.

    owners: of each, the subtasks that have its key group by one of the edges, empty without keys.
    units: of each, as of a record that is taken.
    """

    records: Sequence[int]
    owners: Sequence[Collection[int]]
    units: Sequence[tuple[int, ...] | None]


class RecordSent(TaskEvent):
    """A record leaves a task; routes: for each edge the places of its channels in the job."""

    routes: Sequence[tuple[OutputSpec, Sequence[int]]]


class WatermarkTaken(TaskEvent):
    """The sender of an input has news of event time; None: nothing new."""

    channel: int
    watermark: int | None
    idle: bool | None


class WatermarkRecovered(TaskEvent):
    """A watermark that was in flight comes to a task, of a channel that an input stands for."""

    channel: int
    watermark: int | None


class WatermarkSent(TaskEvent):
    """A task tells all channels below its news of event time; None: nothing new."""

    watermark: int | None
    idle: bool | None


class WatermarksSettled(TaskEvent):
    """A task has dealt with what it took of event time."""


class SplitsOpened(TaskEvent):
    """A source begins to read; moved: splits that other subtasks may have had."""

    moved: Sequence[int]


class SplitsTold(TaskEvent):
    """A source has told of event time by now; unread: splits with records left."""

    unread: Sequence[int]
