"""The result tables of a job on buffers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ckptsim.sim.job.tables import job_tables

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec


def tables(spec: RunSpec, world: DataflowWorld) -> RunResult:
    """Return all tables of a run that has ended."""
    error = world.failure
    outcome = "stalled" if world.watchdog.stalled else "completed" if error is None else "failed"
    result = job_tables(spec, world, outcome=outcome, error=error)
    result.violations = [
        spec.violation(name, at_ns, says, scope=None if number is None else "job", index=number)
        for name, at_ns, says, number in world.violations
    ]
    result.run = replace(result.run, events=world.env.trace.count)
    return result
