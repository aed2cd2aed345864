"""Small jobs, and runs of them on cores or in worlds that a test has broken."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios import Scenario
from tests.job.records.plans import MS, scenario_of
from tests.job.records.small import reads


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
