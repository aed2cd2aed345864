"""A checkpoint of a job: while it runs, in one task, and when it is complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ckptsim.models.coordinator.plan import FinishedState

if TYPE_CHECKING:
    from ckptsim.models.coordinator import Request
    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.models.lifecycle import SinkState
    from ckptsim.sim.job.control.planning import PlanCalculator
    from ckptsim.sim.job.port import DataPlane, TaskState


@dataclass(slots=True)
class CheckpointRecord:
    """The known facts of one checkpoint, apart from what the coordinator's core believes.

    kind: the name of its barriers' kind.  tasks: whom it waits for.  attempt: the one that runs
    when it is triggered.  parts: what tasks have acknowledged with, by task number, with the
    arrival.  operators_finished: tasks that have reported so.  status: "pending", "completed",
    "aborted" or "expired".  duration_ns: from the trigger to the last acknowledgement.
    file_sizes: of its files, in bytes.  places: vertex and subtask of each task that it waits for.
    unassigned: splits that enumerators keep, by source.
    """

    checkpoint: int
    request: Request
    kind: str
    plan: Plan
    tasks: tuple[int, ...]
    triggered_ns: int
    attempt: int
    parts: dict[int, tuple[Any, int]] = field(default_factory=dict)
    operators_finished: set[int] = field(default_factory=set)
    status: str = "pending"
    reason: str | None = None
    duration_ns: int | None = None
    ended_ns: int | None = None
    file_sizes: list[int] = field(default_factory=list)
    places: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    unassigned: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCheckpoint:
    """A completed checkpoint of a job.

    tasks: snapshot per task number. A task that had finished has none.  subtasks: the numbers of
    each vertex's tasks when it was taken.  vertices: what it records of each vertex.  finished:
    tasks that had finished when it was planned.  positions, lost_state: the true number of records
    emitted per split, also where the checkpoint holds none, and the vertices with state that left
    with finished subtasks.  unassigned: splits that enumerators keep, by source.
    """

    checkpoint_id: int
    savepoint: bool
    tasks: Mapping[int, Any]
    subtasks: Mapping[str, range]
    vertices: Mapping[str, FinishedState]
    finished: frozenset[int]
    positions: Mapping[int, int]
    lost_state: frozenset[str]
    unassigned: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def snapshots_of(self, vertex: str) -> list[Any]:
        """Return the snapshots of a vertex's subtasks, None for those that had finished."""
        return [self.tasks.get(number) for number in self.subtasks[vertex]]

    def holds_end_of(self, vertex: str, number: int) -> bool:
        """Return whether a task of a vertex had finished, by its number then."""
        return self.vertices[vertex] is FinishedState.FULL or number in self.finished

    @property
    def states(self) -> list[TaskState]:
        """Return what it holds of each task, in their order."""
        return [self.tasks[number] for number in sorted(self.tasks)]

    @property
    def sink_states(self) -> list[SinkState]:
        """Return every element of list state that sinks keep, by task."""
        return [s.transactions for s in self.states if s.transactions is not None]


def newest_of(
    found: Iterable[JobCheckpoint | None], without_channel_state: int | None
) -> JobCheckpoint | None:
    """Return the newest checkpoint.

    without_channel_state: the number of one that a restart takes without the in-flight data.
    Source: Apache Flink 1.20.3, CheckpointCoordinator.extractOperatorStates.
    """
    newest = max(found, key=lambda one: -1 if one is None else one.checkpoint_id)
    if newest is None or newest.checkpoint_id != without_channel_state:
        return newest
    tasks = {number: task.without_in_flight() for number, task in newest.tasks.items()}
    return replace(newest, tasks=tasks)


def kept_of(
    record: CheckpointRecord,
    vertices: Mapping[str, FinishedState],
    planning: PlanCalculator,
    plane: DataPlane,
) -> JobCheckpoint:
    """Return the kept parts of a completed checkpoint. Of vertices that have finished, nothing."""
    snapshots = {number: part.snapshot for number, (part, _) in record.parts.items()}
    positions = plane.positions()  # of splits that no snapshot names as of now: they have been read
    for number in (one for kept in record.unassigned.values() for one in kept):
        positions[number] = 0  # it is assigned later
    for snapshot in snapshots.values():
        positions |= snapshot.splits
    full = [name for name, state in vertices.items() if state is FinishedState.FULL]
    return JobCheckpoint(
        checkpoint_id=record.checkpoint,
        savepoint=record.request.savepoint,
        tasks={n: s for n, s in snapshots.items() if planning.vertex_of(n) not in full},
        subtasks=planning.subtasks,
        vertices=vertices,
        finished=frozenset(planning.numbers(record.plan.finished)),
        positions=positions,
        lost_state=plane.lost_state,
        unassigned=record.unassigned,
    )


@dataclass(slots=True, kw_only=True)
class PartFigures:
    """The figures of a task's part in a checkpoint. Times in ns since the start of the run.

    snapshot_ns: when the snapshot was taken, None before. acknowledged_ns: when the task
    acknowledged, None before.  start_delay_ns: from the trigger to the first barrier. alignment_ns:
    from the first to the last. sync_ns: how long the snapshot kept the thread.  processed_bytes:
    handed to the task during the alignment.  unaligned: whether its barrier could overtake.
    operators_finished: whether the operators had before the snapshot.

    Source: Apache Flink 1.20.3, SubtaskStateStats.
    """

    snapshot_ns: int | None = None
    acknowledged_ns: int | None = None
    start_delay_ns: int = 0
    alignment_ns: int = 0
    sync_ns: int = 0
    processed_bytes: int = 0
    unaligned: bool = False
    operators_finished: bool = False

    @property
    def async_ns(self) -> int:
        """Return the asynchronous duration of a part that was acknowledged, 0 of another one."""
        if self.acknowledged_ns is None or self.snapshot_ns is None:
            return 0
        return self.acknowledged_ns - self.snapshot_ns - self.sync_ns
