"""The random pipelines of the product, by Hypothesis or a seed, and a world after its run."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import from_json, plain
from ckptsim.scenarios.generators import pipelines as product
from ckptsim.scenarios.generators.choices import slower
from ckptsim.scenarios.generators.jobs import MODES
from ckptsim.scenarios.generators.pipelines import MS, NETWORK, PARTITIONERS, SLOWER
from ckptsim.sim.composed import CORES, tables
from ckptsim.sim.composed.world import PipelineWorld
from ckptsim.sim.kernel import parse_ties
from ckptsim.sim.rows import RunResult
from ckptsim.sim.run_spec import RunSpec
from tests.job.records.plans import Drawn, Seeded

__all__ = ["MODES", "MS", "PARTITIONERS"]


def slow_down(found: dict[str, Any]) -> None:
    """Put the document of a pipeline on buffers, all of it as slow as barriers are there."""
    found["pipeline"] = product.on_buffers(found["pipeline"])
    found["faults"] = slower(found["faults"], SLOWER)


def on_buffers(name: str, *, crash_at_ns: int | None = None) -> Scenario:
    """Return a scenario of the library on buffers, without its goals, which are those for records.

    crash_at_ns: when its first fault strikes, where another instant shows more.
    """
    found: Any = plain(by_name(name))
    slow_down(found)
    found["pipeline"]["network"] |= NETWORK
    found["pipeline"]["profile"] = "rig"  # on which its mutants show
    if crash_at_ns is not None:
        found["faults"][0]["at_ns"] = crash_at_ns
    return from_json(json.dumps(found | {"goals": []}))


def random_pipeline(seed: int, plane: str = "records") -> Scenario:
    """Return the random pipeline of a seed."""
    return product.pipeline(Seeded(seed), plane)


@st.composite
def pipelines(draw: Any, plane: str = "records") -> Scenario:
    """Return a strategy of random pipelines with fault plans."""
    return product.pipeline(Drawn(draw), plane)


def run_pipeline(
    scenario: Scenario, seed: int, ties: str = "structural"
) -> tuple[PipelineWorld, RunResult]:
    """Run a pipeline to its end. Every completed checkpoint of its job is kept."""
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
