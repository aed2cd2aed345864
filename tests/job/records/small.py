"""Small jobs as documents in base units, and what their runs show."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.records.plans import MS, scenario_of


def run(scenario: Scenario, seed: int = 0) -> RunResult:
    """Run a scenario with a job that must end and break nothing."""
    result = run_world(scenario, seed=seed)
    assert result.violations == []
    return result


def pair(records: int = 10, **tables: Any) -> dict[str, Any]:
    """Return a source and a sink: records every millisecond, processed at once."""
    return chain(records, service_ns=0, **tables)


def reads(*upstream: str) -> list[dict[str, Any]]:
    """Return inputs from vertices, by hash."""
    return [{"upstream": name} for name in upstream]


def closes_ns(result: RunResult) -> list[int]:
    """Return when each task closed, in the order of the tasks."""
    return [row.finished_ns or -1 for row in result.tasks]


def since(result: RunResult, instant_s: int) -> list[int]:
    """Return when the checkpoints were triggered from `instant_s` until the end, in s."""
    at_s = [row.triggered_ns // 10**9 for row in result.checkpoints]
    return [instant for instant in at_s if instant >= instant_s]


def chain(records: int = 30, *, service_ns: int = MS, **tables: Any) -> dict[str, Any]:
    """Return a source and a sink."""
    return {
        "vertices": [
            {"name": "source", "kind": "source", "records": records, "rate_per_s": 1000.0},
            {"name": "sink", "kind": "sink", "inputs": reads("source"), "service_ns": service_ns},
        ],
    } | tables


def join(records: int = 30, *, more: int = 0, **tables: Any) -> dict[str, Any]:
    """Return two sources, one possibly with more records, and a sink."""
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


def small(job: dict[str, Any], *faults: dict[str, Any], link: str = "barrier_protocol") -> Scenario:
    """Return the scenario of a job in base units."""
    document = {"name": "small", "link": link, "says": "a small job", "job": job}
    return scenario_of(document | {"faults": list(faults)})
