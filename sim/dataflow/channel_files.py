"""Files of channel state: subtasks of one vertex on one task manager share them in small groups.

A file is written when every subtask of its group knows what it has to say; a file that would be
small travels in the acknowledgement instead.

Source: Apache Flink 1.20.3, ChannelStateWriteRequestExecutorFactory (at most five subtasks per
file) and FsCheckpointStateOutputStream (inline threshold).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.dataflow.task import Task
    from sim.dataflow.world import DataflowWorld

SUBTASKS_PER_FILE = 5
"""Source: Apache Flink 1.20.3, execution.checkpointing.unaligned.max-subtasks-per-channel-state-
file."""

Group = tuple[str, int, int]


class ChannelFiles:
    """The channel-state files of one job."""

    def __init__(self, world: DataflowWorld) -> None:
        self._world = world
        self._members: dict[Group, int] = {}
        self._groups: dict[int, Group] = {}
        self._given: dict[tuple[Group, int], dict[int, tuple[int, Callable[[], object]]]] = {}

    def register(self, task: Task) -> None:
        """Assign a task to a group; tasks of a vertex come in the order of their subtasks."""
        base = (task.name, self._world.placement.task_manager(task))
        place = sum(count for group, count in self._members.items() if group[:2] == base)
        group = (*base, place // SUBTASKS_PER_FILE)
        self._members[group] = self._members.get(group, 0) + 1
        self._groups[task.number] = group

    def give(self, task: Task, checkpoint: int, size: int, done: Callable[[], object]) -> None:
        """Hand a task's channel state in; `done` is called when its file is whole."""
        group = self._groups[task.number]
        given = self._given.setdefault((group, checkpoint), {})
        given[task.number] = (size, done)
        ended = sum(1 for other in self._world.tasks if self._is_away(other, group, given))
        if len(given) + ended < self._members[group]:
            return
        del self._given[(group, checkpoint)]
        total = sum(size for size, _ in given.values())
        calls = [done for _, done in given.values()]
        if total <= self._world.model.storage.inline_threshold_bytes:
            _call_all(calls)
            return
        self._world.coordination.note_file(checkpoint, total)
        storage = self._world.storage
        storage.save(total, storage.channel_state, _call_all, calls)

    def _is_away(
        self,
        task: Task,
        group: Group,
        given: dict[int, object] | dict[int, tuple[int, Callable[[], object]]],
    ) -> bool:
        return (
            self._groups[task.number] == group
            and task.number not in given
            and task.finished_ns is not None
        )


def _call_all(calls: list[Callable[[], object]]) -> None:
    for call in calls:
        call()
