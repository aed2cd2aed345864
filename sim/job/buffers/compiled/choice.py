"""Which jobs the compiled driver runs: those of which it can do everything, if it is worth it.

Both fast drivers give the same run and the same tables, so the choice, which depends on what the
process has run before, shows in nothing but the time that it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Engine
from ckptsim.sim.job.buffers.compiled.deployment import CompiledDeployment
from ckptsim.sim.job.buffers.compiled.kept import is_available, is_ready
from ckptsim.sim.kernel.ties import STRUCTURAL, SeededRandom
from ckptsim.sim.slots import OURS, ProtocolCores

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled.driver import CompiledDriver
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

# What callbacks take for a channel and a simulated second, in seconds of CPU: some ten buffers at
# 23 us each, as measured over jobs that flush and jobs that do not.
_OF_CALLBACKS_S = 230e-6
# What loading the kernel costs a process, in seconds of CPU: most of it is importing numba.
# Compiling it is asked for later than it would pay, because a user waits for that.
_LOADING_S = 0.6
_COMPILING_S = 60.0


@dataclass
class _Process:
    """What this process has spent on runs by callbacks, as estimated, and whether it needs to.

    A process begins with callbacks and loads the kernel when it would have paid so far: so it
    never takes more than twice the time of whoever knows which runs are to come.
    """

    spent_s: float = 0.0
    has_kernel: bool = False

    def spends(self, seconds: float) -> bool:
        """Return whether a run that takes callbacks so many seconds is for the kernel."""
        self.spent_s += seconds
        price = _LOADING_S if is_ready() else _COMPILING_S
        self.has_kernel = self.has_kernel or self.spent_s > price
        return self.has_kernel


@cache
def _process() -> _Process:
    return _Process()


def compiled_driver(world: DataflowWorld, restored: JobCheckpoint | None) -> CompiledDriver | None:
    """Return the driver of a world's next attempt, with its tasks; None if callbacks run it.

    All attempts of a world have one kind of driver, since random streams continue.
    """
    is_first = not world.tasks
    if world.compiled is None and not (is_first and _is_covered(world) and _is_worth_it(world)):
        return None
    return CompiledDeployment(world, restored, world.compiled).driver()


def _is_worth_it(world: DataflowWorld) -> bool:
    """Return whether the kernel is to run a world that it covers."""
    engine = world.model.engine
    if engine is not Engine.AUTO:
        return engine is Engine.COMPILED
    seconds = world.model.duration_ns * 1e-9
    return _process().spends(len(world.graph.channels) * seconds * _OF_CALLBACKS_S)


def _is_covered(world: DataflowWorld) -> bool:
    """Return whether the kernel has all that a world asks for.

    It has the mechanisms and channels of the model alone.
    """
    ties, mechanisms = world.env.ties, world.mechanisms
    return (
        is_available()
        and _has_our_channels(world.protocol)
        and (ties is STRUCTURAL or isinstance(ties, SeededRandom))
        and mechanisms.stops_early
        and mechanisms.freed_when_read
        and mechanisms.slices
    )


def _has_our_channels(protocol: ProtocolCores) -> bool:
    """Return whether the cores that stand inside the kernel are ours; it hosts all others."""
    mine = (protocol.input_channel, protocol.output_subpartition)
    return mine == (OURS.input_channel, OURS.output_subpartition)
