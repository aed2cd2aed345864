"""Scenarios in which fields show that no scenario of the library brings to light."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import with_parameters


def _on_buffers(name: str) -> Callable[[], Scenario]:
    def make() -> Scenario:
        scenario = by_name(name)
        given: dict[str, Any] = {"job.plane": "buffers", "job.costs": {}, "job.channels": {}}
        return with_parameters(scenario, given | {"goals": [], "violates": []})

    return make


# By name: a job of the library on the other plane.
SETTINGS: Mapping[str, Callable[[], Scenario]] = {
    f"{name} on buffers": _on_buffers(name)
    for name in ("final_pair", "flink_drain", "final_race", "resubmitted", "saturated_crash")
}
