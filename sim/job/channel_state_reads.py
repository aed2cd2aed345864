"""Who reads which chunks of channel-state files at a restart, in which order and pieces.

Both planes ask here.  Files are laid out as they were written: one per group of subtasks, with the
inputs and then the outputs of each. Where all is logged there are the objects of each sender's log.
Anyone who puts the data of a channel back reads its chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from ckptsim.models.recovery.persistence import Files
from ckptsim.scenarios.job import ReplayFrom

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ckptsim.scenarios.job.channel_state import ChannelState
    from ckptsim.sim.job.graph import ChannelSpec, Graph

End = Literal["input", "output", "log"]
"""What had the data: the receiver of a channel, its sender, or the log of that."""

ENDS: tuple[End, ...] = ("input", "output", "log")

Chunk = tuple[End, int, int]
"""What an end of an old channel had, the channel's index, and the object of a log, else 0."""

Holds = Callable[[End, "ChannelSpec"], Iterable[int]]
"""In which objects there is data of an end of a channel: in 0 where it is no log."""


def files_of(graph: Graph, groups: Sequence[Hashable], holds: Holds) -> list[list[Chunk]]:
    """Return the files of a checkpoint, each with its chunks in order.

    graph: of the job when it was taken.  groups: of each task, what it shares a file with.
    """
    files: dict[Hashable, list[Chunk]] = {}
    for task, group in zip(graph.tasks, groups, strict=True):
        file = files.setdefault(("state", group), [])
        outputs = [one for out in graph.outputs[task.index] for one in out.channels]
        for end in ENDS:
            for index in graph.inputs[task.index] if end == "input" else outputs:
                for part in holds(end, graph.channels[index]):
                    log = files.setdefault(("log", task.index, part), []) if end == "log" else file
                    log.append((end, index, part))
    return list(files.values())


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
        for end in ENDS:
            reader = reader_of(end, self._table, sender=sender, receiver=receiver)
            self._wanted.setdefault(reader, []).append((end, old, 0))

    def of_task(self, task: int) -> tuple[int, int]:
        """Return how many files a task opens, and in how many pieces it reads."""
        return self._files.reads(self._wanted.get(task, ()))

    def time_ns(self, task: int) -> int:
        """Return how long the reads of a task take to begin."""
        return self.of_task(task)[1] * self._table.read_piece_ns
