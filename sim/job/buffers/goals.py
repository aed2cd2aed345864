"""The rare situations that are read off the parts of an attempt when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.states import State

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.task import Task


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
