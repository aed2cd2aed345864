"""The machine's processor cores: small jobs of all tasks and of the coordinator share them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Entity, Environment


class Cores:
    """Serves jobs in the order in which they come, each on the core that is free first.

    Everything that is asked for at one instant is taken up at its end, in the order of ties: who of
    several tasks asked first is no matter of the order in which a driver happens to run them.
    """

    def __init__(self, env: Environment, count: int) -> None:
        self._env = env
        self._free_ns = [0] * count

    def run(
        self, cost_ns: int, entity: Entity, done: Callable[..., object], *arguments: Any
    ) -> None:
        """Call `done(*arguments)` when a core has spent `cost_ns` on the job of an entity."""
        env = self._env
        env.call_at(env.now, Kind.CORES, entity, self.take_up, cost_ns, entity, done, *arguments)

    @property
    def are_free(self) -> bool:
        """Return whether no core works for anybody."""
        return max(self._free_ns, default=0) <= self._env.now

    def forget(self) -> None:
        """Let all cores be free now: whom they worked for is gone."""
        self._free_ns = [self._env.now] * len(self._free_ns)

    def take_up(
        self, cost_ns: int, entity: Entity, done: Callable[..., object], *arguments: Any
    ) -> None:
        """Give a job that was asked for at this instant to a core."""
        free = self._free_ns
        index = min(range(len(free)), key=free.__getitem__)
        free[index] = max(self._env.now, free[index]) + cost_ns
        self._env.call_at(free[index], Kind.STORAGE, entity, done, *arguments)
