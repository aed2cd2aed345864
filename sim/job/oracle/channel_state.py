"""What must hold of channel state, and of finished tasks and operators in checkpoints.

Of files:

* Every beginning is answered exactly once, at the latest when the subtask begins a newer one.
* A part fails only with its file, or because its checkpoint was aborted or a newer one has begun.
* With a file that could not be written all parts of it fail, before anything else is written.

A job goes back only where it restarts, and then to what the restored checkpoint says.  Of a vertex
that had finished in part all subtasks run again, so single tasks are followed within an attempt.

Whom a checkpoint takes for finished had finished when it was planned, so no task that has a part in
it: a task that finishes after its part has something to do once more when the part is restored.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from ckptsim.models.barriers.channels.network import PersisterStatus
from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.scenarios.dialect import listed
from ckptsim.sim.job.events import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.events import of_job, of_tasks
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import Violate


_IN_TURN = "input_starts_and_stops_in_turn"
_ANSWERED = "channel_state_writes_are_answered"


class ChannelStateOracle(Listener):
    """What one task has persisted of its channels, and when."""

    def __init__(self, task: TaskOracle) -> None:
        self._task = task
        self._begun = -1  # newest checkpoint for which the channel state was begun
        self._started: dict[int, int] = {}  # gate -> checkpoint with persisted input
        self._left: set[int] = set()  # gates that a failed start has left persisting
        self._stopped: dict[int, int] = {}  # the same, since the last look

    def channel_state_begun(self, event: of_tasks.ChannelStateBegun) -> None:
        """Note that the channel state of a checkpoint is begun."""
        self._begun = max(self._begun, event.barrier.checkpoint)

    def gate_starting(self, event: of_tasks.GateStarting) -> None:
        """Check that a gate starts to persist a begun, not yet taken checkpoint, and only one."""
        gate, number = event.gate, event.checkpoint
        if gate in self._started:
            self._says(f"starts gate {gate} for {number} after {self._started[gate]}")
        was_triggered = self._task.has_triggered(number)
        if self._begun < number or was_triggered:
            when = "after its trigger" if was_triggered else "before it is begun"
            self._says(f"starts gate {gate} for {number} {when}")
        self._started[gate] = number
        self._left.discard(gate)

    def gate_started(self, event: of_tasks.GateStarted) -> None:
        """Check that the part can tell what it is to hold of the gate's channels."""
        gate, number, task = event.gate, event.checkpoint, self._task
        if event.refused:
            self._left |= {one for one in range(gate + 1) if self._started.pop(one, None)}
            task.cancel(number)
        elif task.plane.is_restoring(task.task, gate):
            says = f"persists gate {gate} for {number}, which still reads restored "
            self._says(f"{says}data, or has those of several old channels in one", number)

    def gate_stopped(self, event: of_tasks.GateStopped) -> None:
        """Note that a gate stops to persist. More than once is allowed after a failed start."""
        number = self._started.pop(event.gate, None)
        if number is not None:
            self._stopped[event.gate] = number

    def look(self) -> None:
        """Check that every channel of a gate that was stopped has heard of it."""
        if not self._stopped:
            return
        for index, persister in enumerate(self._task.plane.persisters(self._task.task)):
            number = self._stopped.get(self._gate_of(index))
            if number is None or persister is None or persister.last_seen > number:
                continue
            if persister.last_seen < number or persister.status is not PersisterStatus.COMPLETED:
                self._says(f"stops for {number}, and channel {index} does not")
        self._stopped.clear()

    def _gate_of(self, channel: int) -> int:
        gates = self._task.task.gates
        if len(gates) == 1:
            return 0
        ends = accumulate(len(gate.channels) for gate in gates)
        return next(index for index, end in enumerate(ends) if channel < end)

    def input_persisted(self, event: of_tasks.InputPersisted) -> None:
        """Check elements of an input that become state: while its gate is to persist them."""
        gate = self._gate_of(event.channel)
        if gate not in self._started and gate not in self._left:
            says = f"persists channel {event.channel} for {event.checkpoint} outside of its turn"
            self._says(says)
        self._task.inputs[event.channel].input_persisted(event.checkpoint, event.elements)

    def output_persisted(self, event: of_tasks.OutputPersisted) -> None:
        """Check elements of a subpartition that become state."""
        self._task.outputs[event.output].persisted(event.checkpoint, event.elements)

    def output_opened(self, event: of_tasks.OutputOpened) -> None:
        """Note that the state of an output is not known yet."""
        self._task.outputs[event.output].opened(event.checkpoint)

    def output_settled(self, event: of_tasks.OutputSettled) -> None:
        """Note that the state of an output is known, or never will be."""
        self._task.outputs[event.output].settled(event.checkpoint)
        self._task.writing.look()

    def _says(self, says: str, checkpoint: int | None = None) -> None:
        self._task.says(_IN_TURN, says, checkpoint)


class _Files:
    def __init__(self) -> None:
        self.unanswered: dict[tuple[int, int], None] = {}  # (subtask, checkpoint)
        # A cause is asked for of the newest checkpoint only, so the newest of each is enough.
        self.newest = -1  # begun or aborted
        self.aborted = -1
        self.broken = -1
        self.untold = -1  # with a failed file, until all who wait have heard


class FileOracle(Listener):
    """Who of each group waits for an answer, and why a part may fail. name_of: of a task."""

    def __init__(self, name_of: Callable[[int], str], violate: Violate) -> None:
        self._name_of = name_of
        self._violate = violate
        self._groups: dict[tuple[int, ...], _Files] = {}

    def _of(self, event: of_tasks.FileEvent) -> _Files:
        return self._groups.setdefault(event.group, _Files())

    def file_part_begun(self, event: of_tasks.FilePartBegun) -> None:
        """Note that a subtask begins to write."""
        files = self._of(event)
        self._check_told(files)
        files.unanswered[event.subtask, event.checkpoint] = None
        files.newest = max(files.newest, event.checkpoint)

    def file_aborted(self, event: of_tasks.FileAborted) -> None:
        """Note that a subtask gives its part up."""
        files = self._of(event)
        self._check_told(files)
        files.aborted = max(files.aborted, event.checkpoint)
        files.newest = max(files.newest, event.checkpoint)

    def file_broken(self, event: of_tasks.FileBroken) -> None:
        """Note that a file could not be written: who waits for it learns of that now."""
        files = self._of(event)
        self._check_told(files)
        files.broken = max(files.broken, event.checkpoint)
        files.untold = event.checkpoint

    def file_answered(self, event: of_tasks.FileAnswered) -> None:
        """Check that there is one answer per beginning, and that a part fails for a cause."""
        files, number, name = self._of(event), event.checkpoint, self._name_of(event.subtask)
        if event.failed and number >= files.newest and number not in (files.aborted, files.broken):
            says = f"the channel state of {name} for {number} is aborted without a cause"
            self._violate(_ANSWERED, says, number)
        if (event.subtask, number) not in files.unanswered:
            says = f"{name} gets an answer on channel state of {number} and does not wait for one"
            self._violate(_ANSWERED, says, number)
        files.unanswered.pop((event.subtask, number), None)

    def file_settled(self, event: of_tasks.FileSettled) -> None:
        """Check, after a beginning has been taken in, that older ones have been answered."""
        files, subtask = self._of(event), event.subtask
        mine = [number for who, number in files.unanswered if who == subtask]
        for older in mine:
            if older < max(mine):
                says = f"{self._name_of(subtask)} never gets the answer on channel state of {older}"
                self._violate(_ANSWERED, says, older)
                del files.unanswered[subtask, older]

    def attempt_deploying(self, event: of_job.AttemptDeploying) -> None:
        """Check that all have heard of what had failed. No one waits for the rest any more."""
        for files in self._groups.values():
            self._check_told(files)
        self._groups.clear()

    def _check_told(self, files: _Files) -> None:
        """Check that no one waits any more for the file that could not be written last."""
        number, files.untold = files.untold, -1
        for subtask, checkpoint in files.unanswered:
            if checkpoint == number:
                name = self._name_of(subtask)
                says = f"{name} is not notified that its file of {number} has failed"
                self._violate(_ANSWERED, says, number)
                return

    def end(self, given_up: Callable[[int, int], bool]) -> None:
        """Check that no one waits for an answer at the job's end, unless given_up."""
        for group, files in self._groups.items():
            self._check_told(files)
            for subtask, number in files.unanswered:
                if given_up(subtask, number):
                    continue
                says = f"{self._name_of(subtask)} waits for its file of checkpoint {number}"
                owed = any(given_up(one, number) for one in group)
                name = "closed_tasks_owe_no_shared_file" if owed else _ANSWERED
                self._violate(name, says, number)


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
