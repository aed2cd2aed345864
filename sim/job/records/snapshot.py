"""What a checkpoint holds: of one task, and of the whole job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.models.lifecycle import SinkState

Record = int  # identity of a record; WATERMARK is the final watermark, which travels as data
Element = tuple[int, Record]  # (number in its channel, record)
WATERMARK: Record = -1
SOURCE_SPAN = 1_000_000  # identities per source subtask; also the most records that it may emit


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSnapshot:
    """The state of one task in one checkpoint.

    position: records that a source has emitted; exhausted: there are no more.  state: records whose
    effect the task's state has, in the order of processing.  transactions: a sink's element of list
    state.
    input_state, output_state: records in flight, by channel.  consumed, emitted: the world's own
    account of the last number taken from and put into each channel before the snapshot.
    """

    position: int
    exhausted: bool = False
    state: tuple[Record, ...]
    transactions: SinkState | None
    input_state: Mapping[int, tuple[Element, ...]]
    output_state: Mapping[int, tuple[Element, ...]]
    consumed: Mapping[int, int]
    emitted: Mapping[int, int]

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the names of the transactions that recovery commits, oldest first."""
        return () if self.transactions is None else self.transactions.pending


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCheckpoint:
    """A completed checkpoint of a job.

    tasks: snapshot per task index; a task that had finished has none.  vertices: what it records of
    each vertex.  finished: tasks that had finished when it was planned.  positions, lost_state: the
    world's own account of how many records each source task had emitted, also where it holds
    nothing of it any more, and of the vertices whose state went in part with finished subtasks.
    """

    checkpoint_id: int
    savepoint: bool
    tasks: Mapping[int, TaskSnapshot]
    vertices: Mapping[str, FinishedState]
    finished: frozenset[int]
    positions: Mapping[int, int]
    lost_state: frozenset[str]

    @property
    def sink_states(self) -> list[SinkState]:
        """Return every element of list state that sinks keep, by task."""
        kept = [self.tasks[index].transactions for index in sorted(self.tasks)]
        return [state for state in kept if state is not None]

    @property
    def in_flight(self) -> int:
        """Return how many records in flight it holds."""
        return sum(
            len(elements)
            for task in self.tasks.values()
            for part in (task.input_state, task.output_state)
            for elements in part.values()
        )
