"""Files of channel state: subtasks on one task manager share them, whichever their vertices are.

Here groups are formed, files go to the storage, and a file that would be small travels in the
acknowledgement.

Source: Apache Flink 1.20.3, ChannelStateWriteRequestExecutorFactory and -ExecutorImpl.register-
Subtask (groups), FsCheckpointStateOutputStream (inline threshold).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.models.barriers.channel_state import group_of
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.scenarios.job import Persistence
from ckptsim.scenarios.job.faults import FailChannelState, SlowFile
from ckptsim.sim.job.control.task.channel_state import ChannelStateHost
from ckptsim.sim.job.port import FileStored

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.state.storage import Moves
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.graph import Graph


class ChannelStateFile:
    """The file that one group of subtasks writes per checkpoint."""

    def __init__(self, world: DataflowWorld, tasks: list[Task]) -> None:
        self._world = world
        self._tasks = {task.number: task for task in tasks}
        self._host = tasks[0].spec.task_manager
        persistence = world.model.channel_state.persistence
        self._appends = persistence is Persistence.LOG_SERVICE
        self._uploads: dict[int, Moves] = {}
        # What waits for a subtask's part of a checkpoint to be whole, and the latest that was.
        self._behind: dict[tuple[int, int], Callable[[], object]] = {}
        self._answered: dict[int, int] = {}
        core = world.protocol.channel_state(sorted(self._tasks))
        self.writer: ChannelStateHost = ChannelStateHost(core, self, world.events, self._tasks)

    @property
    def is_shared(self) -> bool:
        """Return whether several subtasks write into it."""
        return len(self._tasks) > 1

    def store(self, checkpoint: int, size: int, stored: FileStored) -> None:
        """Write the file. What would be small travels in the acknowledgement."""
        world, faults, tasks = self._world, self._world.faults, self._tasks.values()
        fails = any(faults.strikes(FailChannelState, task, checkpoint) for task in tasks)
        if world.storage.is_inline(size) and not self._appends:
            self._end(checkpoint, stored, failed=fails)
            return
        world.coordinator.note_file(checkpoint, size)
        storage = world.storage
        self._uploads[checkpoint] = storage.save(
            (size,),
            storage.channel_state,
            self._end,
            checkpoint,
            stored,
            host=self._host,
            late_ns=max(faults.delay_ns(SlowFile, task, checkpoint) for task in tasks),
            fails=fails,
            checkpoint=checkpoint,
            appends=self._appends,
        )

    def drop(self, checkpoint: int) -> None:
        """Stop writing a file."""
        upload = self._uploads.pop(checkpoint, None)
        if upload is not None:
            upload.cancel()

    def answer(
        self,
        subtask: int,
        event: subtask_events.ChannelStateWritten | subtask_events.ChannelStateFailed,
    ) -> None:
        """Tell a subtask what became of its part, and go on with what waits for that."""
        if subtask not in self._tasks:
            return
        self._answered[subtask] = event.checkpoint
        # A part that has failed ends the subtask's checkpoint, and with it what waits.
        self._tasks[subtask].control.checkpoints.step(event)
        then = self._behind.pop((subtask, event.checkpoint), None)
        if then is not None:
            then()

    def when_written(self, subtask: int, checkpoint: int, then: Callable[[], object]) -> None:
        """Call `then` as soon as a subtask's part of a checkpoint is whole: now, if it is."""
        if self._answered.get(subtask, -1) >= checkpoint:
            then()
        else:
            self._behind[subtask, checkpoint] = then

    def forget(self, subtask: int, checkpoint: int) -> None:
        """Call no one for a checkpoint that is aborted."""
        self._behind.pop((subtask, checkpoint), None)

    def forget_all(self, subtask: int) -> None:
        """Call no one for a subtask that has failed, and do not answer it either."""
        self._tasks.pop(subtask, None)
        self._behind = {key: then for key, then in self._behind.items() if key[0] != subtask}

    def _end(self, checkpoint: int, stored: FileStored, *, failed: bool) -> None:
        self._uploads.pop(checkpoint, None)
        if failed:
            self._world.env.goals.reach("channel_state_failed")
        stored(checkpoint, failed=failed)


def make_files(world: DataflowWorld) -> list[ChannelStateFile]:
    """Return the file of each task, by number. Subtasks of a group have the same one."""
    groups: dict[tuple[int, int], list[Task]] = {}
    keys = groups_of(world.graph)
    for task, key in zip(world.tasks, keys, strict=True):
        groups.setdefault(key, []).append(task)
    files = {key: ChannelStateFile(world, tasks) for key, tasks in groups.items()}
    return [files[key] for key in keys]


def groups_of(graph: Graph) -> list[tuple[int, int]]:
    """Return what each task of a job shares a file with.

    A task enters the group that is open on its task manager when it is made, and a group is closed
    when it is full.  Tasks are made in the order in which they are deployed: vertex by vertex, from
    the sources on (an assumption: their threads start at about the same time).  A log is of one
    task.
    """
    places: Counter[int] = Counter()
    keys = []
    limit = graph.job.checkpointing.subtasks_per_file
    if graph.job.channel_state.is_log:
        limit = 1
    for task in graph.tasks:
        manager = task.task_manager
        keys.append((manager, group_of(places[manager], limit=limit)))
        places[manager] += 1
    return keys
