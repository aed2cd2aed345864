"""The liveness phase of a run: faults have stopped, so everything pending has to end in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ckptsim.sim.kernel.environment import Environment
from ckptsim.sim.kernel.waits import SimulationStalled, Wait, explain_waits


def settle(
    env: Environment,
    *,
    pending: Callable[[], bool],
    waits: Callable[[], Iterable[Wait]],
    bound_ns: int,
) -> None:
    """Run on until nothing is pending any more, at most `bound_ns` from now.

    pending: whether work remains that has to complete or be aborted; waits: who waits for whom at
    that moment, asked only when the run has stalled.
    Raises SimulationStalled with one sentence when the calendar is empty or the bound has passed
    while work remains.
    """
    end = env.now + bound_ns
    while pending():
        following = env.peek()
        if following > end:
            found = tuple(waits())
            why = "nothing is scheduled" if following == float("inf") else f"{bound_ns} ns passed"
            raise SimulationStalled(f"{why}, but work remains: {explain_waits(found)}", found)
        env.step()
