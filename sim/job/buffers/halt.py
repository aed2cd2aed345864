"""The end of an attempt, and of one task.

The observations, and all that is still to come is struck out.

No part of the data plane asks whether its attempt is alive, which would cost a look per buffer.
Instead an attempt that has failed has no entries any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import simpy

from ckptsim.sim.job.buffers.cores import Cores
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.events import of_job
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.kernel import Environment

# Place of the function to be called among the arguments of a job of the processor cores.
_DONE = 2


def kill(tasks: Iterable[Task]) -> None:
    """Let tasks do nothing more, whatever was to follow: they have failed."""
    for task in tasks:
        task.world.events.emit(of_job.TaskKilled(task))
        task.sync()
        task.enter(State.ENDED)
        task.die()
        task.snapshots.drop_all()


def stall(task: Task, lasts_ns: int) -> None:
    """Let a task's thread do nothing for a while. Called from its mailbox."""
    if not task.has_ended:
        task.env.trace.record("stalled", task.entity, lasts_ns)
        task.stand_still(lasts_ns, int)


def cancel_all_but(env: Environment, keepers: tuple[type, ...], event: simpy.Event) -> None:
    """Cancel all entries of the calendar but methods of these classes, and one event.

    A job of the processor cores belongs to whom it calls at its end.
    """
    kept = []
    for entry in env.calendar:
        item = entry[4]
        if item is event or (isinstance(item, Timer) and isinstance(_owner(item), keepers)):
            kept.append(entry)
        elif isinstance(item, Timer):
            item.cancel()
    env.rewrite(env.now, kept)


def _owner(timer: Timer) -> Any:
    owner = getattr(timer.function, "__self__", None)
    if isinstance(owner, Cores):
        owner = getattr(timer.arguments[_DONE], "__self__", None)
    return owner


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
