"""What can be seen of the parts of an attempt: rare situations, and who waits for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.kernel import Wait

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld


def note_goals(tasks: list[Task]) -> None:
    """Note what channels, pools and threads have seen."""
    for task in tasks:
        reach = task.env.goals.reach
        task.enter(task.state)
        if any(channel.starved for channel in task.channels):
            reach("credit_starvation")
        if any(writer.pool.overdraft_peak for writer in task.writers):
            reach("overdraft_used")
        if task.time_in[State.BLOCKED]:
            reach("back_pressured")


def waits(world: DataflowWorld) -> list[Wait]:
    """Return who waits for whom: the coordinator for tasks, tasks for room."""
    core = world.coordinator.core
    found = [
        Wait("the coordinator", f"checkpoint {number}", world.graph.tasks[index].name)
        for number in core.pending
        for index in core.awaited(number)
    ]
    stuck = (task for task in world.tasks if task.state in (State.BLOCKED, State.STUCK))
    return found + [Wait(task.spec.name, "room in an output") for task in stuck]
