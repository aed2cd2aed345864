"""Both drivers of the one model give the same trace."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios.catalogue import by_name
from scenarios.dataflow import DataflowModel, Engine
from sim.dataflow import DataflowWorld
from sim.kernel import Environment, parse_ties
from tests.dataflow.strategies import jobs


def trace(model: DataflowModel, seed: int, ties: str, engine: Engine) -> list[object]:
    """Return the trace of one run, with how many records every task has processed."""
    env = Environment(seed, parse_ties(ties, seed), keep_trace=True)
    world = DataflowWorld(env, replace(model, engine=engine))
    world.run()
    for task in world.tasks:
        task.sync()
    counts = [(task.entity.name, task.processed) for task in world.tasks]
    return [*env.trace.entries, *counts]


@settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=jobs(), seed=st.integers(0, 10**6))
def test_drivers_agree_on_random_jobs(model: DataflowModel, seed: int) -> None:
    """Stretches and block arithmetic change nothing that can be seen, whatever the job."""
    fast = trace(model, seed, "structural", Engine.CALLBACKS)
    slow = trace(model, seed, "structural", Engine.PROCESSES)
    assert fast == slow


@pytest.mark.long
@settings(
    max_examples=600, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=jobs(), seed=st.integers(0, 10**6))
def test_drivers_agree_on_many_random_jobs(model: DataflowModel, seed: int) -> None:
    """The same on many more jobs."""
    fast = trace(model, seed, "structural", Engine.CALLBACKS)
    assert fast == trace(model, seed, "structural", Engine.PROCESSES)


@pytest.mark.parametrize("name", ["back_pressure_aligned", "alignment_timeout", "bounded_union"])
def test_drivers_agree_on_the_library(name: str) -> None:
    """Whole library scenarios, at their full length, have one trace."""
    model = by_name(name).model
    assert isinstance(model, DataflowModel)
    fast = trace(model, 1, "structural", Engine.CALLBACKS)
    assert fast == trace(model, 1, "structural", Engine.PROCESSES)
