"""What the end of a task's life looks like here.

Calls of operators, marks, all that is waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.channel_state import SubtaskReleased
from ckptsim.models.lifecycle import OperatorState, TaskState
from ckptsim.models.lifecycle.tables import Act
from ckptsim.sim.job.records.state import WATERMARK

if TYPE_CHECKING:
    from ckptsim.sim.job.records.tasks.task import Task
    from ckptsim.sim.slots.protocols import Lifecycle


class TaskEnding:
    """The end of one task."""

    def __init__(self, task: Task, *, finished_on_restore: bool) -> None:
        self.task = task
        self.performed: list[int] = []  # checkpoints that the task took part in after its end
        self._waits = False
        self.runs_operators = not finished_on_restore

    @property
    def core(self) -> Lifecycle:
        """Return the lifecycle core."""
        return self.task.control.lifecycle.core

    @property
    def ended(self) -> bool:
        """Return whether EndOfData has been sent."""
        return self.core.ended

    @property
    def state(self) -> TaskState:
        """Return the state of the task."""
        return self.core.state

    @property
    def has_writes(self) -> bool:
        """Return whether snapshots or commits are under way."""
        sink = self.task.sink
        running = self.task.control.checkpoints.core.running
        return bool(running) or (sink is not None and sink.busy)

    def state_changed(self, state: TaskState, _operator: OperatorState | None) -> None:
        """Follow the task from state to state."""
        self._waits = self._waits or state is TaskState.WAITING_FOR_FINAL_CP
        self.task.attempt.state_changed(self.task, state)

    def finish_source(self) -> None:
        """Note that the source is asked to stop."""
        self.note("told", "cancel", 0, 0)

    def call(self, what: str, operator: int) -> None:
        """Note a call of an operator."""
        self.task.attempt.call(self.task, what, operator)

    def gate_ended(self, gate: int) -> None:
        """Note that the head of the chain has heard of the end of a gate."""
        self.note("gate_ended", gate + 1)

    def tell(self, what: str, checkpoint: int) -> None:
        """Note what every operator is notified of a checkpoint, and that a snapshot is taken."""
        if what == "snapshot":
            if self._waits:
                self.performed.append(checkpoint)
            self.task.attempt.performed(self.task, checkpoint)
            self.task.snapshot_taken(checkpoint)
        self.task.attempt.calls(self.task, what, checkpoint)

    def emit_max_watermark(self) -> None:
        """Send the final watermark, which travels as data."""
        self.task.emit(WATERMARK)

    def note(self, kind: str, *fields: int | str) -> None:
        """Put a step into the trace."""
        self.task.env.trace.record(kind, self.task.entity, *fields)

    def decline_closing(self, checkpoint: int) -> None:
        """Decline what a closed task is asked for."""
        self.task.attempt.goal("declined_because_closing")
        self.task.attempt.decline_closing(self.task, checkpoint)

    def fail(self, reason: str) -> None:
        """Fail the task, and with it the job."""
        self.task.attempt.fail(self.task, reason)

    def is_stop(self, checkpoint: int) -> bool:
        """Return whether a checkpoint is the savepoint of a stop."""
        return self.task.attempt.is_stop(checkpoint)

    def break_down(self, violated: str, story: str) -> None:
        """Fail the task because its input broke a rule."""
        self.task.attempt.violate(violated, f"{self.task.name}: {story}")
        self.fail(story)

    def closed(self) -> None:
        """Let the others of the task's group write without it."""
        spec = self.task.spec
        self.task.attempt.files[spec.index].writer.step(SubtaskReleased(spec.index))

    def awaits(self, act: Act) -> bool:
        """Return whether the task is to close once this, and perhaps more, has happened."""
        waiting = self.state is TaskState.WAITING_FOR_FINAL_CP
        return waiting and act in self.core.waits_for()


def handle_complete(task: Task, checkpoint: int) -> None:
    """Handle the notification that a checkpoint is complete."""
    before = task.ending.state
    task.snapshots.completed(checkpoint)
    task.checkpoint_ended(checkpoint, completed=True)
    task.control.lifecycle.complete(checkpoint)
    if before is not TaskState.CLOSED and task.ending.state is TaskState.CLOSED:
        _note_close(task, checkpoint)


def _note_close(task: Task, checkpoint: int) -> None:
    """Note which of its final checkpoints a task closes on: of 42, 43 and 44 on 43, 42 being lost.

    A final checkpoint is one that the task took part in after it had sent EndOfData.
    """
    attempt = task.attempt
    final = task.ending.performed
    lost = attempt.world.coordinator.gateway.lost
    if any(number < checkpoint and (task.number, number) in lost for number in final):
        attempt.goal("completed_after_lost_notification")
        if any(number > checkpoint for number in final):
            attempt.goal("closed_on_second_of_three_final_checkpoints")


def handle_aborted(task: Task, checkpoint: int, latest_completed: int | None) -> None:
    """Handle the notification that a checkpoint was aborted."""
    before = task.ending.state
    task.control.abort(checkpoint, latest_completed)
    task.checkpoint_ended(checkpoint, completed=False)
    if before is not TaskState.CLOSED and task.ending.state is TaskState.CLOSED:
        task.attempt.goal("closed_on_repeated_completion")
