"""What the compiled driver makes of restarts: in their time, after silence, with other subtasks."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Engine, Job, PlacementKind
from ckptsim.scenarios.job.faults import CrashTaskManager, JobFault, Symptom
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.halt import cancel_all_but
from ckptsim.sim.job.oracle.buffers import BufferObserver, BufferOracle
from ckptsim.sim.kernel import Environment
from tests.job.buffers.drivers.test_compiled import run, seen
from tests.job.buffers.plans import crashing_job
from tests.job.records.plans import rescaled_job

MS = 1_000_000
TIES = ("structural", "random", "pct")


def in_time(scenario: Scenario) -> Scenario:
    """Return a job with timed restarts, and with sources by a clock if possible."""
    model = scenario.model
    assert isinstance(model, Job)
    vertices = [
        replace(one, replayable=one.is_source and one.rate_per_s is not None)
        for one in model.vertices
    ]
    recovery = replace(model.recovery, timed=True)
    return replace(scenario, model=replace(model, vertices=tuple(vertices), recovery=recovery))


def silent(scenario: Scenario, number: int) -> Scenario:
    """Return a job with a task manager that is lost in silence."""
    model = scenario.model
    assert isinstance(model, Job)
    symptom = (Symptom.SILENT, Symptom.UNREACHABLE)[number % 2]
    lost = CrashTaskManager(
        vertex=model.vertices[-1].name, subtask=0, at_ns=100 * MS + number, symptom=symptom
    )
    often = {"heartbeat_interval_ns": 10 * MS, "heartbeat_timeout_ns": 50 * MS}
    recovery = replace(model.recovery, **often)
    return replace(
        scenario, model=replace(model, recovery=recovery), faults=(*scenario.faults, lost)
    )


def rescaled(seed: int) -> Scenario:
    """Return a job that is rescaled, at once or in its time."""
    found = rescaled_job(seed, "buffers")
    return found if seed % 3 else in_time(found)


def late(world: DataflowWorld) -> list[object]:
    """Return what each failure was like for the job and for its records."""
    found: list[object] = list(world.control.failovers)
    if world.timed is not None:
        lateness = world.timed.lateness
        lateness.settle()
        nothing = np.empty(0, dtype=np.int64)
        both = np.concatenate([*lateness.ends, nothing]), np.concatenate([*lateness.late, nothing])
        order = np.lexsort(both)
        found += [lateness.began_ns, both[0][order].tolist(), both[1][order].tolist()]
    return found


def assert_same(scenario: Scenario, seed: int, *, followed: bool = True) -> None:
    """Compare the drivers, under an order of ties that goes with the seed.

    followed: by an oracle.
    """
    faults = cast("tuple[JobFault, ...]", scenario.faults)
    observer = BufferOracle if followed else BufferObserver
    found = []
    for engine in (Engine.COMPILED, Engine.PROCESSES):
        model = replace(cast("Job", scenario.model), engine=engine)
        world = run(model, seed, TIES[seed % 3], faults, observer=observer)
        assert (world.compiled is not None) == (engine is Engine.COMPILED)
        found.append(seen(world) + late(world))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(8))
def test_restarts_take_the_same_time(seed: int) -> None:
    """Reading state, handing data over, converting, catching up: all is the same, to the record."""
    assert_same(in_time(crashing_job(seed)), seed)


@pytest.mark.parametrize("seed", range(8))
def test_losses_are_noticed_alike(seed: int) -> None:
    """Others work on while no one knows of a loss, and what they do is the same."""
    scenario = silent(crashing_job(seed), seed)
    assert_same(in_time(scenario) if seed % 3 else scenario, seed)


@pytest.mark.parametrize("seed", range(8))
def test_jobs_are_rescaled_alike(seed: int) -> None:
    """With other subtasks data, state, keys and random streams continue in the same places."""
    assert_same(rescaled(seed), seed)


@pytest.mark.parametrize("seed", range(3))
def test_restarts_are_the_same_where_nobody_listens(seed: int) -> None:
    """Without an oracle there is no log of buffers, but still one of records."""
    assert_same(in_time(crashing_job(seed)), seed, followed=False)


def test_two_jobs_of_one_run_share_streams() -> None:
    """What a second job draws in the same run does not depend on the driver of the first one."""
    found = []
    for first in (Engine.COMPILED, Engine.PROCESSES):
        env = Environment(1)
        for one in (first, Engine.COMPILED):
            job = by_name("back_pressure_aligned").model
            assert isinstance(job, Job)
            job = replace(
                job,
                network=replace(job.network, jitter_ns=MS),
                checkpointing=replace(job.checkpointing, interval_ns=50 * MS),
                placement=PlacementKind.REMOTE,
                duration_ns=env.now + 400 * MS,
                engine=one,
            )
            world = DataflowWorld(env, job)
            world.run()
            if world.compiled is not None:
                world.compiled.give_back_streams()
            cancel_all_but(env, (), env.event())
        assert world.compiled is not None
        left = world.compiled.tables.random.states_in(world.compiled.m)
        found.append({name: words.tolist() for name, words in left.items()})
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 600, 50))
def test_many_restarts_are_the_same(first: int) -> None:
    """The same over many more jobs of each kind."""
    for seed in range(first, first + 50):
        assert_same(in_time(crashing_job(seed)), seed)
        assert_same(silent(crashing_job(seed), seed), seed)
        assert_same(rescaled(seed), seed, followed=seed % 5 != 0)
