"""What happens in a job as a whole: its attempts, its coordinator, its user and its machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.events.stream import Event, TaskEvent

if TYPE_CHECKING:
    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.models.coordinator.requests import Request
    from ckptsim.scenarios.job import Job
    from ckptsim.scenarios.job.faults import Cancel, Rescale, Resubmit
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.job.port import TaskGateway, TaskPart
    from ckptsim.sim.kernel import Timer

# Attempts -----------------------------------------------------------------------------------------


class JobChanged(Event):
    """The user changes the parallelisms or the checkpoint mode of the job."""

    job: Job


class AttemptDeploying(Event):
    """The next attempt is about to be deployed."""


class TaskDeployed(TaskEvent):
    """A task of the next attempt is deployed."""


class AttemptBegun(Event):
    """An attempt begins.

    restored: the checkpoint of its beginning.
    """

    restored: JobCheckpoint | None


class CheckpointRestored(Event):
    """A job starts from a checkpoint, or is refused."""

    checkpoint: JobCheckpoint


class JobRestored(Event):
    """A job restarts from a checkpoint, None for its beginning."""

    checkpoint: JobCheckpoint | None


class StretchPassedOver(Event):
    """A stretch was not simulated, because the job repeats itself.

    records: that each task has processed meanwhile, by number.
    """

    lasts_ns: int
    records: Sequence[int]


class AttemptHalted(Event):
    """An attempt has ended."""


class TaskKilled(TaskEvent):
    """A task has stopped, which may not be known yet."""


class ThreadSlept(TaskEvent):
    """The thread of a task sleeps although it has work."""


# Machines, restarts and the user ------------------------------------------------------------------


class ManagerLost(Event):
    """A task manager sends no more heartbeats.

    unreachable: its connection is broken.
    """

    manager: int
    unreachable: bool


class ManagerLossKnown(Event):
    """The job manager detects the loss of a task manager."""

    manager: int


class JobManagerLost(Event):
    """A new job manager takes over."""


class FailureNoticed(Event):
    """The job learns of a failure."""


class FailureKnown(Event):
    """The job manager knows the cause of a failure."""

    cause: str


class RestartDecided(Event):
    """The restart strategy has answered.

    delay_ns: until the restart, None for no restart.  recoverable: a restart is allowed at all.
    """

    delay_ns: int | None
    recoverable: bool


class JobGivenUp(Event):
    """The job has failed for good."""


class ChangeAsked(Event):
    """The user asks for a change.

    is_over: the job is final and accepts no change.
    """

    change: Cancel | Rescale | Resubmit
    is_over: bool


class ChangeDone(Event):
    """A change of the user is complete."""


class RestartAsked(Event):
    """A change of the user needs a restart, which begins now."""


class RestartBegun(Event):
    """The restart of the user has begun."""


class JobSubmitted(Event):
    """The user submits the job again."""


class StopAsked(Event):
    """The user asks for a stop."""


class StopRefused(Event):
    """The savepoint of a stop is refused."""


# Checkpoints at the coordinator -------------------------------------------------------------------


class TriggersScheduled(Event):
    """Periodic triggers begin.

    first_ns: until the first trigger.
    """

    first_ns: int


class TriggersSuspended(Event):
    """Periodic triggers end."""


class PlanAsked(Event):
    """A checkpoint is about to be planned."""


class RequestRefused(Event):
    """A request is refused when it is planned.

    ready: all tasks run.  possible: a plan can be made of their states.
    """

    request: Request
    ready: bool
    possible: bool


class CheckpointPlanned(Event):
    """A plan names the tasks to trigger and to await."""

    plan: Plan


class CheckpointTriggered(Event):
    """A checkpoint begins."""

    record: CheckpointRecord


class TriggersSent(Event):
    """Every participant is ready for a checkpoint, and the triggers leave."""

    record: CheckpointRecord


class ExpirySet(Event):
    """The timer of a time-out is set."""

    checkpoint: int
    timer: Timer


class TriggerArrived(TaskEvent):
    """The trigger of a checkpoint arrives at a task."""

    checkpoint: int


class PartReported(TaskEvent):
    """A task acknowledges a checkpoint.

    size: the reported bytes in flight.  unaligned: the reported flag.
    """

    checkpoint: int
    size: int
    unaligned: bool


class PartArrived(Event):
    """An acknowledgement arrives at the coordinator."""

    record: CheckpointRecord
    task: TaskGateway
    part: TaskPart


class PartDeclined(Event):
    """A decline arrives at the coordinator."""

    task: TaskGateway
    checkpoint: int
    reason: FailureReason


class PartAcknowledged(Event):
    """The first acknowledgement of a task for a pending checkpoint counts."""

    record: CheckpointRecord
    task: TaskGateway
    part: Any


class CheckpointCompleted(Event):
    """A checkpoint completes, and keeps its status until after this event.

    kept: the stored parts, None after a failed write.
    """

    record: CheckpointRecord
    kept: JobCheckpoint | None
    duration_ns: int


class CheckpointsKept(Event):
    """The coordinator names the retained checkpoints.

    numbers: the core's answer.  held: the checkpoints of its host.
    """

    numbers: tuple[int, ...]
    held: Mapping[int, JobCheckpoint]


class CheckpointFailed(Event):
    """A checkpoint fails, and keeps its status until after this event."""

    record: CheckpointRecord
    reason: FailureReason


class CheckpointDiscarded(Event):
    """The coordinator discards a checkpoint."""

    checkpoint: int


class LogServiceCut(Event):
    """A log service keeps in-flight data from this checkpoint on."""

    oldest: int


class TasksNotified(Event):
    """Tasks are notified of the end of a checkpoint."""

    record: CheckpointRecord
    completed: bool


class NotificationLost(Event):
    """A notification is lost.

    number: the task.
    """

    number: int
    checkpoint: int
    completed: bool


class NotificationRepeated(Event):
    """A task gets the notification of a completion again.

    number: the task.
    """

    number: int
    checkpoint: int


class DataEndReported(Event):
    """A task has reported the end of its data.

    asked: a final checkpoint is requested then.
    """

    task: TaskGateway
    asked: bool


class TaskFinished(Event):
    """A task counts as FINISHED."""

    task: TaskGateway
