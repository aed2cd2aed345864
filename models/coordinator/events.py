"""Events that the coordinator takes and effects that it asks of its host.

Tasks are named by integers that the host chooses.  Times are simulated nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.requests import Request


class TimerKind(IntEnum):
    """What a timer is for."""

    TICK = 0  # number: counts the tickings-on. An older one is stale
    EXPIRY = 1  # number: the checkpoint


@dataclass(frozen=True, slots=True)
class SchedulerStarted:
    """All tasks run: trigger periodically from now on, first after `first_delay_ns`.

    The delay is drawn between the parameters' `first_delay_bounds_ns`.
    """

    now_ns: int
    first_delay_ns: int


@dataclass(frozen=True, slots=True)
class SchedulerStopped:
    """The job fails, restarts or ends: give up everything that waits or runs."""

    now_ns: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class CheckpointRequested:
    """Someone wants a checkpoint now.

    forced: None represents the rule: savepoints are forced when checkpoints are always aligned.
    synchronous: the savepoint of a stop.
    """

    now_ns: int
    savepoint: bool = False
    synchronous: bool = False
    forced: bool | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan that PlanCheckpoint asked for: whom to trigger, and whom to wait for."""

    now_ns: int
    trigger: tuple[int, ...]
    await_tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlanRefused:
    """There is no plan for the checkpoint that PlanCheckpoint asked for."""

    now_ns: int
    reason: FailureReason = FailureReason.NOT_ALL_REQUIRED_TASKS_RUNNING


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A task has made its part of a checkpoint durable."""

    now_ns: int
    checkpoint: int
    task: int


@dataclass(frozen=True, slots=True)
class Declined:
    """A task says that it cannot take part in a checkpoint."""

    now_ns: int
    checkpoint: int
    task: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class Stored:
    """The store has kept the checkpoint that StoreCheckpoint named, or failed to.

    reason: why it failed. A vertex with union state that has finished in part counts as a task that
    is closing.  Source: Apache Flink 1.20.3, CheckpointCoordinator.finalizeCheckpoint.
    """

    now_ns: int
    checkpoint: int
    failed: bool = False
    reason: FailureReason = FailureReason.FINALIZE_CHECKPOINT_FAILURE


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer has run out. It may be a stale one."""

    now_ns: int
    kind: TimerKind
    number: int


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A checkpoint that DiscardCheckpoint named is gone."""

    now_ns: int
    checkpoint: int


CoordinatorEvent: TypeAlias = (
    SchedulerStarted
    | SchedulerStopped
    | CheckpointRequested
    | Planned
    | PlanRefused
    | Acknowledged
    | Declined
    | Stored
    | TimerFired
    | Cleaned
)


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Report TimerFired(kind, number) after a delay."""

    kind: TimerKind
    number: int
    delay_ns: int


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """Forget a timer that was set."""

    kind: TimerKind
    number: int


@dataclass(frozen=True, slots=True)
class PlanCheckpoint:
    """Work out which tasks to trigger and answer with Planned or PlanRefused.

    Nothing else is chosen until the answer is there.
    """

    request: Request


@dataclass(frozen=True, slots=True)
class TriggerTasks:
    """Send the barrier to these tasks."""

    barrier: Barrier
    tasks: tuple[int, ...]
    request: Request


@dataclass(frozen=True, slots=True)
class RefuseRequest:
    """A request ends without a checkpoint."""

    request: Request
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class StoreCheckpoint:
    """Every acknowledgement is there: write the metadata and answer with Stored."""

    checkpoint: int
    savepoint: bool


@dataclass(frozen=True, slots=True)
class CheckpointCompleted:
    """A checkpoint is complete. The duration is from its trigger to its last acknowledgement."""

    checkpoint: int
    duration_ns: int


@dataclass(frozen=True, slots=True)
class NotifyComplete:
    """Tell all tasks that a checkpoint is complete, and which older one is no longer kept."""

    checkpoint: int
    subsumed: int | None


@dataclass(frozen=True, slots=True)
class CheckpointFailed:
    """A checkpoint has ended without being complete."""

    checkpoint: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class NotifyAborted:
    """Tell all tasks that a checkpoint was aborted, and which is the latest complete one."""

    checkpoint: int
    latest_completed: int | None


@dataclass(frozen=True, slots=True)
class DiscardCheckpoint:
    """Remove the files of a checkpoint. Answer with Cleaned if cleaning takes time."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class DiscardState:
    """Remove what a task stored for a checkpoint that does not want it any more.

    late: the checkpoint is one of the recent ones that ended without it. Otherwise no one knows it.
    """

    checkpoint: int
    task: int
    late: bool


@dataclass(frozen=True, slots=True)
class FailJob:
    """Too many checkpoints have failed in a row, or a stop cannot be carried out."""

    checkpoint: int | None
    reason: FailureReason


CoordinatorEffect: TypeAlias = (
    SetTimer
    | CancelTimer
    | PlanCheckpoint
    | TriggerTasks
    | RefuseRequest
    | StoreCheckpoint
    | CheckpointCompleted
    | NotifyComplete
    | CheckpointFailed
    | NotifyAborted
    | DiscardCheckpoint
    | DiscardState
    | FailJob
)
