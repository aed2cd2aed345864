"""What a task's thread spends its time on, and what keeps it from its records for a while."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.cores import Cores
    from ckptsim.sim.job.buffers.kinds import State
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.kernel import Entity, Environment


class Pausing:
    """A thread that can be kept at a record boundary.

    state: what it does. since_ns: when it began that. time_in: ns in each state, up to then.
    """

    env: Environment
    world: DataflowWorld
    entity: Entity
    state: State
    since_ns: int
    time_in: list[int]
    _paused_for: tuple[Callable[..., object], tuple[Any, ...]] | None

    def run(self) -> None:
        """Continue at a record boundary."""
        raise NotImplementedError

    def enter(self, state: State) -> None:
        """Change what the thread does, and account for the time since the last change."""
        now = self.env.now
        self.time_in[self.state] += now - self.since_ns
        self.since_ns = now
        self.state = state

    def time_spent(self, states: Collection[int]) -> int:
        """Return how many ns the thread was in some of its states, up to now."""
        times, is_there = self.time_in, self.state in states
        return sum(times[one] for one in states) + is_there * (self.env.now - self.since_ns)

    def pause(
        self,
        cost_ns: int,
        function: Callable[..., object],
        *arguments: Any,
        cores: Cores | None = None,
    ) -> None:
        """Do nothing else until a core has spent `cost_ns`, then call the function and continue.

        To be called on the task's thread only, between two records.  cores: of some other threads.
        """
        self._paused_for = (function, arguments)
        (cores or self.world.cores).run(cost_ns, self.entity, self._pause_over)

    def stand_still(self, time_ns: int, function: Callable[..., object], *arguments: Any) -> None:
        """Do nothing else for so long, then call the function. As `pause` otherwise."""
        self._paused_for = (function, arguments)
        self.env.call_in(time_ns, Kind.STORAGE, self.entity, self._pause_over)

    def _pause_over(self) -> None:
        self._call_paused()
        self.run()

    def _call_paused(self) -> None:
        if self._paused_for is not None:
            function, arguments = self._paused_for
            self._paused_for = None
            function(*arguments)
