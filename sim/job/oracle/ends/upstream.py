"""Which tasks are in front of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.oracle.tasks import TaskOracle


def with_upstream(task: TaskOracle) -> list[TaskOracle]:
    """Return a task and all that it has data of."""
    found = [task]
    for one in found:
        found += [channel.sender for channel in one.inputs if channel.sender not in found]
    return found
