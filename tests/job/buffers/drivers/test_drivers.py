"""Both drivers of the one model give the same trace."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators.final_checkpoint import HAZARDS
from ckptsim.scenarios.job import Engine, Job
from ckptsim.scenarios.job.faults import JobFault, StallTask
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment, parse_ties
from tests.job.buffers.broken import MS, job
from tests.job.buffers.plans import faulty_jobs
from tests.job.buffers.strategies import jobs


def trace(
    model: Job,
    seed: int,
    ties: str,
    engine: Engine,
    faults: tuple[JobFault, ...] = (),
) -> list[object]:
    """Return the trace of one run, with how many records every task has processed."""
    env = Environment(seed, parse_ties(ties, seed), keep_trace=True)
    world = DataflowWorld(
        env, replace(model, engine=engine), faults=FaultPlan(faults), observer=BufferOracle
    )
    world.run()
    assert [v for v in world.violations if v[0] not in HAZARDS] == []
    for task in world.tasks:
        task.sync()
    counts = [(task.entity.name, task.processed) for task in world.tasks]
    return [*env.trace.entries, *counts]


def assert_same(scenario: Scenario, seed: int) -> None:
    """Compare the drivers on one job with its faults."""
    model, faults = scenario.model, cast("tuple[JobFault, ...]", scenario.faults)
    assert isinstance(model, Job)
    fast = trace(model, seed, "structural", Engine.CALLBACKS, faults)
    assert fast == trace(model, seed, "structural", Engine.PROCESSES, faults)


@settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=jobs(), seed=st.integers(0, 10**6))
def test_drivers_agree_on_random_jobs(model: Job, seed: int) -> None:
    """Stretches and block arithmetic change nothing that can be seen, whatever the job."""
    fast = trace(model, seed, "structural", Engine.CALLBACKS)
    slow = trace(model, seed, "structural", Engine.PROCESSES)
    assert fast == slow


@pytest.mark.long
@settings(
    max_examples=600, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=jobs(), seed=st.integers(0, 10**6))
def test_drivers_agree_on_many_random_jobs(model: Job, seed: int) -> None:
    """The same on many more jobs."""
    fast = trace(model, seed, "structural", Engine.CALLBACKS)
    assert fast == trace(model, seed, "structural", Engine.PROCESSES)


@settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(scenario=faulty_jobs(), seed=st.integers(0, 10**6))
def test_drivers_agree_on_random_faulty_jobs(scenario: Scenario, seed: int) -> None:
    """Whatever happens to a job, both drivers show the same, and no property breaks."""
    assert_same(scenario, seed)


@pytest.mark.long
@settings(
    max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(scenario=faulty_jobs(), seed=st.integers(0, 10**6))
def test_drivers_agree_on_many_random_faulty_jobs(scenario: Scenario, seed: int) -> None:
    """The same on many more jobs."""
    assert_same(scenario, seed)


@pytest.mark.parametrize("rate_per_s", [None, 300.0])
def test_drivers_agree_on_a_source_that_stands_still_at_once(rate_per_s: float | None) -> None:
    """A mail that comes at the instant of the start finds a source that has not begun."""
    model = job(rate_per_s=rate_per_s)
    stall = (StallTask(vertex="source", subtask=0, at_ns=0, lasts_ns=8 * MS),)
    fast = trace(model, 4, "structural", Engine.CALLBACKS, stall)
    assert fast == trace(model, 4, "structural", Engine.PROCESSES, stall)


@pytest.mark.parametrize("name", ["back_pressure_aligned", "alignment_timeout", "bounded_union"])
def test_drivers_agree_on_the_library(name: str) -> None:
    """Whole library scenarios, at their full length, have one trace."""
    model = by_name(name).model
    assert isinstance(model, Job)
    fast = trace(model, 1, "structural", Engine.CALLBACKS)
    assert fast == trace(model, 1, "structural", Engine.PROCESSES)
