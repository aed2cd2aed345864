"""A dataflow job at the level of buffers: network, tasks, checkpoints, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from scenarios.dataflow import DataflowModel
from scenarios.dataflow_faults import DataflowFault
from scenarios.dataflow_names import GOALS
from sim.dataflow.account import FullAccount
from sim.dataflow.faults import FaultPlan
from sim.dataflow.tables import tables
from sim.dataflow.vocabulary import VOCABULARY
from sim.dataflow.world import DataflowWorld
from sim.protocol_cores import RIGHT, cores_of

if TYPE_CHECKING:
    from sim.rows import RunResult
    from sim.world import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one job to its end and return its tables."""
    model = cast("DataflowModel", spec.scenario.model)
    faults = FaultPlan(cast("tuple[DataflowFault, ...]", spec.scenario.faults))
    protocol = RIGHT if spec.twin is None else cores_of(spec.twin)
    world = DataflowWorld(
        spec.environment(GOALS), model, protocol=protocol, faults=faults, account=FullAccount()
    )
    world.run()
    return tables(spec, world)


__all__ = ["VOCABULARY", "DataflowWorld", "run"]
