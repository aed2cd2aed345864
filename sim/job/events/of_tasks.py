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
    """A task learns of a checkpoint by an announcement or its own trigger."""

    barrier: Barrier


class BarrierReplaced(TaskEvent):
    """A remote trigger replaces the barrier of a channel."""

    channel: int
    checkpoint: int


class CancellationTaken(TaskEvent):
    """A task takes a cancellation marker."""

    checkpoint: int


class ChannelEnded(TaskEvent):
    """A task takes the end of a channel."""

    channel: int


class HandlerTriggered(TaskEvent):
    """The barrier handler triggers a checkpoint in its task."""

    barrier: Barrier


class HandlerAborted(TaskEvent):
    """The barrier handler aborts a checkpoint."""

    checkpoint: int


class BarriersReceived(TaskEvent):
    """All barriers of a checkpoint have arrived."""

    checkpoint: int


class HandlerFailed(TaskEvent):
    """The barrier handler fails its task."""


class HandlerSettled(TaskEvent):
    """The task has executed the effects of its barrier handler."""


class AlignmentMeasured(TaskEvent):
    """The figures of an alignment are known.

    size: the bytes processed meanwhile.
    """

    checkpoint: int
    duration_ns: int
    size: int


# Channel state ------------------------------------------------------------------------------------


class ChannelStateBegun(TaskEvent):
    """The channel state of a checkpoint begins."""

    barrier: Barrier


class GateStarting(TaskEvent):
    """A gate is asked to persist in-flight data."""

    gate: int
    checkpoint: int


class GateStarted(TaskEvent):
    """A gate persists in-flight data, or has refused to.

    refused: the start failed.
    """

    gate: int
    checkpoint: int
    refused: bool


class GateStopped(TaskEvent):
    """A gate persists no more."""

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
    """The state of a subpartition is still open."""

    output: int
    checkpoint: int


class OutputSettled(TaskEvent):
    """The state of a subpartition is known, or never will be."""

    output: int
    checkpoint: int


class FileEvent(Event):
    """A shared file of channel state changes.

    group: the tasks of the file, by their numbers.
    """

    group: tuple[int, ...]
    checkpoint: int


class FilePartBegun(FileEvent):
    """A subtask begins to write its part of a file."""

    subtask: int


class FileAborted(FileEvent):
    """A subtask aborts its part of a file."""


class FileBroken(FileEvent):
    """A file could not be written."""


class FileAnswered(FileEvent):
    """A subtask learns the end of its part."""

    subtask: int
    failed: bool


class FileSettled(FileEvent):
    """The beginning of a part is processed."""

    subtask: int


# Snapshots ----------------------------------------------------------------------------------------


class SnapshotDue(TaskEvent):
    """The task takes part in a checkpoint as soon as its thread can."""

    barrier: Barrier
    start_delay_ns: int


class TriggerEntered(TaskEvent):
    """The thread begins with a trigger, or skips it."""

    checkpoint: int


class TriggerAnswered(TaskEvent):
    """The thread has processed a trigger."""

    checkpoint: int


class BarrierSent(TaskEvent):
    """A barrier enters the queues of all outputs."""

    barrier: Barrier


class CancellationSent(TaskEvent):
    """A cancellation marker goes downstream."""

    checkpoint: int


class SnapshotTaken(TaskEvent):
    """The task takes its snapshot.

    stop: of the savepoint of a stop.
    """

    checkpoint: int
    stop: bool


class WritingBegun(TaskEvent):
    """The task begins to write its part."""

    checkpoint: int


class StateFileBegun(TaskEvent):
    """A file of the task's own state is begun."""

    checkpoint: int


class WritingEnded(TaskEvent):
    """The part is acknowledged, declined or taken back."""

    checkpoint: int
    whole: bool


class WritesSettled(TaskEvent):
    """The task has no more writes under way."""


class NotificationArrived(TaskEvent):
    """A notification arrives at the task."""

    checkpoint: int
    completed: bool


class CompletionTaken(TaskEvent):
    """The thread processes the notification of a completion.

    acted: the notification had an effect.
    """

    checkpoint: int
    acted: bool


class AbortTaken(TaskEvent):
    """The thread processes the notification of an abort.

    latest: the completed checkpoint that it repeats.
    """

    checkpoint: int
    latest: int | None


class AbortBegun(TaskEvent):
    """The task begins to abort a checkpoint."""

    checkpoint: int


class AbortDone(TaskEvent):
    """The task has aborted a checkpoint."""


# The end of a task --------------------------------------------------------------------------------


class OperatorCalled(TaskEvent):
    """An operator is called: `advance`, `end_input`, `finish` or `close`."""

    what: str
    operator: int


class EndMarked(TaskEvent):
    """A task sends an end mark: `watermark`, `end of data` or `end of partition`."""

    mark: str
    drain: bool = False


class TaskStateChanged(TaskEvent):
    """A task changes its state."""

    state: TaskState


class SourceStopped(TaskEvent):
    """A source is asked to stop.

    ended: its data had ended before.
    """

    drain: bool
    ended: bool


class DataEndAcknowledged(TaskEvent):
    """A task acknowledges the EndOfData of an input."""

    channel: int


class AcknowledgementArrived(TaskEvent):
    """The EndOfData of an output is acknowledged."""

    output: int


class RecordRead(TaskEvent):
    """A source emits a record.

    timestamp: its event time in ns, or None.
    """

    split: int
    timestamp: int | None


class RecordTaken(TaskEvent):
    """A task begins to process a record of an input.

    owner: the subtask of its key group, None on an edge without keys.  unit: the records among
    which it keeps its order, None without order.  split, timestamp: as it was read.
    """

    channel: int
    record: int
    owner: int | None
    unit: tuple[int, ...] | None
    split: int
    timestamp: int | None


class RecordsRestored(TaskEvent):
    """A task begins with records in its state.

    owners: for each record the subtasks of its key group by one of the edges, empty without keys.
    units: for each record, as in RecordTaken.
    """

    records: Sequence[int]
    owners: Sequence[Collection[int]]
    units: Sequence[tuple[int, ...] | None]


class RecordSent(TaskEvent):
    """A record leaves a task.

    routes: for each edge the places of its channels in the job.
    """

    routes: Sequence[tuple[OutputSpec, Sequence[int]]]
