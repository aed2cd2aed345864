"""Operators with a service time that varies from buffer to buffer.

A record takes a fixed part and, with all others of its buffer, an exponential one. So means over
many buffers are the service that was set.
Assumption: what varies a record's service (its size, a cache, a call) is alike within a buffer.
"""

from __future__ import annotations

from typing import Any

from ckptsim.sim.job.buffers.tasks.task import Task

# Of 10^17 draws from an exponential distribution one is larger than so many means.
TAIL = 40


class VaryingTask(Task):
    """One subtask with a service drawn anew for each buffer."""

    def __init__(self, *arguments: Any, variation: float, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._varying_ns = self.step_ns * variation
        self._fixed_ns = self.step_ns - self._varying_ns
        self._longest_ns = round(self._fixed_ns + TAIL * self._varying_ns)
        self._draws = self.env.stream(f"service {self.name}", self.subtask)

    @property
    def longest_step_ns(self) -> int:
        """More than any service that is drawn."""
        return self._longest_ns

    def _draw_service(self) -> None:
        drawn = self._draws.exponential_ns(self._varying_ns)
        self.step_ns = max(1, min(round(self._fixed_ns) + drawn, self._longest_ns))
