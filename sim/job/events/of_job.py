"""What happens in a job as a whole: its attempts, its coordinator, its user and its machines."""

from __future__ import annotations

from collections.abc import Mapping
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
    """The user has changed the job: its parallelisms or its checkpoint mode."""

    job: Job


class AttemptDeploying(Event):
    """The parts of the next attempt are going to be made."""


class TaskDeployed(TaskEvent):
    """A task of the next attempt is made."""


class AttemptBegun(Event):
    """An attempt is built.  restored: the checkpoint that it begins from."""

    restored: JobCheckpoint | None


class CheckpointRestored(Event):
    """A job is started from a checkpoint, which it may not be able to start from."""

    checkpoint: JobCheckpoint


class JobRestored(Event):
    """A job restarts from a checkpoint, None for its beginning."""

    checkpoint: JobCheckpoint | None


class AttemptHalted(Event):
    """The attempt is over: nothing of it acts any more."""


class TaskKilled(TaskEvent):
    """A task does nothing more: it has failed, though that may not be known yet."""


class ThreadSlept(TaskEvent):
    """A task's thread sleeps as time passes, though it has something to do."""


# Machines, restarts and the user ------------------------------------------------------------------


class ManagerLost(Event):
    """A task manager gives no heartbeat from now on.  unreachable: its connection is broken."""

    manager: int
    unreachable: bool


class ManagerLossKnown(Event):
    """The job manager takes a task manager for lost."""

    manager: int


class JobManagerLost(Event):
    """A new job manager takes over."""


class FailureNoticed(Event):
    """The job learns of a failure, before it does anything about it."""


class FailureKnown(Event):
    """The job manager knows of a failure, and why it was."""

    cause: str


class RestartDecided(Event):
    """The restart strategy has answered.  delay_ns: until the restart, None for no restart.

    recoverable: a restart is allowed at all.
    """

    delay_ns: int | None
    recoverable: bool


class JobGivenUp(Event):
    """The job has failed for good."""


class ChangeAsked(Event):
    """The user asks for a change.  is_over: of a job that nothing changes any more."""

    change: Cancel | Rescale | Resubmit
    is_over: bool


class ChangeDone(Event):
    """What the user asked for has been dealt with."""


class RestartAsked(Event):
    """The user's change needs a restart, which begins now."""


class RestartBegun(Event):
    """The user's restart has begun: what follows is of failures again."""


class JobSubmitted(Event):
    """The user submits the job again, from the newest checkpoint or savepoint."""


class StopAsked(Event):
    """The user asks for the stop, perhaps again."""


class StopRefused(Event):
    """The savepoint of a stop is not taken."""


# Checkpoints at the coordinator -------------------------------------------------------------------


class TriggersScheduled(Event):
    """Periodic triggers begin, the first after `first_ns`."""

    first_ns: int


class TriggersSuspended(Event):
    """Periodic triggers have ended."""


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
    """It is decided which tasks a checkpoint triggers and awaits."""

    plan: Plan


class CheckpointTriggered(Event):
    """A checkpoint begins."""

    record: CheckpointRecord


class TriggersSent(Event):
    """Every participant is ready for a checkpoint, and the triggers leave."""

    record: CheckpointRecord


class ExpirySet(Event):
    """A timer will end a checkpoint that takes too long."""

    checkpoint: int
    timer: Timer


class TriggerArrived(TaskEvent):
    """The trigger of a checkpoint comes to a task."""

    checkpoint: int


class PartReported(TaskEvent):
    """A task acknowledges a checkpoint.  size: what it says that its part has in flight.

    unaligned: how it calls its part.
    """

    checkpoint: int
    size: int
    unaligned: bool


class PartArrived(Event):
    """An acknowledgement has come to the coordinator, perhaps too late, or again."""

    record: CheckpointRecord
    task: TaskGateway
    part: TaskPart


class PartDeclined(Event):
    """A task's refusal of a checkpoint has come to the coordinator."""

    task: TaskGateway
    checkpoint: int
    reason: FailureReason


class PartAcknowledged(Event):
    """An acknowledgement counts: it is the first of its task, of a pending checkpoint."""

    record: CheckpointRecord
    task: TaskGateway
    part: Any


class CheckpointCompleted(Event):
    """A checkpoint is complete.  Its status is still the one before.

    kept: what the store has of it, None where it has failed to keep it.
    """

    record: CheckpointRecord
    kept: JobCheckpoint | None
    duration_ns: int


class CheckpointsKept(Event):
    """After a completion the coordinator's core says which checkpoints it keeps.

    held: all that its host holds then.
    """

    numbers: tuple[int, ...]
    held: Mapping[int, JobCheckpoint]


class CheckpointFailed(Event):
    """A checkpoint fails.  Its status is still the one before."""

    record: CheckpointRecord
    reason: FailureReason


class CheckpointDiscarded(Event):
    """The coordinator discards a checkpoint."""

    checkpoint: int


class LogServiceCut(Event):
    """A log service keeps in-flight data from this checkpoint on, and no older."""

    oldest: int


class TasksNotified(Event):
    """Tasks are notified of the end of a checkpoint."""

    record: CheckpointRecord
    completed: bool


class NotificationLost(Event):
    """A notification never comes to a task, by its number."""

    number: int
    checkpoint: int
    completed: bool


class NotificationRepeated(Event):
    """A task, by its number, gets a completion that was notified before, perhaps elsewhere."""

    number: int
    checkpoint: int


class DataEndReported(Event):
    """A task has reported the end of its data.  asked: a final checkpoint is asked for then."""

    task: TaskGateway
    asked: bool


class TaskFinished(Event):
    """A task is taken for FINISHED from now on."""

    task: TaskGateway
