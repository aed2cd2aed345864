"""The files of channel state: what groups of subtasks write together.

Up to `checkpointing.subtasks_per_file` subtasks on a task manager share a file.  Here placement is
not modelled: all subtasks of a vertex are taken to be on one of their own, so groups follow their
order (an assumption).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.channel_state import group_of
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.scenarios.job.faults import FailChannelState, SlowFile
from ckptsim.sim.job.control.task.channel_state import ChannelStateHost
from ckptsim.sim.job.graph import Graph, TaskSpec
from ckptsim.sim.job.port import FileStored
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.records.attempt import Attempt


class ChannelStateFile:
    """The file that one group of subtasks writes per checkpoint."""

    def __init__(self, attempt: Attempt, tasks: list[TaskSpec]) -> None:
        self._attempt = attempt
        self._tasks = {spec.index: spec for spec in tasks}
        self._lost: set[int] = set()
        core, events = attempt.cores.channel_state([*self._tasks]), attempt.world.events
        self.writer: ChannelStateHost = ChannelStateHost(core, self, events, self._tasks)

    def is_lost(self, checkpoint: int) -> bool:
        """Return whether the file of a checkpoint could not be written."""
        return checkpoint in self._lost

    def store(self, checkpoint: int, size: int, stored: FileStored) -> None:
        """Write the file. It takes as long as a snapshot, and what its buffers take."""
        attempt = self._attempt
        first = next(iter(self._tasks.values()))
        costs = attempt.job.costs
        delay_ns = attempt.job.snapshot_sync_ns(first.vertex) + costs.snapshot_async_ns
        delay_ns += attempt.jitter("channel state", costs.snapshot_jitter_ns)
        slow = (
            attempt.faults.delay_ns(SlowFile, spec, checkpoint) for spec in self._tasks.values()
        )
        delay_ns += max(slow) + size * attempt.job.channel_state.write_record_ns
        entity = attempt.tasks[first.index].entity
        attempt.later(delay_ns, Kind.SNAPSHOT, entity, self._end, checkpoint, stored)

    def drop(self, checkpoint: int) -> None:
        """Do nothing: dropped files are ignored."""

    def answer(
        self,
        subtask: int,
        event: subtask_events.ChannelStateWritten | subtask_events.ChannelStateFailed,
    ) -> None:
        """Tell a subtask what became of its part. Another thread does, so order may change."""
        task = self._attempt.tasks[subtask]
        self._attempt.later(0, Kind.SNAPSHOT, task.entity, task.control.checkpoints.step, event)

    def _end(self, checkpoint: int, stored: FileStored) -> None:
        faults = self._attempt.faults
        specs = self._tasks.values()
        fails = any(faults.strikes(FailChannelState, spec, checkpoint) for spec in specs)
        fails = fails or self._attempt.file_breaks()
        if fails:
            self._lost.add(checkpoint)
            self._attempt.goal("channel_state_failed")
        stored(checkpoint, failed=fails)


def make_files(attempt: Attempt) -> list[ChannelStateFile]:
    """Return the file of each task, by index. Subtasks of a group have the same one."""
    files: list[ChannelStateFile] = []
    groups: dict[tuple[int, int], ChannelStateFile] = {}
    keys = groups_of(attempt.graph)
    for key in keys:
        if key not in groups:
            group = [one for one, own in zip(attempt.graph.tasks, keys, strict=True) if own == key]
            groups[key] = ChannelStateFile(attempt, group)
        files.append(groups[key])
    return files


def groups_of(graph: Graph) -> list[tuple[int, int]]:
    """Return what each task shares a file with."""
    limit = graph.job.checkpointing.subtasks_per_file
    return [(spec.vertex_index, group_of(spec.subtask, limit=limit)) for spec in graph.tasks]
