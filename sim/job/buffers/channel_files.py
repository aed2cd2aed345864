"""Files of channel state: subtasks of one vertex on one task manager share them in small groups.

The writer's core says when a file is whole, who fails with whom and what is dropped.  Here groups
are formed, files go to the storage, and a file that would be small travels in the acknowledgement.

Source: Apache Flink 1.20.3, ChannelStateWriteRequestExecutorFactory (groups) and
FsCheckpointStateOutputStream (inline threshold).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import subtask_events as sub
from ckptsim.models.barriers import writer_events as do
from ckptsim.models.barriers.writer import group_of
from ckptsim.scenarios.dataflow_faults import SlowFile
from ckptsim.scenarios.job_faults import FailChannelState

if TYPE_CHECKING:
    from ckptsim.models.barriers.writer import SharedStateWriter
    from ckptsim.sim.job.buffers.storage import Upload
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld


class ChannelFile:
    """The file that one group of subtasks writes per checkpoint."""

    def __init__(self, world: DataflowWorld, tasks: list[Task]) -> None:
        self._world = world
        self._tasks = {task.subtask: task for task in tasks}
        self._core: SharedStateWriter = world.protocol.writer(sorted(self._tasks))
        self._uploads: dict[int, Upload] = {}

    def step(self, event: do.WriterEvent) -> None:
        """Give the writer an event and carry out what it wants."""
        if isinstance(event, do.WriteStarted):
            self._world.account.write_started(self._tasks[event.subtask], event.checkpoint)
        for effect in self._core.step(event):
            match effect:
                case do.OpenStream() | do.WriteBytes():
                    pass  # bytes travel when all of them are known
                case do.StoreStream(checkpoint, size):
                    self._store(checkpoint, size)
                case do.DropStream(checkpoint):
                    upload = self._uploads.pop(checkpoint, None)
                    if upload is not None:
                        upload.cancel()
                case do.PartWritten(subtask, checkpoint, size):
                    self._answer(subtask, sub.ChannelStateWritten(checkpoint, size))
                case do.PartFailed(subtask, checkpoint, reason):
                    self._answer(subtask, sub.ChannelStateFailed(checkpoint, reason))
                case _:
                    assert_never(effect)
        if isinstance(event, do.WriteStarted):
            self._world.account.write_settled(self._tasks[event.subtask])

    def _answer(
        self, subtask: int, event: sub.ChannelStateWritten | sub.ChannelStateFailed
    ) -> None:
        task = self._tasks[subtask]
        self._world.account.write_answered(task, event.checkpoint)
        task.snapshots.step(event)

    def _store(self, checkpoint: int, size: int) -> None:
        world, faults, tasks = self._world, self._world.faults, self._tasks.values()
        fails = any(faults.strikes(FailChannelState, task, checkpoint) for task in tasks)
        if world.storage.is_inline(size):
            self._stored(checkpoint, failed=fails)
            return
        world.coordination.note_file(checkpoint, size)
        storage = world.storage
        self._uploads[checkpoint] = storage.save(
            size,
            storage.channel_state,
            self._stored,
            checkpoint,
            late_ns=max(faults.delay_ns(SlowFile, task, checkpoint) for task in tasks),
            fails=fails,
        )

    def _stored(self, checkpoint: int, *, failed: bool) -> None:
        self._uploads.pop(checkpoint, None)
        if failed:
            self._world.env.goals.reach("channel_state_failed")
        self.step(do.StreamFailed(checkpoint) if failed else do.StreamStored(checkpoint))


def make_files(world: DataflowWorld) -> list[ChannelFile]:
    """Return the file of each task, by number; subtasks of a group have the same one.

    Tasks of a vertex on one task manager come in the order of their subtasks.
    """
    places: dict[tuple[str, int], int] = {}
    groups: dict[tuple[str, int, int], list[Task]] = {}
    keys = []
    for task in world.tasks:
        base = (task.name, world.placement.task_manager(task))
        place = places.get(base, 0)
        places[base] = place + 1
        keys.append((*base, group_of(place)))
        groups.setdefault(keys[-1], []).append(task)
    files = {key: ChannelFile(world, tasks) for key, tasks in groups.items()}
    return [files[key] for key in keys]
