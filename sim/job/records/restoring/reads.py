"""What the tasks of an attempt read of channel-state files, counted, and the time that it takes.

Files are laid out as they were written: one per group of subtasks of a vertex, and where all is
logged one per sender.  Anyone who puts the data of a channel back reads its chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.channel_state import group_of
from ckptsim.models.recovery.persistence import Files
from ckptsim.scenarios.job import ReplayFrom

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.scenarios.job.channel_state import ChannelState
    from ckptsim.sim.job.graph import ChannelSpec, Graph
    from ckptsim.sim.job.records.state import TaskSnapshot

Chunk = tuple[str, int]
"""What an end of an old channel had, "input", "output" or "log", and the channel's index."""


class ChannelStateReads:
    """The reads of one restore. graph: of the job when the checkpoint was taken."""

    def __init__(
        self, graph: Graph, tasks: Mapping[int, TaskSnapshot], table: ChannelState
    ) -> None:
        self._table = table
        self._wanted: dict[int, list[Chunk]] = {}  # by the number of the task that reads
        groups: dict[tuple[object, ...], list[Chunk]] = {}
        for spec in graph.tasks:
            kept = tasks.get(spec.index)
            if kept is None:
                continue
            group = group_of(spec.subtask, limit=graph.job.checkpointing.subtasks_per_file)
            file = groups.setdefault(("state", spec.vertex_index, group), [])
            file += [("input", one) for one in graph.inputs[spec.index] if one in kept.input_state]
            outputs = [one for out in graph.outputs[spec.index] for one in out.channels]
            file += [("output", one) for one in outputs if one in kept.output_state]
            groups["log", spec.index] = [("log", one) for one in outputs if one in kept.logs]
        self._files = Files(groups.values())

    def put_back(self, old: ChannelSpec, *, sender: int, receiver: int) -> None:
        """Note by which tasks the data of an old channel is put back."""
        for_output = receiver if self._table.on_one_side else sender
        indexed = (ReplayFrom.FILE_INDEX, ReplayFrom.BUFFER_SIZES)
        for_log = receiver if self._table.replay_from in indexed else sender
        self._wanted.setdefault(receiver, []).append(("input", old.index))
        self._wanted.setdefault(for_output, []).append(("output", old.index))
        self._wanted.setdefault(for_log, []).append(("log", old.index))

    def of_task(self, task: int) -> tuple[int, int]:
        """Return how many files a task opens, and in how many pieces it reads."""
        return self._files.reads(self._wanted.get(task, ()))

    def time_ns(self, task: int) -> int:
        """Return how long the reads of a task take to begin."""
        return self.of_task(task)[1] * self._table.read_piece_ns
