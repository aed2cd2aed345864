"""Who writes to which channel of a job, for pictures of its barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.kernel import Environment

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job


def senders_of(model: Job) -> dict[str, tuple[str, ...]]:
    """Return for each subtask, by its name in the trace, the sender of each of its channels.

    Subtasks come in the order of the job: sources first, then operators as they are declared.
    """
    world = DataflowWorld(Environment(0), model)
    return {
        task.entity.name: tuple(channel.subpartition.owner.entity.name for channel in task.channels)
        for task in world.tasks
    }
