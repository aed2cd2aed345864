"""The composed pipeline: sockets, a job with barriers, a store and the platform in one world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.composed.tables import VOCABULARY as VOCABULARY
from ckptsim.sim.composed.tables import tables
from ckptsim.sim.composed.world import PipelineCores, PipelineWorld

if TYPE_CHECKING:
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one pipeline to its end and return its tables."""
    world = PipelineWorld(spec)
    world.run()
    return tables(world)


CORES = PipelineCores
