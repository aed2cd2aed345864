"""The files of in-flight data: what groups of subtasks write together, and what became of it.

Up to five subtasks of a vertex share a file; here all subtasks of a vertex run in one process, so
groups follow their order (an assumption: a job's placement is not modelled).  The world keeps an
account of its own: which subtasks wait for an answer, and why a file may fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import subtask_events as sub
from ckptsim.models.barriers import writer_events as do
from ckptsim.models.barriers.writer import group_of
from ckptsim.sim.job.records.graph import TaskSpec
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.records.attempt import Attempt


class StateFile:
    """The file that one group of subtasks writes per checkpoint."""

    def __init__(self, attempt: Attempt, tasks: list[TaskSpec]) -> None:
        self._attempt = attempt
        self._tasks = {spec.subtask: spec for spec in tasks}
        self._core = attempt.cores.writer([spec.subtask for spec in tasks])
        self._unanswered: dict[tuple[int, int], None] = {}  # (subtask, checkpoint)
        self._newest = -1  # begun or aborted
        self._aborted: set[int] = set()
        self._broken: set[int] = set()

    def step(self, event: do.WriterEvent) -> None:
        """Hand an event to the writer and carry out what it wants."""
        if isinstance(event, do.WriteStarted):
            self._unanswered[event.subtask, event.checkpoint] = None
            self._newest = max(self._newest, event.checkpoint)
        elif isinstance(event, do.WriteAborted):
            self._aborted.add(event.checkpoint)
            self._newest = max(self._newest, event.checkpoint)
        for effect in self._core.step(event):
            match effect:
                case do.OpenStream() | do.WriteBytes() | do.DropStream():
                    pass  # what is dropped is not looked at any more
                case do.StoreStream(checkpoint):
                    self._store(checkpoint)
                case do.PartWritten(subtask, checkpoint, count):
                    self._answer(subtask, sub.ChannelStateWritten(checkpoint, count))
                case do.PartFailed(subtask, checkpoint, reason):
                    self._check_failure(subtask, checkpoint)
                    self._answer(subtask, sub.ChannelStateFailed(checkpoint, reason))
                case _:
                    assert_never(effect)

    def is_lost(self, checkpoint: int) -> bool:
        """Say whether the file of a checkpoint could not be written."""
        return checkpoint in self._broken

    def unanswered(self) -> list[tuple[str, int]]:
        """Return the subtasks and checkpoints that began to write and were never answered."""
        return [(self._tasks[subtask].name, number) for subtask, number in self._unanswered]

    def _store(self, checkpoint: int) -> None:
        attempt = self._attempt
        first = next(iter(self._tasks.values()))
        costs = attempt.job.costs
        delay_ns = costs.snapshot_sync_ns + costs.snapshot_async_ns
        delay_ns += attempt.jitter("channel state", costs.snapshot_jitter_ns)
        entity = attempt.tasks[first.index].entity
        attempt.later(delay_ns, Kind.SNAPSHOT, entity, self._stored, checkpoint)

    def _stored(self, checkpoint: int) -> None:
        faults = self._attempt.faults
        if any(faults.channel_state_fails(spec, checkpoint) for spec in self._tasks.values()):
            self._broken.add(checkpoint)
            self._attempt.goal("channel_state_failed")
            self.step(do.StreamFailed(checkpoint))
        else:
            self.step(do.StreamStored(checkpoint))

    def _answer(
        self, subtask: int, event: sub.ChannelStateWritten | sub.ChannelStateFailed
    ) -> None:
        """Tell a subtask what became of its part; another thread does, so order may change."""
        attempt, name = self._attempt, "writes_are_answered_once"
        spec = self._tasks[subtask]
        if (subtask, event.checkpoint) in self._unanswered:
            del self._unanswered[subtask, event.checkpoint]
        else:
            attempt.violate(name, f"{spec.name} is answered twice for {event.checkpoint}")
        task = attempt.tasks[spec.index]
        attempt.later(0, Kind.SNAPSHOT, task.entity, task.checkpoints.side.step, event)

    def _check_failure(self, subtask: int, checkpoint: int) -> None:
        """Check that a part fails only with its file, or for a checkpoint given up or outdated."""
        cause = checkpoint in self._aborted or checkpoint in self._broken
        if not cause and checkpoint >= self._newest:
            says = f"the file of {self._tasks[subtask].name} for {checkpoint} is given up"
            self._attempt.violate("files_fail_for_a_cause", f"{says}, and nothing has happened")


def make_files(attempt: Attempt) -> list[StateFile]:
    """Return the file of each task, by index; subtasks of a group have the same one."""
    files: list[StateFile] = []
    groups: dict[tuple[int, int], StateFile] = {}
    for spec in attempt.graph.tasks:
        key = (spec.vertex_index, group_of(spec.subtask))
        if key not in groups:
            group = [
                other
                for other in attempt.graph.tasks
                if (other.vertex_index, group_of(other.subtask)) == key
            ]
            groups[key] = StateFile(attempt, group)
        files.append(groups[key])
    return files
