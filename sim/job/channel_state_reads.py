"""Who reads which chunks of channel-state files at a restart, in which order and pieces.

Both planes ask here.  Files are laid out as they were written: one per group of subtasks, with the
inputs and then the outputs of each. Where all is logged there is one per sender.  Anyone who puts
the data of a channel back reads its chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ckptsim.models.recovery.persistence import Files
from ckptsim.scenarios.job import ReplayFrom

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from ckptsim.scenarios.job.channel_state import ChannelState
    from ckptsim.sim.job.graph import ChannelSpec, Graph

End = Literal["input", "output", "log"]
"""What had the data: the receiver of a channel, its sender, or the log of that."""

Chunk = tuple[End, int]
"""What an end of an old channel had, and the channel's index."""


def files_of(
    graph: Graph,
    groups: Sequence[Hashable],
    holds: Callable[[End, ChannelSpec], bool],
) -> list[list[Chunk]]:
    """Return the files of a checkpoint, each with its chunks in order.

    graph: of the job when it was taken.  groups: of each task, what it shares a file with.  holds:
    whether there is data of an end of a channel.
    """
    files: dict[Hashable, list[Chunk]] = {}
    for task, group in zip(graph.tasks, groups, strict=True):
        file = files.setdefault(("state", group), [])
        outputs = [one for out in graph.outputs[task.index] for one in out.channels]
        file += _held("input", graph, graph.inputs[task.index], holds)
        file += _held("output", graph, outputs, holds)
        files["log", task.index] = _held("log", graph, outputs, holds)
    return list(files.values())


def _held(
    end: End, graph: Graph, channels: Iterable[int], holds: Callable[[End, ChannelSpec], bool]
) -> list[Chunk]:
    return [(end, one) for one in channels if holds(end, graph.channels[one])]


def reader_of(end: End, table: ChannelState, *, sender: int, receiver: int) -> int:
    """Return which of two tasks puts the data of an end back."""
    if end == "input":
        return receiver
    if end == "output":
        return receiver if table.on_one_side else sender
    return receiver if table.replay_from in _INDEXED else sender


_INDEXED = (ReplayFrom.FILE_INDEX, ReplayFrom.BUFFER_SIZES)


class ChannelStateReads:
    """The chunks that tasks want of the files of one checkpoint."""

    def __init__(self, files: Iterable[Sequence[Chunk]], table: ChannelState) -> None:
        self._table = table
        self._files = Files(files)
        self._wanted: dict[int, list[Chunk]] = {}  # by the number of the task that reads

    def put_back(self, old: int, *, sender: int, receiver: int) -> None:
        """Note by which tasks the data of an old channel is put back."""
        ends: tuple[End, ...] = ("input", "output", "log")
        for end in ends:
            reader = reader_of(end, self._table, sender=sender, receiver=receiver)
            self._wanted.setdefault(reader, []).append((end, old))

    def of_task(self, task: int) -> tuple[int, int]:
        """Return how many files a task opens, and in how many pieces it reads."""
        return self._files.reads(self._wanted.get(task, ()))

    def time_ns(self, task: int) -> int:
        """Return how long the reads of a task take to begin."""
        return self.of_task(task)[1] * self._table.read_piece_ns
