"""A dataflow job at the level of buffers: network, tasks, checkpoints, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from scenarios.dataflow import DataflowModel
from scenarios.dataflow_names import GOALS
from sim.dataflow.tables import tables
from sim.dataflow.vocabulary import VOCABULARY
from sim.dataflow.world import DataflowWorld

if TYPE_CHECKING:
    from sim.rows import RunResult
    from sim.world import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one job to its end and return its tables."""
    model = cast("DataflowModel", spec.scenario.model)
    world = DataflowWorld(spec.environment(GOALS), model)
    world.run()
    return tables(spec, world)


__all__ = ["VOCABULARY", "DataflowWorld", "run"]
