"""How a task handles the notifications of completed and given up checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.lifecycle import TaskState

if TYPE_CHECKING:
    from ckptsim.sim.job.records.task import Task


def handle_complete(task: Task, checkpoint: int) -> None:
    """Handle the notification that a checkpoint is complete."""
    before = task.ending.state
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
    """Handle the notification that a checkpoint was given up."""
    before = task.ending.state
    task.control.abort(checkpoint, latest_completed)
    if before is not TaskState.CLOSED and task.ending.state is TaskState.CLOSED:
        task.attempt.goal("closed_on_repeated_completion")
