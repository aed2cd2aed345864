"""The threads of one start of the store process, each a SimPy process: they die together."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from ckptsim.sim.store.watched import ProcessDied

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Entity, Environment, Process

Steps = Generator[Any, Any, None]


class Threads:
    """Runs the threads of one start. One that raises ProcessDied takes all others with it.

    on_death: told of what a thread died of. It has to call `end`.
    """

    def __init__(self, env: Environment, on_death: Callable[[ProcessDied], None]) -> None:
        self._env = env
        self._on_death = on_death
        self._running: dict[int, Process] = {}  # by number, so in the order of their start

    def start(self, steps: Steps, entity: Entity) -> Process:
        """Start a thread that acts as an entity."""
        thread = self._env.process(self._guarded(steps), entity=entity)
        self._running[thread.number] = thread
        thread.callbacks.append(self._has_ended)
        return thread

    def stop(self, thread: Process) -> None:
        """End a thread where it waits. The active one is left alone, because it is unwinding."""
        if thread is not self._env.active_process:
            self._running.pop(thread.number, None)
            thread.stop()

    def end(self) -> None:
        """End all threads: nothing of this start acts any more."""
        for thread in list(self._running.values()):
            self.stop(thread)

    @property
    def running(self) -> list[Process]:
        """Return the threads that have not ended."""
        return [thread for thread in self._running.values() if thread.is_alive]

    def _guarded(self, steps: Steps) -> Steps:
        try:
            yield from steps
        except ProcessDied as died:
            self._on_death(died)

    def _has_ended(self, thread: Any) -> None:
        self._running.pop(thread.number, None)
