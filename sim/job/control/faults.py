"""The fault plan of a job, asked at the places where faults can strike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, assert_never

from ckptsim.scenarios.job.faults import (
    AtCheckpoint,
    Cancel,
    CrashJobManager,
    CrashTask,
    CrashTaskManager,
    DelayTrigger,
    FailStorage,
    JobFault,
    LoseAcknowledgement,
    LoseSplit,
    LoseTrigger,
    RequestCheckpoint,
    RequestSavepoint,
    Rescale,
    Resubmit,
    SlowFile,
    SlowStorage,
    StallTask,
    Symptom,
)

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.kernel import Entity, Environment

OfUser = RequestCheckpoint | RequestSavepoint | Cancel | Rescale | Resubmit
OfAttempt = CrashTask | CrashTaskManager | CrashJobManager | StallTask
Timed = OfAttempt | OfUser
# What makes a checkpoint continue until it expires.
_LOSSES = (LoseTrigger, LoseAcknowledgement)
_REQUESTS = (RequestCheckpoint, RequestSavepoint)


class Subtask(Protocol):
    """A subtask that a fault can strike."""

    @property
    def place(self) -> tuple[str, int]:
        """Return its vertex and its index there."""


class FaultPlan:
    """All faults of a scenario.

    timed: those at an instant. They are entered into the calendar.  The others are asked for, at a
    checkpoint: of several alike the first counts.
    """

    def __init__(self, faults: Iterable[JobFault] = ()) -> None:
        self._faults = tuple(faults)
        self._struck: set[tuple[type, str, int, int]] = set()
        self._at: dict[tuple[type, str, int, int], AtCheckpoint] = {}
        for fault in self._faults:
            if isinstance(fault, AtCheckpoint):
                key = (type(fault), fault.vertex, fault.subtask, fault.checkpoint)
                self._at.setdefault(key, fault)

    def __len__(self) -> int:
        """Count the faults."""
        return len(self._faults)

    @property
    def timed(self) -> list[Timed]:
        """Return the faults that strike at an instant."""
        return [fault for fault in self._faults if isinstance(fault, Timed)]

    @property
    def is_endless(self) -> bool:
        """Return whether a fault strikes in every attempt."""
        return any(getattr(fault, "every_attempt", False) for fault in self._faults)

    @property
    def silences(self) -> bool:
        """Return whether a task manager is lost without its connections breaking."""
        breaks = Symptom.CONNECTIONS_BREAK
        managers = [one for one in self._faults if isinstance(one, CrashTaskManager)]
        return any(one.symptom is not breaks for one in managers)

    @property
    def longest_ns(self) -> int:
        """Return all delays and stalls, added up, in ns."""
        return self._sum("delay_ns", "lasts_ns", "noticed_ns")

    def held_ns(self, job: Job) -> int:
        """Return for how long faults may hold up a task that others wait for, in ns.

        It stalls, is silently lost, or has a channel blocked until a checkpoint expires.
        """
        silent_ns = job.recovery.heartbeat_timeout_ns if self.silences else 0
        expires_ns = job.checkpointing.timeout_ns if self._at else 0
        return self.longest_ns + silent_ns + expires_ns

    @property
    def latest_ns(self) -> int:
        """Return all instants at which something strikes, added up, in ns."""
        return self._sum("at_ns", "after_ns")

    @property
    def slow_files_ns(self) -> int:
        """Return by how much files are late, added up, in ns."""
        late = sum(one.delay_ns for one in self._faults if isinstance(one, SlowFile))
        return late + sum(one.lasts_ns for one in self.of_storage)

    @property
    def of_storage(self) -> list[SlowStorage | FailStorage]:
        """Return the faults of the checkpoint storage."""
        return [one for one in self._faults if isinstance(one, SlowStorage | FailStorage)]

    def storage_factor(self, now_ns: int) -> float:
        """Return by which the storage is slower at an instant."""
        return math.prod(one.factor for one in self._slow_at(now_ns))

    def slowed_ns(self, now_ns: int, time_ns: int) -> int:
        """Return how long something takes at the storage that usually takes some time.

        It is slower until the first of the faults that last now ends.
        """
        slow = self._slow_at(now_ns)
        if not slow:
            return time_ns
        factor, left_ns = self.storage_factor(now_ns), min(f.at_ns + f.lasts_ns for f in slow)
        left_ns -= now_ns
        if time_ns * factor <= left_ns:
            return round(time_ns * factor)
        return left_ns + round(time_ns - left_ns / factor)

    def _slow_at(self, now_ns: int) -> list[SlowStorage]:
        slow = (one for one in self.of_storage if isinstance(one, SlowStorage))
        return [one for one in slow if one.at_ns <= now_ns < one.at_ns + one.lasts_ns]

    def storage_broken_ns(self, now_ns: int) -> int:
        """Return for how long the storage is broken from an instant on."""
        broken = [one for one in self.of_storage if isinstance(one, FailStorage)]
        return max(0, 0, *(f.at_ns + f.lasts_ns - now_ns for f in broken if f.at_ns <= now_ns))

    def lets_expire(self, job: Job) -> bool:
        """Return whether a checkpoint can continue until it expires, for want of a message.

        A trigger that comes after the one of a newer checkpoint is skipped, and no one is reported.
        Source: Apache Flink 1.20.3, SubtaskCheckpointCoordinatorImpl.checkpointState.
        """
        stops = job.ending.stop_at_ns is not None
        several = stops or job.checkpointing.max_concurrent > 1 or self._has(_REQUESTS)
        return self._has(_LOSSES) or (several and self._has((DelayTrigger,)))

    def _has(self, kinds: tuple[type[JobFault], ...]) -> bool:
        return any(isinstance(fault, kinds) for fault in self._faults)

    def loses(self, task: Subtask, checkpoint: int) -> bool:
        """Return whether a task's part in a checkpoint is never heard of, for want of a message."""
        return any(self.strikes(kind, task, checkpoint) for kind in _LOSSES)

    @property
    def at_checkpoints(self) -> int:
        """Return how many faults strike a task's part in a checkpoint."""
        return len(self._at)

    def strikes(self, kind: type[AtCheckpoint], task: Subtask, checkpoint: int) -> bool:
        """Return whether a fault of this kind strikes a task's part in a checkpoint."""
        return (kind, *task.place, checkpoint) in self._at

    def strikes_once(self, kind: type[AtCheckpoint], task: Subtask, checkpoint: int) -> bool:
        """Return whether such a fault strikes, the first time that it is asked for."""
        key = (kind, *task.place, checkpoint)
        if key not in self._at or key in self._struck:
            return False
        self._struck.add(key)
        return True

    def delay_ns(self, kind: type[AtCheckpoint], task: Subtask, checkpoint: int) -> int:
        """Return by how much something comes late, in ns."""
        return self.delayed_ns(kind, task, checkpoint) or 0

    def delayed_ns(self, kind: type[AtCheckpoint], task: Subtask, checkpoint: int) -> int | None:
        """Return by how much something comes late, in ns, None where no such fault strikes."""
        fault = self._at.get((kind, *task.place, checkpoint))
        delay_ns: int | None = getattr(fault, "delay_ns", None)
        return delay_ns

    def strike_attempt(self, fault: Timed, job: Strikable, attempt: int) -> None:
        """Let a fault strike, unless the attempt that it is for is over."""
        if job.attempts == attempt:
            self.strike(fault, job)

    def strike(self, fault: Timed, job: Strikable) -> None:
        """Let a fault strike. Whom, is known only now: a rescale may have come before."""
        match fault:
            case CrashJobManager():
                job.crash_job_manager()
                return
            case RequestCheckpoint() | RequestSavepoint():
                if job.running:
                    job.coordinator.request(savepoint=isinstance(fault, RequestSavepoint))
                return
            case Cancel() | Rescale() | Resubmit():
                job.operations.carry_out(fault)
                return
        number = job.number_of(fault.vertex, fault.subtask)
        if number is None:
            return
        match fault:
            case CrashTask():
                job.crash((number,), f"{fault.vertex}/{fault.subtask} crashes")
            case CrashTaskManager():
                cause = f"the task manager of {fault.vertex}/{fault.subtask} crashes"
                job.lose_task_manager(job.colocated(number), cause, fault.symptom)
            case StallTask():
                job.stall(number, fault.lasts_ns)
            case _ as never:
                assert_never(never)

    def lost_split(self, task: Subtask, occurrence: int) -> int | None:
        """Return after how long the loss of a split is noticed, in ns, None where it arrives."""
        losses = [one for one in self._faults if isinstance(one, LoseSplit)]
        found = [one for one in losses if task.place == (one.vertex, one.subtask)]
        return next((one.noticed_ns for one in found if one.occurrence == occurrence), None)

    def _sum(self, *fields: str) -> int:
        return sum(getattr(fault, field, 0) or 0 for fault in self._faults for field in fields)


NO_FAULTS = FaultPlan()


class Requestable(Protocol):
    """Whom the user asks for a checkpoint."""

    def request(self, *, savepoint: bool) -> None:
        """Take a checkpoint or a savepoint that the job continues after."""


class Operable(Protocol):
    """A job that its user changes."""

    def carry_out(self, asked: Cancel | Rescale | Resubmit) -> None:
        """Change it, submit it again, or cancel it."""


class Strikable(Protocol):
    """A job as faults at an instant strike it. Tasks by their numbers."""

    attempts: int

    @property
    def running(self) -> bool:
        """Return whether an attempt runs."""

    @property
    def coordinator(self) -> Requestable:
        """Return the coordinator of its checkpoints."""

    def crash(self, numbers: Iterable[int], cause: str) -> None:
        """Fail tasks."""

    def lose_task_manager(self, numbers: Sequence[int], cause: str, symptom: Symptom) -> None:
        """Fail all tasks of a task manager, and the job with them when that is known."""

    def crash_job_manager(self) -> None:
        """Fail the job manager."""

    def stall(self, number: int, lasts_ns: int) -> None:
        """Let a task's thread do nothing for a while."""

    @property
    def operations(self) -> Operable:
        """Return what carries out what the user asks for."""

    def number_of(self, vertex: str, subtask: int) -> int | None:
        """Return the number of a task, None where there is no such subtask any more."""

    def colocated(self, number: int) -> Sequence[int]:
        """Return the tasks on the task manager of a task, itself among them."""


def enter_instants(
    plan: FaultPlan, env: Environment, kind: int, entity: Entity, job: Strikable
) -> None:
    """Enter the faults that strike at an instant of the run into the calendar."""
    for fault in plan.timed:
        if fault.at_ns is not None:
            env.call_at(fault.at_ns, kind, entity, plan.strike, fault, job)


def enter_attempt(
    plan: FaultPlan, env: Environment, kind: int, entity: Entity, job: Strikable
) -> None:
    """Enter the faults that strike some time after an attempt begins, which it does now."""
    for fault in plan.timed:
        if isinstance(fault, OfAttempt) and (fault.every_attempt or fault.attempt == job.attempts):
            call = plan.strike_attempt, fault, job, job.attempts
            env.call_in(fault.after_ns, kind, entity, *call)
