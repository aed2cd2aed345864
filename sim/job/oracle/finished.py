"""What checkpoints say of finished tasks and operators: a flag that is set is true, and stays set.

A job goes back only where it restarts, and then to what the restored checkpoint says.  Of a vertex
that had finished in part all subtasks run again, so single tasks are followed within an attempt.

Whom a checkpoint takes for finished had finished when it was planned, so no task that has a part in
it: a task that finishes after its part has something to do once more when the part is restored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.scenarios.dialect import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import Violate

_TRUE = "finished_flags_are_true"
_PLAN = "plan_reaches_every_running_task"
Place = tuple[str, int]


class FinishedFlags:
    """What complete checkpoints of one job have recorded as finished, since its latest restart."""

    def __init__(self, violate: Violate) -> None:
        self._violate = violate
        self._recorded: dict[int, tuple[frozenset[int], frozenset[str]]] = {}  # by checkpoint
        self._skipped: frozenset[str] = frozenset()  # vertices that were deployed as finished
        self._ended: frozenset[str] = frozenset()  # those with a part that had read all before

    def restored(self, checkpoint: JobCheckpoint | None) -> None:
        """Begin anew from what a restored checkpoint has. None for the beginning of the job."""
        self._recorded.clear()
        self._skipped = self._ended = frozenset()
        if checkpoint is not None:
            self._ended = _ended(checkpoint)
            full = self._skipped = _full(checkpoint)
            self._recorded[checkpoint.checkpoint_id] = frozenset(), full

    def completed(
        self,
        checkpoint: JobCheckpoint,
        parts: Collection[int],
        vertices: Iterable[Vertex],
        *,
        holds: Collection[str],
    ) -> None:
        """Check a complete checkpoint against those before and after it, by their numbers.

        A savepoint may complete late, so everything that is after it may be known already.
        parts: the tasks that have one in it.  holds: the vertices with state in it.
        """
        self._check_vertices(checkpoint, vertices, holds)
        self._check_true(checkpoint, parts)
        number = checkpoint.checkpoint_id
        flags = checkpoint.finished, _full(checkpoint)
        before = max((one for one in self._recorded if one < number), default=None)
        behind = min((one for one in self._recorded if one > number), default=None)
        self._recorded[number] = flags
        if before is not None:
            self._compare(before, number)
        if behind is not None:
            self._compare(number, behind)

    def _check_vertices(
        self, checkpoint: JobCheckpoint, vertices: Iterable[Vertex], holds: Collection[str]
    ) -> None:
        number = checkpoint.checkpoint_id
        for vertex in vertices:
            recorded = checkpoint.vertices[vertex.name]
            if vertex.union_state and recorded is FinishedState.PARTIAL:
                says = f"checkpoint {number} has {vertex.name} partly finished"
                self._violate("union_state_ends_together", says, number)
            if recorded is FinishedState.FULL and vertex.name in holds:
                says = f"checkpoint {number} holds state of {vertex.name}, which has finished"
                self._violate("finished_task_leaves_no_records", says, number)

    def check_exhausted(self, task: TaskOracle, checkpoint: int, *, said: bool) -> None:
        """Check that no source that a stop has cut off is taken for one that has read all it has.

        Anyone who resumes from a checkpoint that it is in reads on.  said: whether its part says
        so. One that says so since it was restored was at its end before the stop came.
        """
        if said and task.lifecycle.cut_off and task.task.place[0] not in self._ended:
            says = f"has {task.name} as read to its end, which a stop has cut"
            self._violate(_TRUE, f"checkpoint {checkpoint} {says}", checkpoint)

    def _check_true(self, checkpoint: JobCheckpoint, parts: Collection[int]) -> None:
        number = checkpoint.checkpoint_id
        for vertex, tasks in checkpoint.subtasks.items():
            finished = [task for task in tasks if task not in parts]
            true = FinishedState.PARTIAL if finished else FinishedState.RUNNING
            if vertex in self._skipped or len(finished) == len(tasks):
                true = FinishedState.FULL
            recorded = checkpoint.vertices[vertex]
            if recorded is not true or set(finished) != checkpoint.finished & set(tasks):
                says = f"checkpoint {number} has {vertex} as {recorded.value}, tasks "
                says += f"{listed(sorted(checkpoint.finished & set(tasks)))} of it finished; it is "
                self._violate(
                    _TRUE, f"{says}{true.value}, {listed(finished)} have no part in it", number
                )

    def _compare(self, older: int, newer: int) -> None:
        (tasks, vertices), (later_tasks, later_vertices) = (
            self._recorded[older],
            self._recorded[newer],
        )
        says = f"is finished in checkpoint {older} and not in {newer}"
        for task in sorted(tasks - later_tasks):
            self._violate(_TRUE, f"task {task} {says}", newer)
        for vertex in sorted(vertices - later_vertices):
            self._violate(_TRUE, f"{vertex} {says}", newer)


def _full(checkpoint: JobCheckpoint) -> frozenset[str]:
    states = checkpoint.vertices.items()
    return frozenset(name for name, state in states if state is FinishedState.FULL)


def _ended(checkpoint: JobCheckpoint) -> frozenset[str]:
    return frozenset(
        name
        for name in checkpoint.subtasks
        if any(part is not None and part.exhausted for part in checkpoint.snapshots_of(name))
    )


def check_plan(plan: Plan, tasks: Mapping[Place, TaskOracle], violate: Violate) -> None:
    """Check that a plan triggers only what it awaits, and reaches every running task."""
    running = set(plan.wait_for)
    if not running:
        violate(_PLAN, "a checkpoint waits for no task")
    if not set(plan.trigger) <= running:
        violate(_PLAN, "a triggered task is not awaited")
    for place in plan.finished:
        if place in running:
            violate(_PLAN, "a finished task is awaited")
        if tasks[place].lifecycle.closed_ns is None:
            violate(_PLAN, f"{place}, which has not closed, is taken for finished")
    missing = sorted(running - _reached(plan, tasks))
    if missing:
        violate(_PLAN, f"no trigger and no barrier reaches {listed(missing)}")


def _reached(plan: Plan, tasks: Mapping[Place, TaskOracle]) -> set[Place]:
    """Return the running tasks that a trigger or a barrier of running tasks comes to."""
    running = set(plan.wait_for)
    reached = dict.fromkeys(plan.trigger)
    frontier = list(plan.trigger)
    while frontier:
        for output in tasks[frontier.pop()].outputs:
            below = output.receiver.task.place
            if below in running and below not in reached:
                reached[below] = None
                frontier.append(below)
    return set(reached)


def had_ended(restored: JobCheckpoint, task: TaskOracle) -> bool:
    """Return whether subtasks of a vertex had finished or ended their data in a checkpoint."""
    name = task.task.place[0]
    if restored.vertices.get(name) is not FinishedState.RUNNING:
        return True
    parts = restored.snapshots_of(name)
    return any(getattr(part, "exhausted", False) for part in parts)
