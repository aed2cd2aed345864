"""Faults of a job. A closed union of frozen data, each for both data planes.

Faults name vertices and subtasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import REQUIRED, choice, count, duration_ns, kinds_of, name, text
from ckptsim.scenarios.job.checkpointing import Checkpointing, Mode
from ckptsim.scenarios.job.faults.striking import (
    AtSubtask,
    FailStorage,
    Fault,
    JobModel,
    SlowStorage,
    StrikesJob,
    StrikesSubtask,
    unknown,
)
from ckptsim.scenarios.job.graph import Vertex, forward_group, spelled_out
from ckptsim.scenarios.job.graph.planes import Plane

_AS_BEFORE = "as_before"


class Symptom(StrEnum):
    """What the others see of a task manager that has failed."""

    CONNECTIONS_BREAK = "connections_break"
    UNREACHABLE = "unreachable"
    SILENT = "silent"


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCheckpoint(AtSubtask):
    """A fault of one subtask at one checkpoint."""

    checkpoint: int = count(REQUIRED, minimum=1, says="number of the checkpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class LateAtCheckpoint(AtCheckpoint):
    """Something of one subtask at one checkpoint that comes late."""

    delay_ns: int = duration_ns(REQUIRED, says="how much later")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashTask(StrikesSubtask):
    """A subtask fails at an instant. The job restarts from its latest completed checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashAtCheckpoint(AtCheckpoint):
    """A subtask fails right after it has taken its snapshot of a checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashTaskManager(StrikesSubtask):
    """The task manager that a subtask runs on fails, and all subtasks with it."""

    symptom: Symptom = choice(
        "connections_break",
        Symptom,
        says="what others see of it: its connections break, which is known as an exception is; "
        "messages to it cannot be delivered; or nothing, as if its machine hung",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashJobManager(StrikesJob):
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
class DelayPrecommit(LateAtCheckpoint):
    """The files of a sink's subtask for a checkpoint come late to the global committer."""

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = AtCheckpoint.problems_in(self, model)
        if not found and all(
            v.name != self.vertex or not v.global_committer for v in model.vertices
        ):
            found.append(Problem("vertex", f'"{self.vertex}"', "a sink with `global_committer`"))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseSplit(AtSubtask):
    """A split that an enumerator sends to a subtask gets lost, as its call's time-out shows."""

    occurrence: int = count(1, minimum=1, unit="splits", says="the how manieth that is sent to it")
    noticed_ns: int = duration_ns(
        "10 ms",
        says="after which the call fails",
        source="assumption: far below the 10 s of `pekko.ask.timeout` of Apache Flink 1.20.3",
    )

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = AtSubtask.problems_in(self, model)
        sources = [vertex.name for vertex in model.vertices if vertex.splits is not None]
        if not found and self.vertex not in sources:
            found.append(Problem("vertex", f'"{self.vertex}"', "a source with `splits`"))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StallTask(StrikesSubtask):
    """A subtask's thread does nothing for a while."""

    lasts_ns: int = duration_ns(REQUIRED, says="how long it lasts")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCheckpoint(Fault):
    """The user asks for a checkpoint. While the job does not run nothing comes of it."""

    at_ns: int = duration_ns(REQUIRED, says="instant of the request")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSavepoint(Fault):
    """The user asks for a savepoint. While the job does not run nothing comes of it."""

    at_ns: int = duration_ns(REQUIRED, says="instant of the request")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Fault):
    """The user cancels the job, which no restart follows. Completed checkpoints stay."""

    at_ns: int = duration_ns(REQUIRED, says="instant of the cancellation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescale(Fault):
    """The user changes the parallelism of a vertex. The job restarts from its latest checkpoint.

    Vertices joined by forward edges have one parallelism, so it is theirs as well.
    Source: Apache Flink 1.20.3, ForwardGroup. AdaptiveScheduler (a rescale restarts the job and
    does not count as a failure).
    """

    vertex: str = name(REQUIRED, says="vertex concerned")
    parallelism: int = count(
        REQUIRED,
        minimum=1,
        maximum=128,
        unit="subtasks",
        says="subtasks that it has from then on",
        source="assumption: at most one for each of the 128 key groups",
    )
    at_ns: int = duration_ns(REQUIRED, says="instant of the change")

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = Fault.problems_in(self, model)
        vertices = spelled_out(model.vertices)
        if all(vertex.name != self.vertex for vertex in vertices):
            return [*found, unknown(self.vertex, vertices)]
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
class Resubmit(Fault):
    """The user cancels the job and submits it again from its newest checkpoint or savepoint.

    Sources go on where they were, perhaps under another mode and with another parallelism.
    """

    at_ns: int = duration_ns(REQUIRED, says="instant of the cancellation")
    mode: str = choice(
        _AS_BEFORE,
        (_AS_BEFORE, *(mode.value for mode in Mode)),
        says="how its checkpoints treat what is in flight from then on",
    )
    vertex: str = text("", says="vertex that gets another parallelism; empty: none")
    parallelism: int = count(1, minimum=1, maximum=128, unit="subtasks", says="that it gets")

    @property
    def new_mode(self) -> Mode | None:
        """Return the mode from then on, None for the one before."""
        return None if self.mode == _AS_BEFORE else Mode(self.mode)

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = Fault.problems_in(self, model)
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
    | DelayPrecommit
    | LoseSplit
    | StallTask
    | SlowStorage
    | FailStorage
    | RequestCheckpoint
    | RequestSavepoint
    | Cancel
    | Rescale
    | Resubmit
)

JOB_FAULTS: Mapping[str, type] = kinds_of(JobFault)
