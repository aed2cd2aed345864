"""The composed pipeline: sockets, a job with barriers, a store and the platform in one world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.composed.ends import check_end
from sim.composed.tables import tables
from sim.composed.vocabulary import VOCABULARY
from sim.composed.world import PipelineWorld
from sim.twins.composed import parts_of

if TYPE_CHECKING:
    from sim.rows import RunResult
    from sim.world import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one pipeline to its end and return its tables."""
    world = PipelineWorld(spec, parts_of(spec))
    world.run()
    if world.succeeded:
        check_end(world)
    return tables(world)


__all__ = ["VOCABULARY", "run"]
