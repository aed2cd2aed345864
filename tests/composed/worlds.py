"""A pipeline's world after its run, for tests that look into the job of it."""

from __future__ import annotations

from ckptsim.scenarios import Scenario
from ckptsim.sim.composed import CORES, tables
from ckptsim.sim.composed.world import PipelineWorld
from ckptsim.sim.kernel import parse_ties
from ckptsim.sim.rows import RunResult
from ckptsim.sim.run_spec import RunSpec


def run_pipeline(
    scenario: Scenario, seed: int, ties: str = "structural"
) -> tuple[PipelineWorld, RunResult]:
    """Run a pipeline to its end; every completed checkpoint of its job is kept."""
    spec = RunSpec(
        scenario=scenario,
        seed=seed,
        ties=ties,
        policy=parse_ties(ties, seed),
        keep_trace=True,
        cores=CORES(),
        chosen={},
        mutant=None,
        parameters="{}",
        run_key="",
        version="",
        replay="",
    )
    world = PipelineWorld(spec)
    world.run()
    return world, tables(world)
