"""The border between the control of a job and its data planes, as structural Protocols.

Hosts in `sim/job/control` carry out what cores decide and ask a data plane for the rest: what takes
time, what an in-flight unit is, how an event is put into a queue.  The objects of the planes are
the ports themselves. Nothing is wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ckptsim.models.barriers.subtask.events import ChannelStateFailed, ChannelStateWritten

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.models.coordinator.plan import FinishedState
    from ckptsim.models.lifecycle import SinkState, StopMode
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.job.control.watchdog import Watchdog
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.graph import Graph
    from ckptsim.sim.job.parallelism import Changes
    from ckptsim.sim.job.task_port import EndingPort
    from ckptsim.sim.kernel import Entity, Environment


class FileStored(Protocol):
    """Learns the end of a file."""

    def __call__(self, checkpoint: int, *, failed: bool) -> None:
        """Take the end of a write. failed: it could not be written."""


class ChannelStatePort(Protocol):
    """Where a group of subtasks stores its channel state, and how each of them learns of it."""

    def store(self, checkpoint: int, size: int, stored: FileStored) -> None:
        """Make the group's file of a checkpoint durable and call `stored` then.

        size: units of in-flight data, in bytes where the plane has bytes.
        """

    def drop(self, checkpoint: int) -> None:
        """Give up a file that was opened. No one learns of its end."""

    def answer(self, subtask: int, event: ChannelStateWritten | ChannelStateFailed) -> None:
        """Tell a subtask what became of its part."""


Call = Callable[..., object]


class TaskGateway(Protocol):
    """One task of the attempt that runs, as the coordinator calls it.

    number: over all tasks of the job, in the order of the vertices.
    Source: Apache Flink 1.20.3, TaskManagerGateway.
    """

    @property
    def number(self) -> int:
        """Return its number."""

    @property
    def entity(self) -> Entity:
        """Return its entity among ties and in the trace."""

    @property
    def place(self) -> tuple[str, int]:
        """Return its vertex and its index there."""

    def trigger_checkpoint(self, barrier: Barrier, stop: StopMode | None) -> None:
        """Take a trigger. stop: how the job is stopped, if it is of the savepoint of a stop."""

    def notify_complete(self, checkpoint: int) -> None:
        """Take the notification that a checkpoint is complete."""

    def notify_aborted(self, checkpoint: int, latest_completed: int | None) -> None:
        """Take the notification that a checkpoint was aborted."""


class Messages(Protocol):
    """What crosses machines between coordinator and tasks, with its time and its cost.

    One method per kind of message. Each calls `call(*arguments)` where the message arrives.
    late_ns: how much later than others of its kind.
    """

    def trigger(
        self, task: TaskGateway, checkpoint: int, call: Call, *arguments: Any, late_ns: int = 0
    ) -> None:
        """Send the trigger of a checkpoint to a task."""

    def confirm(
        self, task: TaskGateway, checkpoint: int, call: Call, *arguments: Any, late_ns: int = 0
    ) -> None:
        """Tell a task that a checkpoint is complete."""

    def abort(self, task: TaskGateway, call: Call, *arguments: Any, late_ns: int = 0) -> None:
        """Tell a task that a checkpoint was aborted."""

    def acknowledge(self, task: TaskGateway, call: Call, *arguments: Any, late_ns: int = 0) -> None:
        """Send a task's acknowledgement to the coordinator."""

    def decline(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Send a task's refusal of a checkpoint to the coordinator."""

    def end_of_data(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Send a task's report that it has ended its data to the job manager."""

    def finished(self, task: TaskGateway, call: Call, *arguments: Any) -> None:
        """Let the coordinator hear that a task which has closed has FINISHED."""

    def store(self, checkpoint: int, call: Call, *arguments: Any) -> None:
        """Write the metadata of a checkpoint that every task has acknowledged."""

    def discard(self, sizes: list[int], call: Call, *arguments: Any) -> None:
        """Delete the files of a checkpoint, of these sizes in bytes.

        Calls `call(*arguments)` at the end where that takes time.
        """


class ObservedTask(Protocol):
    """One task of the attempt that runs, as observers see it."""

    @property
    def number(self) -> int:
        """Return its number over all tasks of the job, in the order of the vertices."""

    @property
    def entity(self) -> Entity:
        """Return its entity among ties and in the trace."""

    @property
    def env(self) -> Environment:
        """Return the run that it is part of."""

    @property
    def place(self) -> tuple[str, int]:
        """Return its vertex and its index there."""

    @property
    def gates(self) -> Sequence[Any]:
        """Return its input gates."""

    @property
    def ending(self) -> EndingPort:
        """Return how its end looks."""


class TaskState(Protocol):
    """What a checkpoint holds of one task, as far as both data planes have it."""

    @property
    def splits(self) -> Mapping[int, int]:
        """Return how many records a source has emitted of each split in its state, by number."""

    @property
    def exhausted(self) -> bool:
        """Return whether a source has no more."""

    @property
    def transactions(self) -> SinkState | None:
        """Return a sink's element of list state."""

    @property
    def records(self) -> Sequence[int]:
        """Return the records in it, where records have identities."""

    @property
    def input_records(self) -> Mapping[int, Sequence[int]]:
        """Return the records in flight at its inputs, by channel, where they have identities."""

    @property
    def output_records(self) -> Mapping[int, Sequence[int]]:
        """Return the records in flight at its outputs, by channel, where they have identities."""

    def without_in_flight(self) -> TaskState:
        """Return it without in-flight data."""


class TaskPart(Protocol):
    """A task's part in a checkpoint: what its acknowledgement brings, and the figures of it."""

    @property
    def snapshot(self) -> Any:
        """Return the state of the task, None before it is taken."""

    @property
    def operators_finished(self) -> bool:
        """Return whether the task's operators had finished before the snapshot."""

    @property
    def persisted_bytes(self) -> int:
        """Return how much in-flight data it holds."""

    @property
    def state_bytes(self) -> int:
        """Return how much state it holds."""


class JobPort(Protocol):
    """What the coordinator host asks of the job that it is the coordinator of."""

    @property
    def running(self) -> bool:
        """Return whether the tasks of an attempt run."""

    def has_backlog(self) -> bool:
        """Return whether records are in flight."""

    @property
    def can_checkpoint(self) -> bool:
        """Return whether all tasks of the attempt run."""

    def first_delay_ns(self) -> int:
        """Return how long after the start of an attempt the first periodic trigger comes."""

    def checkpoint_of(
        self, record: CheckpointRecord, vertices: dict[str, FinishedState]
    ) -> JobCheckpoint:
        """Return the kept parts of an acknowledged checkpoint."""

    def checkpoint_completed(self, record: CheckpointRecord) -> None:
        """Note that a checkpoint is complete."""

    def checkpoints_failed(self, reason: FailureReason) -> None:
        """Fail the job: too many checkpoints have failed, or a stop cannot be carried out."""

    def stop_failed(self) -> None:
        """Note that a stop has ended without its savepoint."""

    def task_finished(self, number: int) -> None:
        """Note that a task has FINISHED, as is known now."""

    def all_finished(self) -> None:
        """Note that every task has FINISHED."""


class Participant(Protocol):
    """What takes part in the checkpoints of a job beside its tasks."""

    def begin(self, attempt: Any) -> None:
        """Begin with an attempt that is being deployed."""
        ...

    def prepare(self, checkpoint: int, then: Callable[[], None]) -> None:
        """Call a function once the tasks of a checkpoint may be triggered."""
        ...

    def completed(self, checkpoint: int, *, notified: bool) -> None:
        """Note that a checkpoint is complete, and then that tasks are notified of it."""
        ...

    def failed(self, checkpoint: int) -> None:
        """Note that a checkpoint has failed."""
        ...


class DataPlane(Protocol):
    """What makes and runs the tasks of a job, attempt after attempt.

    Tasks are named by their numbers, over all tasks of the job in the order of the vertices.
    """

    @property
    def messages(self) -> Messages:
        """Return what crosses machines."""

    @property
    def events(self) -> Events:
        """Return the stream of what happens."""

    @property
    def watchdog(self) -> Watchdog:
        """Return who watches that an attempt does something."""

    @property
    def graph(self) -> Graph:
        """Return the vertices, edges and tasks of the attempt."""

    @property
    def tasks(self) -> Sequence[TaskGateway]:
        """Return the tasks of the attempt."""

    @property
    def lost_state(self) -> frozenset[str]:
        """Return the vertices with incomplete state since a restore."""

    def may_rescale(self, vertex: str, parallelism: int, latest: JobCheckpoint | None) -> bool:
        """Return whether a job may be restored from a checkpoint with another parallelism."""

    @property
    def changes(self) -> Changes:
        """Return what the user has asked for and holds from the next attempt on."""

    def deploy(self, number: int, restored: JobCheckpoint | None) -> None:
        """Make the tasks and channels of an attempt, with what a checkpoint holds of them."""

    def start(self) -> None:
        """Let the tasks work."""

    def halt(self) -> None:
        """End the attempt: nothing of it acts any more."""

    def kill(self, numbers: Iterable[int]) -> None:
        """Let tasks do nothing more, and nothing of them be heard: they have failed."""

    def is_alive(self, number: int) -> bool:
        """Return whether a task of an attempt that runs has not closed."""

    def stall(self, number: int, lasts_ns: int) -> None:
        """Let a task's thread do nothing for a while."""

    def has_backlog(self) -> bool:
        """Return whether records are in flight."""

    def positions(self) -> dict[int, int]:
        """Return how many records of each split this attempt has emitted, as it counts."""

    def first_delay_ns(self, restored: JobCheckpoint | None) -> int:
        """Return how long after the start of an attempt the first periodic trigger comes."""

    def task_finished(self, number: int) -> None:
        """Note that a task is known to have FINISHED."""

    def violate(self, name: str, says: str) -> None:
        """Report a property that does not hold."""
