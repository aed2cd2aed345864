"""Faults that can befall a job; a closed union of frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import REQUIRED, count, duration_ns, name

_PLAN = "assumption: part of the fault plan"


class _Vertex(Protocol):
    """What a fault needs to know of a vertex."""

    @property
    def name(self) -> str: ...

    @property
    def parallelism(self) -> int: ...


class JobModel(Protocol):
    """What a fault needs to know of a job."""

    @property
    def vertices(self) -> tuple[_Vertex, ...]:
        """Return its vertices."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AtSubtask:
    """A fault of one subtask."""

    vertex: str = name(REQUIRED, says="vertex concerned", source=_PLAN)
    subtask: int = count(0, unit="index", says="subtask concerned, from 0", source=_PLAN)

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = next((v for v in model.vertices if v.name == self.vertex), None)
        if found is None:
            return [Problem("vertex", f'"{self.vertex}"', "the name of a vertex")]
        repeat = getattr(found, "repeat", 1)  # only vertices of jobs can stand several times
        if repeat > 1:
            says = f'"{self.vertex}", which stands {repeat} times'
            return [Problem("vertex", says, "the name of a vertex that stands once")]
        if self.subtask >= found.parallelism:
            expected = f"less than the parallelism {found.parallelism}"
            return [Problem("subtask", str(self.subtask), expected)]
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCheckpoint(AtSubtask):
    """A fault of one subtask at one checkpoint."""

    checkpoint: int = count(REQUIRED, minimum=1, says="number of the checkpoint", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class LateAtCheckpoint(AtCheckpoint):
    """Something of one subtask at one checkpoint that comes late."""

    delay_ns: int = duration_ns(REQUIRED, says="how much later", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashTask(AtSubtask):
    """A subtask fails at an instant; the job restarts from its latest completed checkpoint."""

    at_ns: int = duration_ns(REQUIRED, says="instant of the failure", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashAtCheckpoint(AtCheckpoint):
    """A subtask fails right after it has taken its snapshot of a checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailSnapshot(AtCheckpoint):
    """A subtask's asynchronous snapshot fails, so the checkpoint is declined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailChannelState(AtCheckpoint):
    """The file that a subtask writes in-flight data to breaks, for all that share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayAcknowledgement(LateAtCheckpoint):
    """A subtask's acknowledgement of a checkpoint comes late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseNotification(AtCheckpoint):
    """A subtask never hears that a checkpoint is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayNotification(LateAtCheckpoint):
    """A subtask hears late that a checkpoint is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayNotification(LateAtCheckpoint):
    """A subtask hears of a completion once more, later, in whatever attempt runs then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayTrigger(LateAtCheckpoint):
    """The trigger of a checkpoint reaches a subtask late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StallTask(AtSubtask):
    """A subtask's thread stands still for a while."""

    at_ns: int = duration_ns(REQUIRED, says="instant of the stall", source=_PLAN)
    lasts_ns: int = duration_ns(REQUIRED, says="how long it lasts", source=_PLAN)


JobFault = (
    CrashTask
    | CrashAtCheckpoint
    | FailSnapshot
    | FailChannelState
    | DelayAcknowledgement
    | LoseNotification
    | DelayNotification
    | StrayNotification
    | DelayTrigger
    | StallTask
)

JOB_FAULTS: Mapping[str, type] = {
    "crash_task": CrashTask,
    "crash_at_checkpoint": CrashAtCheckpoint,
    "fail_snapshot": FailSnapshot,
    "fail_channel_state": FailChannelState,
    "delay_acknowledgement": DelayAcknowledgement,
    "lose_notification": LoseNotification,
    "delay_notification": DelayNotification,
    "stray_notification": StrayNotification,
    "delay_trigger": DelayTrigger,
    "stall_task": StallTask,
}
