"""Which jobs the compiled driver runs: large ones, and the ones of verbs that make many runs.

A verb that makes one run leaves small jobs to SimPy processes.  Otherwise the kernel runs all that
it can do, once loading it pays.  Both drivers give the same run and the same tables, so the choice
shows in nothing but the time that it takes, and in the driver that a result names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Engine
from ckptsim.sim.job.buffers.compiled.deployment import CompiledDeployment
from ckptsim.sim.job.buffers.compiled.kept import is_available, is_ready
from ckptsim.sim.job.buffers.compiled.ties import has_ties
from ckptsim.sim.job.buffers.constants import step_ns
from ckptsim.sim.slots import OURS, ProtocolCores

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled.driver import CompiledDriver
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

# A job below this is small: SimPy processes run it in at most some two seconds.  The figure counts
# records of all tasks as `_records_of` estimates them, about twice as many as there are.
SMALL_RECORDS = 200_000
# What the reference takes for a record that `_records_of` estimates, in seconds of CPU, and more
# where it is followed how late records are.  In the library's jobs on buffers a record of a task
# takes 7 to 14 us, 21 us where that is followed. There are about half as many as estimated.
_OF_REFERENCE_S = 5e-6
_OF_LATENESS_S = 15e-6
# What loading the kernel costs a process, in seconds of CPU: 0.08 to 0.12, most of it for importing
# llvmlite.  Compiling it takes half a minute.  All of these decide about time alone: where one is
# wrong by a factor, a process takes longer by that, once.
_LOADING_S = 0.1
_COMPILING_S = 30.0


@dataclass
class _Process:
    """What this process has spent on runs by the reference, as estimated, and whether it needs to.

    A process begins with the reference and loads the kernel when it would have paid so far: so it
    never takes more than twice the time of anyone who knows which runs are to come.
    """

    spent_s: float = 0.0
    has_kernel: bool = False

    def spends(self, seconds: float) -> bool:
        """Return whether a run that takes the reference so many seconds is for the kernel."""
        self.spent_s += seconds
        # Before that it does not matter whether the kernel is there.
        if not self.has_kernel and self.spent_s > _LOADING_S:
            self.has_kernel = is_ready() or self.spent_s > _COMPILING_S
        return self.has_kernel


@cache
def _process() -> _Process:
    return _Process()


def compiled_driver(world: DataflowWorld, restored: JobCheckpoint | None) -> CompiledDriver | None:
    """Return the driver of a world's next attempt, with its tasks. None if the reference does.

    All attempts of a world have one kind of driver, since random streams continue.
    """
    is_first = not world.tasks
    if world.compiled is None and not (is_first and is_covered(world) and _is_worth_it(world)):
        return None
    return CompiledDeployment(world, restored, world.compiled).driver()


def _is_worth_it(world: DataflowWorld) -> bool:
    """Return whether the kernel is to run a world that it covers."""
    engine = world.model.engine
    if world.skipper.is_used:
        return True
    if engine is not Engine.AUTO:
        return engine is Engine.COMPILED
    records = _records_of(world)
    if world.env.prefers_processes and records <= SMALL_RECORDS:
        return False
    cost_s = _OF_REFERENCE_S if world.timed is None else _OF_REFERENCE_S + _OF_LATENESS_S
    return _process().spends(records * cost_s)


def _records_of(world: DataflowWorld) -> float:
    """Estimate how many records all tasks of a run process together.

    Every vertex has what the sources emit, unless the narrowest vertex holds them up.  Everything
    that is filtered, and everything that is not reached before the job ends, is counted: the
    estimate is high.
    """
    emitted, most = 0.0, {one.name: 0.0 for one in world.model.vertices}
    constants, duration_ns = world.constants, world.model.duration_ns
    for spec in world.graph.tasks:
        vertex = spec.vertex
        if vertex.is_source:
            gap_ns = vertex.gap_of(spec.subtask) or constants.source_record_ns
            limit = vertex.records_of(spec.subtask)
            emitted += duration_ns / gap_ns if limit is None else min(duration_ns / gap_ns, limit)
            most.pop(vertex.name, None)
        else:
            most[vertex.name] += duration_ns / step_ns(vertex.service_of(spec.subtask), constants)
    return min([emitted, *most.values()]) * len(world.model.vertices)


def is_covered(world: DataflowWorld) -> bool:
    """Return whether the kernel has all that a world asks for, and may run it."""
    if world.model.engine is Engine.PROCESSES or world.model.channel_state.is_logged:
        return False
    return is_available() and _has_our_channels(world.protocol) and has_ties(world.env.ties)


def _has_our_channels(protocol: ProtocolCores) -> bool:
    """Return whether the cores that stand inside the kernel are ours. It hosts all others."""
    mine = (protocol.input_channel, protocol.output_subpartition)
    return mine == (OURS.input_channel, OURS.output_subpartition)
