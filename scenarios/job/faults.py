"""Faults of a job; a closed union of frozen data, each for both data planes.

Faults name vertices and subtasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ckptsim.scenarios.dialect import duration_text, one_of
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import REQUIRED, choice, count, duration_ns, flag, name, number, text
from ckptsim.scenarios.job.checkpointing import Checkpointing, Mode
from ckptsim.scenarios.job.graph import Vertex, forward_group, spelled_out
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.restart import NoRestart

_PLAN = "assumption: part of the fault plan"
_AS_BEFORE = "as_before"
# Of a storage, what can be slower.
_SLOWED = (
    *("write_bytes_per_s", "write_host_bytes_per_s", "create_latency_ns", "open_latency_ns"),
    *("read_bytes_per_s", "read_host_bytes_per_s", "read_job_bytes_per_s"),
)


class JobModel(Protocol):
    """What a fault needs to know of a job."""

    @property
    def vertices(self) -> tuple[Vertex, ...]:
        """Return its vertices."""
        ...


class Symptom(StrEnum):
    """What the others see of a task manager that has failed."""

    CONNECTIONS_BREAK = "connections_break"
    UNREACHABLE = "unreachable"
    SILENT = "silent"


class _Fault:
    """What all faults of a job have in common."""

    __slots__ = ()

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job: nothing, unless a kind of fault says otherwise."""
        del model
        return []


def _unknown(asked: str, vertices: Sequence[Vertex]) -> Problem:
    """Return the problem of a vertex that is not known, with those that are."""
    return Problem("vertex", f'"{asked}"', one_of(asked, [vertex.name for vertex in vertices]))


@dataclass(frozen=True, slots=True, kw_only=True)
class AtSubtask(_Fault):
    """A fault of one subtask."""

    vertex: str = name(REQUIRED, says="vertex concerned", source=_PLAN)
    subtask: int = count(0, unit="index", says="subtask concerned, from 0", source=_PLAN)

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        return _subtask_problems(self.vertex, self.subtask, model)


def _subtask_problems(name: str, subtask: int, model: JobModel) -> list[Problem]:
    """Return what is wrong with the name of a vertex and the index of its subtask."""
    vertices = spelled_out(model.vertices)
    vertex = next((v for v in vertices if v.name == name), None)
    if vertex is None:
        return [_unknown(name, vertices)]
    if subtask < vertex.parallelism:
        return []
    return [Problem("subtask", str(subtask), f"less than the parallelism {vertex.parallelism}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCheckpoint(AtSubtask):
    """A fault of one subtask at one checkpoint."""

    checkpoint: int = count(REQUIRED, minimum=1, says="number of the checkpoint", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class LateAtCheckpoint(AtCheckpoint):
    """Something of one subtask at one checkpoint that comes late."""

    delay_ns: int = duration_ns(REQUIRED, says="how much later", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Striking(_Fault):
    """A fault that strikes at an instant of the run, or some time after an attempt begins."""

    at_ns: int | None = duration_ns(
        None, optional=True, says="instant at which it strikes, from the run's begin", source=_PLAN
    )
    attempt: int | None = count(
        None,
        optional=True,
        minimum=1,
        unit="attempt",
        says="number of the attempt in which it strikes, instead of an instant",
        source=_PLAN,
    )
    every_attempt: bool = flag(False, says="it strikes in every attempt", source=_PLAN)
    after_ns: int = duration_ns(
        0, says="how long after the begin of such an attempt it strikes", source=_PLAN
    )

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit together of the instant, or what never ends."""
        relative = self.every_attempt or self.attempt is not None
        if self.at_ns is None and not relative:
            expected = "an instant, or attempt or every_attempt with after"
            return [Problem("at_ns", "nothing", expected)]
        found = []
        if self.at_ns is not None and (relative or self.after_ns):
            expected = "nothing, beside attempt, every_attempt or after"
            found.append(Problem("at_ns", duration_text(self.at_ns), expected))
        if self.every_attempt and self.attempt is not None:
            found.append(Problem("attempt", str(self.attempt), "nothing, beside every_attempt"))
        restart = getattr(model, "restart", None)
        endless = getattr(restart, "attempts", None) is None and not isinstance(restart, NoRestart)
        if self.every_attempt and endless and getattr(model, "plane", None) is Plane.RECORDS:
            expected = "false, unless restart.attempts ends the job: no clock does on records"
            found.append(Problem("every_attempt", "true", expected))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _StrikingSubtask(_Striking):
    """A fault of one subtask that strikes at an instant."""

    vertex: str = name(REQUIRED, says="vertex concerned", source=_PLAN)
    subtask: int = count(0, unit="index", says="subtask concerned, from 0", source=_PLAN)

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = _subtask_problems(self.vertex, self.subtask, model)
        return found + _Striking.problems_in(self, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashTask(_StrikingSubtask):
    """A subtask fails at an instant; the job restarts from its latest completed checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashAtCheckpoint(AtCheckpoint):
    """A subtask fails right after it has taken its snapshot of a checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashTaskManager(_StrikingSubtask):
    """The task manager that a subtask runs on fails, and all subtasks with it."""

    symptom: Symptom = choice(
        "connections_break",
        Symptom,
        says="what others see of it: its connections break, which is known as an exception is; "
        "messages to it cannot be delivered; or nothing, as if its machine hung",
        source=_PLAN,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashJobManager(_Striking):
    """The job manager fails, with the coordinator and all it has under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailSnapshot(AtCheckpoint):
    """A subtask's asynchronous snapshot fails, so the checkpoint is declined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailChannelState(AtCheckpoint):
    """The file that a subtask writes in-flight data to breaks, for all that share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowFile(LateAtCheckpoint):
    """A subtask's files of a checkpoint are created late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseTrigger(AtCheckpoint):
    """The trigger of a checkpoint never reaches a subtask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayTrigger(LateAtCheckpoint):
    """The trigger of a checkpoint reaches a subtask late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseTrigger(AtCheckpoint):
    """A source subtask is not ready for the trigger of a checkpoint and declines it."""

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = AtCheckpoint.problems_in(self, model)
        sources = [vertex.name for vertex in model.vertices if vertex.is_source]
        if not found and self.vertex not in sources:
            found.append(Problem("vertex", f'"{self.vertex}"', "the name of a source"))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseAcknowledgement(AtCheckpoint):
    """A subtask's acknowledgement of a checkpoint never reaches the coordinator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayAcknowledgement(LateAtCheckpoint):
    """A subtask's acknowledgement of a checkpoint comes late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatAcknowledgement(LateAtCheckpoint):
    """A subtask's acknowledgement of a checkpoint comes once more, later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayDecline(LateAtCheckpoint):
    """A refusal of a checkpoint comes, later, from a subtask that has acknowledged it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseNotification(AtCheckpoint):
    """A subtask is never notified of a complete checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayNotification(LateAtCheckpoint):
    """A subtask is notified late of a complete checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayNotification(LateAtCheckpoint):
    """A subtask is notified once more, later, in the attempt that runs then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StallTask(_StrikingSubtask):
    """A subtask's thread does nothing for a while."""

    lasts_ns: int = duration_ns(REQUIRED, says="how long it lasts", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AtStorage(_Fault):
    """A fault of the checkpoint storage for a time."""

    at_ns: int = duration_ns(REQUIRED, says="instant from which on it lasts", source=_PLAN)
    lasts_ns: int = duration_ns(REQUIRED, says="how long it lasts", source=_PLAN)

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        if getattr(model, "plane", None) is Plane.BUFFERS:
            return []
        return [Problem("kind", "a fault of the storage", "none on records: files take no time")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowStorage(_AtStorage):
    """The checkpoint storage is slower for a time."""

    factor: float = number(
        REQUIRED,
        minimum=1.0,
        maximum=1e6,
        says="by which its rates are lower and its latencies longer",
        source=_PLAN,
    )

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        storage = getattr(model, "storage", None)
        slows = any(getattr(storage, name, None) for name in _SLOWED)
        found = _AtStorage.problems_in(self, model)
        if found or slows:
            return found
        return [Problem("factor", str(self.factor), "a rate or latency in job.storage to slow")]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailStorage(_AtStorage):
    """The checkpoint storage fails for a time: no file can be written, and reads wait for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCheckpoint(_Fault):
    """The user asks for a checkpoint; while the job does not run nothing comes of it."""

    at_ns: int = duration_ns(REQUIRED, says="instant of the request", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSavepoint(_Fault):
    """The user asks for a savepoint; while the job does not run nothing comes of it."""

    at_ns: int = duration_ns(REQUIRED, says="instant of the request", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(_Fault):
    """The user cancels the job, which no restart follows; completed checkpoints stay."""

    at_ns: int = duration_ns(REQUIRED, says="instant of the cancellation", source=_PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescale(_Fault):
    """The user changes the parallelism of a vertex; the job restarts from its latest checkpoint.

    Vertices joined by forward edges have one parallelism, so it is theirs as well.
    Source: Apache Flink 1.20.3, ForwardGroup; AdaptiveScheduler (a rescale restarts the job and
    does not count as a failure).
    """

    vertex: str = name(REQUIRED, says="vertex concerned", source=_PLAN)
    parallelism: int = count(
        REQUIRED,
        minimum=1,
        maximum=128,
        unit="subtasks",
        says="subtasks that it has from then on",
        source="assumption: at most one for each of the 128 key groups",
    )
    at_ns: int = duration_ns(REQUIRED, says="instant of the change", source=_PLAN)

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = _Fault.problems_in(self, model)
        vertices = spelled_out(model.vertices)
        if all(vertex.name != self.vertex for vertex in vertices):
            return [*found, _unknown(self.vertex, vertices)]
        checkpointing = getattr(model, "checkpointing", None)
        if isinstance(checkpointing, Checkpointing) and not checkpointing.coordinated:
            expected = "no such fault without a coordinator, whose checkpoints alone are rescaled"
            found.append(Problem("kind", '"rescale"', expected))
        if getattr(getattr(model, "channels", None), "preloaded_records", 0):
            expected = "no such fault beside preloaded records, which are for single subtasks"
            found.append(Problem("kind", '"rescale"', expected))
        group = forward_group(vertices, self.vertex)
        found += [
            Problem("vertex", f'"{self.vertex}", which goes with "{one.name}"', expected)
            for one in vertices
            if one.name in group
            for expected in _of_one_parallelism(one, getattr(model, "plane", Plane.RECORDS))
        ]
        for source in (v for v in vertices if v.is_source and v.name in group):
            says = f'"{self.vertex}", which goes with source "{source.name}"'
            if not source.keeps_position:
                expected = "a source that remembers what it has read"
                found.append(Problem("vertex", says, expected))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Resubmit(_Fault):
    """The user cancels the job and submits it again from its newest checkpoint or savepoint.

    Sources go on where they were, perhaps under another mode and with another parallelism.
    """

    at_ns: int = duration_ns(REQUIRED, says="instant of the cancellation", source=_PLAN)
    mode: str = choice(
        _AS_BEFORE,
        (_AS_BEFORE, *(mode.value for mode in Mode)),
        says="how its checkpoints treat what is in flight from then on",
        source=_PLAN,
    )
    vertex: str = text("", says="vertex that gets another parallelism; empty: none", source=_PLAN)
    parallelism: int = count(
        1, minimum=1, maximum=128, unit="subtasks", says="that it gets", source=_PLAN
    )

    @property
    def new_mode(self) -> Mode | None:
        """Return the mode from then on, None for the one before."""
        return None if self.mode == _AS_BEFORE else Mode(self.mode)

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = _Fault.problems_in(self, model)
        if self.vertex:
            rescale = Rescale(vertex=self.vertex, parallelism=self.parallelism, at_ns=self.at_ns)
            found += rescale.problems_in(model)
        checkpointing = getattr(model, "checkpointing", None)
        if not isinstance(checkpointing, Checkpointing):
            return found
        if not checkpointing.coordinated:
            expected = "no such fault without a coordinator, whose checkpoints alone are resumed"
            found.append(Problem("kind", '"resubmit"', expected))
        overtakes = self.new_mode in (Mode.UNALIGNED, Mode.ALIGNED_TIMEOUT)
        if overtakes and checkpointing.max_concurrent > 1:
            expected = "an aligned mode, because unaligned checkpoints do not run concurrently"
            found.append(Problem("mode", f'"{self.mode}"', expected))
        return found


def _of_one_parallelism(vertex: Vertex, plane: Plane) -> list[str]:
    """Return what a vertex that is rescaled may not have, since it holds for one parallelism."""
    lists = ("service_factors", "subtask_state_bytes", "task_managers")
    found = [f"a vertex without {name}, one for each subtask" for name in lists]
    found = [text for name, text in zip(lists, found, strict=True) if getattr(vertex, name)]
    if any(one.shares for one in vertex.inputs):
        found.append("a vertex whose keys are not dealt out by shares, one for each subtask")
    if plane is Plane.BUFFERS and vertex.selectivity != 1.0:
        found.append("a vertex of selectivity 1: how far it was in emitting is told per subtask")
    return found


JobFault = (
    CrashTask
    | CrashAtCheckpoint
    | CrashTaskManager
    | CrashJobManager
    | FailSnapshot
    | FailChannelState
    | SlowFile
    | LoseTrigger
    | DelayTrigger
    | RefuseTrigger
    | LoseAcknowledgement
    | DelayAcknowledgement
    | RepeatAcknowledgement
    | StrayDecline
    | LoseNotification
    | DelayNotification
    | StrayNotification
    | StallTask
    | SlowStorage
    | FailStorage
    | RequestCheckpoint
    | RequestSavepoint
    | Cancel
    | Rescale
    | Resubmit
)

JOB_FAULTS: Mapping[str, type] = {
    "crash_task": CrashTask,
    "crash_at_checkpoint": CrashAtCheckpoint,
    "crash_task_manager": CrashTaskManager,
    "crash_job_manager": CrashJobManager,
    "fail_snapshot": FailSnapshot,
    "fail_channel_state": FailChannelState,
    "slow_file": SlowFile,
    "lose_trigger": LoseTrigger,
    "delay_trigger": DelayTrigger,
    "refuse_trigger": RefuseTrigger,
    "lose_acknowledgement": LoseAcknowledgement,
    "delay_acknowledgement": DelayAcknowledgement,
    "repeat_acknowledgement": RepeatAcknowledgement,
    "stray_decline": StrayDecline,
    "lose_notification": LoseNotification,
    "delay_notification": DelayNotification,
    "stray_notification": StrayNotification,
    "stall_task": StallTask,
    "slow_storage": SlowStorage,
    "fail_storage": FailStorage,
    "request_checkpoint": RequestCheckpoint,
    "request_savepoint": RequestSavepoint,
    "cancel": Cancel,
    "rescale": Rescale,
    "resubmit": Resubmit,
}
