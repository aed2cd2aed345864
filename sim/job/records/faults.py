"""The fault plan of a job, asked by the world at the places where faults can strike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ckptsim.scenarios.job_faults import (
    CrashAtCheckpoint,
    CrashTask,
    DelayAcknowledgement,
    DelayNotification,
    DelayTrigger,
    FailChannelState,
    FailSnapshot,
    JobFault,
    LoseNotification,
    StallTask,
    StrayNotification,
)
from ckptsim.sim.job.records.graph import TaskSpec

Numbered = TypeVar(
    "Numbered",
    CrashAtCheckpoint,
    DelayAcknowledgement,
    DelayNotification,
    DelayTrigger,
    FailChannelState,
    FailSnapshot,
    LoseNotification,
    StrayNotification,
)


class FaultPlan:
    """All faults of a scenario; those at an instant are scheduled, the others asked for."""

    def __init__(self, faults: Iterable[JobFault]) -> None:
        self._faults = tuple(faults)
        self._struck: set[int] = set()

    @property
    def crashes(self) -> list[CrashTask]:
        """Return the crashes at an instant."""
        return [fault for fault in self._faults if isinstance(fault, CrashTask)]

    @property
    def stalls(self) -> list[StallTask]:
        """Return the stalls."""
        return [fault for fault in self._faults if isinstance(fault, StallTask)]

    @property
    def longest_ns(self) -> int:
        """Return the latest instant and the longest delay of the plan, added up."""
        total = 0
        for fault in self._faults:
            for field in ("at_ns", "delay_ns", "lasts_ns"):
                total += getattr(fault, field, 0)
        return total

    def crashes_after_snapshot(self, task: TaskSpec, checkpoint: int) -> bool:
        """Say, once per fault, whether the task fails right after this snapshot."""
        fault = self._find(CrashAtCheckpoint, task, checkpoint)
        if fault is None or id_of(self._faults, fault) in self._struck:
            return False
        self._struck.add(id_of(self._faults, fault))
        return True

    def snapshot_fails(self, task: TaskSpec, checkpoint: int) -> bool:
        """Say whether the asynchronous part of this snapshot fails."""
        return self._find(FailSnapshot, task, checkpoint) is not None

    def channel_state_fails(self, task: TaskSpec, checkpoint: int) -> bool:
        """Say whether the file with this subtask's in-flight data breaks."""
        return self._find(FailChannelState, task, checkpoint) is not None

    def acknowledgement_delay(self, task: TaskSpec, checkpoint: int) -> int:
        """Return by how much the acknowledgement is late, in ns."""
        fault = self._find(DelayAcknowledgement, task, checkpoint)
        return 0 if fault is None else fault.delay_ns

    def notification_lost(self, task: TaskSpec, checkpoint: int) -> bool:
        """Say whether the task never hears of this completion."""
        return self._find(LoseNotification, task, checkpoint) is not None

    def notification_delay(self, task: TaskSpec, checkpoint: int) -> int:
        """Return by how much the notification is late, in ns."""
        fault = self._find(DelayNotification, task, checkpoint)
        return 0 if fault is None else fault.delay_ns

    def stray_notification(self, task: TaskSpec, checkpoint: int) -> int | None:
        """Return how much later the task hears of this completion once more, in ns, or None."""
        fault = self._find(StrayNotification, task, checkpoint)
        return None if fault is None else fault.delay_ns

    def trigger_delay(self, task: TaskSpec, checkpoint: int) -> int:
        """Return by how much the trigger is late, in ns."""
        fault = self._find(DelayTrigger, task, checkpoint)
        return 0 if fault is None else fault.delay_ns

    def _find(self, kind: type[Numbered], task: TaskSpec, checkpoint: int) -> Numbered | None:
        for fault in self._faults:
            if (
                isinstance(fault, kind)
                and fault.vertex == task.vertex.name
                and fault.subtask == task.subtask
                and fault.checkpoint == checkpoint
            ):
                return fault
        return None


def id_of(faults: tuple[JobFault, ...], fault: JobFault) -> int:
    """Return the place of a fault in its plan."""
    return next(place for place, other in enumerate(faults) if other is fault)
