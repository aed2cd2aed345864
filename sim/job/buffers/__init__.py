"""The plane of buffers: network, tasks, checkpoints, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ckptsim.models.coordinator.plan import Rejected
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.names import GOALS
from ckptsim.sim.job.buffers.tables import tables
from ckptsim.sim.job.buffers.vocabulary import VOCABULARY
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.started import refused, started_from
from ckptsim.sim.job.oracle.buffers.oracle import BufferOracle
from ckptsim.sim.slots import ProtocolCores

if TYPE_CHECKING:
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one job to its end and return its tables."""
    env = spec.environment(GOALS[Plane.BUFFERS])
    env.count_entries()
    job = cast("Job", spec.scenario.model).spelled_out()
    faults = FaultPlan(cast("tuple[JobFault, ...]", spec.scenario.faults))
    restored = started_from(job)
    if isinstance(restored, Rejected):
        return refused(spec, env, restored)
    world = DataflowWorld(
        env, job, protocol=spec.cores, faults=faults, observer=BufferOracle, restored=restored
    )
    world.run()
    return tables(spec, world)


CORES = ProtocolCores

__all__ = ["CORES", "VOCABULARY", "DataflowWorld", "run"]
