"""The kernel counts buffers for the oracle as a replay of every entry does, and finds as much."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from ckptsim.scenarios.job import Engine, Mode
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from tests.job.buffers.broken import MS, job
from tests.job.buffers.drivers.replayed import ReplayedOracle
from tests.job.buffers.drivers.test_followed import WRONG, Break
from tests.job.buffers.plans import random_job


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_those_of_a_replay(seed: int) -> None:
    """Counts of channels, gates and pools equal the ones of a replay wherever the oracle looks."""
    scenario = random_job(seed)
    world = DataflowWorld(
        Environment(seed),
        replace(scenario.model, engine=Engine.COMPILED),
        faults=FaultPlan(cast("tuple[JobFault, ...]", scenario.faults)),
        observer=ReplayedOracle,
    )
    world.run()
    oracle = world.observer
    assert isinstance(oracle, ReplayedOracle)
    assert oracle.compared > 0
    assert oracle.broken == []
    assert world.violations == []


@pytest.mark.parametrize(("wrong", "breaks"), WRONG)
def test_a_replay_breaks_what_the_counts_break(wrong: Break, breaks: str) -> None:
    """What a replay of a wrong run finds broken the kernel finds, too, and counts no less."""
    env = Environment(1)
    model = replace(job(), engine=Engine.COMPILED)
    world = DataflowWorld(env, model, observer=ReplayedOracle)
    driver, oracle = world.compiled, world.observer
    assert driver is not None
    assert isinstance(oracle, ReplayedOracle)
    env.call_at(110 * MS, 15, env.entity("world"), wrong, driver)
    world.run()
    found = {name for name, *_ in world.violations}
    assert breaks in found
    assert set(oracle.broken) <= found


@pytest.mark.parametrize("mode", [Mode.ALIGNED, Mode.UNALIGNED])
def test_the_screen_holds_where_the_invariants_do(mode: Mode) -> None:
    """Of a right job no buffer has to be looked for one by one."""
    env = Environment(1)
    world = DataflowWorld(env, replace(job(mode), engine=Engine.COMPILED), observer=BufferOracle)
    oracle = world.observer
    assert isinstance(oracle, BufferOracle)
    assert oracle._screen is not None
    held = []
    for at_ns in range(30 * MS, 400 * MS, 37 * MS):
        env.call_at(at_ns, 15, env.entity("world"), lambda: held.append(oracle._screen.holds()))
    world.run()
    assert held == [True] * 10
