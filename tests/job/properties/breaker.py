"""A run that breaks a property, on either data plane."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Job, Plane, Profile
from ckptsim.scenarios.limits import limits_of
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.records.plans import MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """A run that breaks a property. `also` is what cannot hold either once it is broken.

    scenario: the job. parts: the cores, or the mutant, and the order of ties.  world: everything
    that is broken around the cores.
    """

    scenario: Scenario
    parts: dict[str, Any]
    also: tuple[str, ...] = ()
    world: Callable[[pytest.MonkeyPatch], None] | None = None

    def run(self, plane: Plane = Plane.RECORDS) -> RunResult:
        """Run it on a plane."""
        with pytest.MonkeyPatch.context() as patch:
            if self.world is not None:
                self.world(patch)
            return run_world(placed(self.scenario, plane), **({"seed": 0} | deepcopy(self.parts)))


def placed(scenario: Scenario, plane: Plane) -> Scenario:
    """Return the scenario on a plane, without what the plane refuses.

    Buffers are flushed soon there, and a run may end late.  On a plain machine of so small a job
    nothing would wait, so it is the one of the rig.
    """
    model: Any = scenario.model
    if plane is model.plane:
        return scenario
    network = replace(model.network, buffer_timeout_ns=MS)
    model = replace(model, plane=plane, network=network, duration_ns=5_000 * MS)
    model = replace(model, profile=Profile.RIG if plane is Plane.BUFFERS else Profile.PLAIN)
    for one in limits_of(Job):
        table, _, key = one.path.partition(".")
        if one.limit.place == plane and not one.limit.noted and "[]" not in table:
            taken = replace(getattr(model, table), **{key: one.entry.default})
            model = replace(model, **{table: taken})
    return replace(scenario, model=model)


def by_mutant(name: str, scenario: str, *also: str, **run: Any) -> Breaker:
    """Break a property by a mutant of the library, on its scenario."""
    parts = run | {"mutant": name}
    return Breaker(scenario=by_name(scenario), parts=parts, also=also)


def by_scenario(name: str, *also: str, **run: Any) -> Breaker:
    """Break a property by a scenario of the library that says so."""
    return Breaker(scenario=by_name(name), parts=run, also=also)


def by_cores(
    scenario: Scenario,
    *also: str,
    world: Callable[[pytest.MonkeyPatch], None] | None = None,
    **cores: Any,
) -> Breaker:
    """Break a property by another core, or another world, under a small job."""
    return Breaker(scenario=scenario, parts={"cores": cores}, also=also, world=world)


def at(vertex: str, kind: str, **fields: Any) -> dict[str, Any]:
    """Return a fault of the first subtask of a vertex."""
    return {"kind": kind, "vertex": vertex, "subtask": 0} | fields
