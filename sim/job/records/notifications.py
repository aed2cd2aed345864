"""How tasks hear what became of a checkpoint: late, out of order, or never.

Where messages keep no order, each completion is told as by a thread of its own: words of two
completions that arrive at one instant come in the order of ties, also among other messages.
Source: Apache Flink 1.20.3, ExecutionGraphHandler has acknowledgements processed by a pool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import Plan
from ckptsim.models.lifecycle import TaskState
from ckptsim.models.lifecycle import events as on
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.task import Task
    from ckptsim.sim.job.records.world import JobWorld


def notify_complete(world: JobWorld, checkpoint: int, plan: Plan) -> None:
    """Tell the tasks of a plan that a checkpoint is complete; some may never hear of it."""
    attempt, costs = world.attempt, world.job.costs
    sender = ("completion", checkpoint)
    for task in _tasks(world, plan):
        stray_ns = world.faults.stray_notification(task.spec, checkpoint)
        if stray_ns is not None:
            index = task.spec.index
            what = (world, index, checkpoint)
            world.message_in(stray_ns, Kind.MESSAGE, _strayed, *what, sender=sender)
        stream = world.env.stream("notification", task.spec.index)
        lost = bool(costs.notification_loss_ratio) and (
            stream.uniform() < costs.notification_loss_ratio
        )
        if lost or world.faults.notification_lost(task.spec, checkpoint):
            world.lost_notifications.add((task.spec.index, checkpoint))
            continue
        delay_ns = world.faults.notification_delay(task.spec, checkpoint)
        delay_ns += attempt.jitter("notification delay", costs.notification_jitter_ns)
        told = (world, attempt, task, checkpoint)
        world.message_in(delay_ns, Kind.MESSAGE, _completed, *told, sender=sender)


def notify_aborted(world: JobWorld, checkpoint: int, latest: int | None, plan: Plan) -> None:
    """Tell the tasks of a plan that a checkpoint was given up, and which is the latest complete."""
    for task in _tasks(world, plan):
        world.message(Kind.MESSAGE, _aborted, world.attempt, task, checkpoint, latest)


def _tasks(world: JobWorld, plan: Plan) -> list[Task]:
    first = world.graph.first_task
    return [world.attempt.tasks[first[name] + subtask] for name, subtask in plan.commit_to]


def _completed(world: JobWorld, attempt: Attempt, task: Task, checkpoint: int) -> None:
    def mail() -> None:
        before = task.ending.state
        task.ending.step(on.CheckpointCompleted(checkpoint))
        if before is not TaskState.CLOSED and task.ending.state is TaskState.CLOSED:
            _note_close(world, attempt, task, checkpoint)

    if attempt.alive:
        task.post(mail)


def _note_close(world: JobWorld, attempt: Attempt, task: Task, checkpoint: int) -> None:
    """Note which of its final checkpoints a task closes on: of 42, 43 and 44 on 43, 42's word lost.

    A final checkpoint is one that the task took part in after it had sent EndOfData.
    """
    final = attempt.life.final_checkpoints(task)
    lost = world.lost_notifications
    if any(number < checkpoint and (task.spec.index, number) in lost for number in final):
        attempt.goal("completed_after_lost_notification")
        if any(number > checkpoint for number in final):
            attempt.goal("closed_on_second_of_three_final_checkpoints")


def _strayed(world: JobWorld, index: int, checkpoint: int) -> None:
    _completed(world, world.attempt, world.attempt.tasks[index], checkpoint)


def _aborted(attempt: Attempt, task: Task, checkpoint: int, latest: int | None) -> None:
    def mail() -> None:
        before = task.ending.state
        task.checkpoints.aborted(checkpoint)
        task.ending.step(on.CheckpointAborted(checkpoint, latest))
        if before is not TaskState.CLOSED and task.ending.state is TaskState.CLOSED:
            attempt.goal("closed_on_repeated_completion")

    if attempt.alive:
        task.post(mail)
