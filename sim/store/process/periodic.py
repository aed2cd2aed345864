"""The syncer of one partition: a thread that calls for a sync when the interval is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.sim.store.kinds import KIND_TIMER

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Entity, Environment, Process
    from ckptsim.sim.store.process.threads import Steps, Threads


class PeriodicSyncer:
    """Says that a sync is due: `due` is set, then `rouse` is called."""

    def __init__(self, env: Environment, entity: Entity, rouse: Callable[[], None]) -> None:
        self.due = False
        self._env = env
        self._entity = entity
        self._rouse = rouse
        self._threads: Threads | None = None
        self._thread: Process | None = None

    def call_in(self, delay_ns: int, threads: Threads) -> None:
        """Call for a sync after a while."""
        self._threads = threads
        self._thread = threads.start(self._wait(delay_ns), self._entity)

    def cancel(self) -> None:
        """Call for none: there was a sync for another reason, or there is nothing to sync."""
        self.due = False
        if self._threads is not None and self._thread is not None:
            self._threads.stop(self._thread)

    def _wait(self, delay_ns: int) -> Steps:
        yield self._env.timeout(delay_ns, kind=KIND_TIMER)
        self.due = True
        self._rouse()
