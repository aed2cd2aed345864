"""What the subtasks of a source read: splits, and who reads which of them.

A split is the part of the input that one subtask has when the job begins, and stays that when the
source is rescaled: identities of records, and the clock of a source with a rate, are the ones of
the split.  A subtask with several reads each as it falls due. One without any has ended if the
source is bounded, and waits if it is not.  This is so on both data planes.

The splits of a reader are list state. So at another parallelism the unread ones are dealt out in
order, in even blocks.  What had been read to its end is in no one's state. It counts at a subtask
here, so that no record is forgotten.  A job that begins without a checkpoint has its splits from
the enumerator, in turn.

Source: Apache Flink 1.20.3, SourceOperator.open (the reader adds the splits of its list state),
RoundRobinOperatorStateRepartitioner, KafkaSourceEnumerator.getSplitOwner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.models.recovery import split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import Graph
    from ckptsim.sim.job.port import TaskState


@dataclass(slots=True)
class Split:
    """A split as its reader has it.

    number: as identities of records have it. index: among the splits of its source.  position:
    records read.  most: how many it has, None for any number.  over: it had been read to its end
    before a restore.  gap_ns: between two records, None for any time. due_ns: when the next one may
    be read. Its reader sets both.
    """

    number: int
    index: int
    position: int
    most: int | None
    over: bool = False
    gap_ns: int | None = None
    due_ns: int = 0

    @property
    def is_read(self) -> bool:
        """Return whether nothing of it is left."""
        return self.over or (self.most is not None and self.position >= self.most)

    @property
    def limit(self) -> int | None:
        """Return at which position nothing of it is left, None if there is no such."""
        return self.position if self.is_read else self.most


def held(splits: Sequence[Split], counts: Mapping[int, int]) -> dict[int, int]:
    """Return the counts of those splits that are in their reader's state, by number.

    What had been read to its end before a restore is in no one's, and stays so.
    """
    return {one.number: counts[one.number] for one in splits if not one.over}


def left(
    splits: Sequence[Split], counts: Mapping[int, int], *, ends_ns: int | None, now_ns: int
) -> list[int]:
    """Return the splits with records left, by number. Of one without an end none ever is.

    counts: how many records of each are read.  ends_ns: the instant that ends them all, if any.
    """
    if ends_ns is not None and ends_ns <= now_ns:
        return []
    bounded = [(one.number, one.most) for one in splits if one.most is not None and not one.over]
    return [number for number, most in bounded if counts[number] < most]


class Splits:
    """The splits of all sources of one attempt.

    graph: of the attempt.  owners: the subtask that has each split, by the number of the split.
    """

    def __init__(self, graph: Graph, restored: JobCheckpoint | None) -> None:
        self.owners: dict[int, int] = {}
        self._graph = graph
        self._of: dict[str, list[list[Split]]] = {}
        for vertex in graph.vertices:
            if vertex.is_source:
                dealt = self._dealt(vertex, restored)
                self._of[vertex.name] = dealt
                self.owners |= {
                    one.number: subtask for subtask, own in enumerate(dealt) for one in own
                }

    def of(self, vertex: str, subtask: int) -> list[Split]:
        """Return the splits of a subtask of a source."""
        return self._of[vertex][subtask]

    def _dealt(self, vertex: Vertex, restored: JobCheckpoint | None) -> list[list[Split]]:
        count, numbers = vertex.parallelism, self._graph.splits[vertex.name]
        if restored is None:
            return [
                [self._made(vertex, n) for n in numbers[first::count]] for first in range(count)
            ]
        dealt = [self._held(vertex, one) for one in restored.snapshots_of(vertex.name)]
        if len(dealt) != count:
            unread = [[one for one in own if not one.is_read] for own in dealt]
            dealt = [list(own) for own in split(unread, count)]
        named = {one.number for own in dealt for one in own}
        for place, number in enumerate(numbers):
            if number not in named:
                dealt[place % count].append(self._left(vertex, restored, place))
        return dealt

    def _held(self, vertex: Vertex, part: TaskState | None) -> list[Split]:
        """Return the splits in the state of an old subtask, none of one that had finished."""
        if part is None:
            return []
        over = part.exhausted
        return [self._made(vertex, n, at, over=over) for n, at in part.splits.items()]

    def _left(self, vertex: Vertex, restored: JobCheckpoint, place: int) -> Split:
        """Return a split that is in no one's state, by its place among the ones of its source.

        It was read to its end, unless no state of the source is in the checkpoint at all.  A source
        without state reads it again.
        """
        number, old = self._graph.splits[vertex.name][place], restored.subtasks[vertex.name]
        full = restored.vertices[vertex.name] is FinishedState.FULL
        ended = old[place % len(old)] in restored.finished
        known = number in restored.positions or ended
        if not full and (not known or (ended and not vertex.keeps_position)):
            return self._made(vertex, number)
        return self._made(vertex, number, restored.positions.get(number, 0), over=True)

    def _made(self, vertex: Vertex, number: int, position: int = 0, *, over: bool = False) -> Split:
        index = number - self._graph.splits[vertex.name].start
        most = self._graph.begun_as(vertex.name).records_of(index)
        if most is not None:
            most += self._graph.preloaded_records
        return Split(number, index, position, most, over)
