"""Which jobs the compiled driver runs: those of which it can do everything, if it is worth it.

Both fast drivers give the same run, so the choice shows in nothing but the time that it takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Engine
from ckptsim.sim.job.buffers.compiled.deployment import CompiledDeployment
from ckptsim.sim.job.buffers.compiled.kept import is_available, is_ready
from ckptsim.sim.job.embedding import ALONE
from ckptsim.sim.job.oracle.buffers.observer import BufferObserver
from ckptsim.sim.kernel.ties import STRUCTURAL, SeededRandom
from ckptsim.sim.slots import OURS

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled.driver import CompiledDriver
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

# What callbacks take for a channel and a simulated second, in seconds of CPU: some ten buffers at
# 23 us each, as measured over jobs that flush and jobs that do not.
_OF_CALLBACKS_S = 230e-6
# What callbacks have to take for the kernel to be worth loading, or compiling.
_LOADING_S = 2.0
_COMPILING_S = 60.0


def compiled_driver(world: DataflowWorld, restored: JobCheckpoint | None) -> CompiledDriver | None:
    """Return the driver of a world's next attempt, with its tasks; None if callbacks run it."""
    if world.compiled is None and not (_is_covered(world) and _is_worth_it(world)):
        return None
    return CompiledDeployment(world, restored, world.compiled).driver()


def _is_worth_it(world: DataflowWorld) -> bool:
    """Return whether the kernel is to run a world that it covers."""
    engine = world.model.engine
    if engine is not Engine.AUTO:
        return engine is Engine.COMPILED
    seconds = world.model.duration_ns * 1e-9
    by_callbacks_s = len(world.graph.channels) * seconds * _OF_CALLBACKS_S
    return by_callbacks_s > _LOADING_S and (is_ready() or by_callbacks_s > _COMPILING_S)


def _is_covered(world: DataflowWorld) -> bool:
    """Return whether the kernel has all that a world asks for.

    It has the mechanisms and cores of the model alone and one graph, knows no record by its
    identity or its due instant, tells an oracle nothing, and has all tasks or none.
    """
    ties, mechanisms = world.env.ties, world.mechanisms
    return (
        type(world.observer) is BufferObserver
        and is_available()
        and world.protocol == OURS
        and world.embedding is ALONE
        and not world.model.recovery.timed
        and not world.faults.rescales
        and not world.faults.silences
        and (ties is STRUCTURAL or isinstance(ties, SeededRandom))
        and mechanisms.stops_early
        and mechanisms.freed_when_read
        and mechanisms.slices
    )
