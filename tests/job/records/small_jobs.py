"""Small jobs, and runs of them on cores or in worlds that a test has broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.records.plans import MS, scenario_of
from tests.job.records.small import reads


def run_with(
    scenario: Scenario, *, world: Callable[[pytest.MonkeyPatch], None] | None = None, **parts: Any
) -> RunResult:
    """Run a job with other cores in its slots; `world` breaks what is around them."""
    with pytest.MonkeyPatch.context() as patch:
        if world is not None:
            world(patch)
        return run_world(scenario, seed=0, cores=parts)


def chain(records: int = 30, *, service_ns: int = MS, **tables: Any) -> dict[str, Any]:
    """Return a source and a sink."""
    return {
        "vertices": [
            {"name": "source", "kind": "source", "records": records, "rate_per_s": 1000.0},
            {"name": "sink", "kind": "sink", "inputs": reads("source"), "service_ns": service_ns},
        ],
    } | tables


def join(records: int = 30, *, more: int = 0, **tables: Any) -> dict[str, Any]:
    """Return two sources, of which one may have more records, and a sink."""
    return {
        "vertices": [
            {"name": "left", "kind": "source", "records": records, "rate_per_s": 1000.0},
            {"name": "right", "kind": "source", "records": records + more, "rate_per_s": 1000.0},
            {
                "name": "sink",
                "kind": "sink",
                "inputs": reads("left", "right"),
                "service_ns": MS // 4,
            },
        ],
    } | tables


def small(job: dict[str, Any], *faults: dict[str, Any]) -> Scenario:
    """Return the scenario of a job in base units."""
    document = {"name": "small", "link": "barrier_protocol", "says": "a small job", "job": job}
    return scenario_of(document | {"faults": list(faults)})
