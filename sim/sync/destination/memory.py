"""The memory that pending states may use: reserved before a state is queued, freed by its send."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.sim.kernel import Environment


class StateMemory:
    """A number of bytes. Those who wait for some get it in the order in which they came."""

    def __init__(self, env: Environment, capacity_bytes: int) -> None:
        self.used_bytes = 0
        self._env = env
        self._capacity_bytes = capacity_bytes
        self._waiting: deque[tuple[int, Event, str]] = deque()

    @property
    def waiting(self) -> list[str]:
        """Who waits for memory, the first to get some first."""
        return [who for _, _, who in self._waiting]

    @property
    def wanted_bytes(self) -> int:
        """How many bytes anyone who waits first waits for. 0 when no one waits."""
        return self._waiting[0][0] if self._waiting else 0

    def reserve(self, size_bytes: int) -> bool:
        """Reserve memory now, or say that there is not enough of it.

        A state larger than all of it is taken when nothing else is held.
        """
        if self._waiting or not self._fits(size_bytes):
            return False
        self.used_bytes += size_bytes
        return True

    def wait(self, size_bytes: int, who: str) -> Event:
        """Return the event of having reserved memory."""
        event = self._env.event()
        self._waiting.append((size_bytes, event, who))
        return event

    def free(self, size_bytes: int) -> None:
        """Give memory back, to those who wait first."""
        self.used_bytes -= size_bytes
        while self._waiting and self._fits(self._waiting[0][0]):
            size, event, _ = self._waiting.popleft()
            self.used_bytes += size
            event.succeed()

    def _fits(self, size_bytes: int) -> bool:
        return not self.used_bytes or self.used_bytes + size_bytes <= self._capacity_bytes
