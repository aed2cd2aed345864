"""The result tables of a job on records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.tables import job_tables

if TYPE_CHECKING:
    from ckptsim.sim.job.records.world import RecordWorld
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec


def fill(spec: RunSpec, world: RecordWorld) -> RunResult:
    """Return the tables of a run that has ended or is stalled."""
    good = world.ended or world.control.has_enough
    outcome = "completed" if good else "failed" if world.control.gave_up else "stalled"
    result = job_tables(spec, world, outcome=outcome, error=None)
    result.violations = [
        spec.violation(name, at_ns, says) for name, at_ns, says, _ in world.violations
    ]
    return result
