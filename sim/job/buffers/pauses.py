"""Pauses of the machine between a checkpoint's end and the next trigger.

Garbage collection, deletions and other processes hold the coordinator up now and then.  Where
checkpoints follow each other at once this moves the next barrier, and in a chain whose bottleneck
is at its end each millisecond lengthens the next checkpoint by several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.kernel import Environment


class Pauses:
    """Draws the pauses of one run."""

    def __init__(self, env: Environment, constants: Constants) -> None:
        self._stream = env.stream("pauses")
        self._ratio = constants.pause_ratio
        self._mean_ns = constants.pause_ns

    def behind_ns(self, checkpoint: int) -> int:
        """Return the pause between a checkpoint's last acknowledgement and its completion."""
        return self._stream.exponential_ns(self._mean_ns) if self._drawn() else 0

    def before_sources_ns(self, checkpoint: int) -> int:
        """Return what comes on top of a trigger message's usual time."""
        return 0

    def _drawn(self) -> bool:
        return self._stream.chance(self._ratio)
