"""A job inside a pipeline, by the compiled driver: its records come from outside and have names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.compiled import choice
from tests.composed.plans import random_pipeline, run_pipeline

TIES = ("structural", "random", "pct")


def seen(seed: int, patch: pytest.MonkeyPatch, *, compiled: bool) -> list[object]:
    """Return all observations of a random pipeline under one of the drivers."""
    patch.setattr(choice, "_is_worth_it", lambda _world: compiled)
    world, result = run_pipeline(random_pipeline(seed, "buffers"), seed, TIES[seed % 3])
    plane = world.job.plane
    assert isinstance(plane, DataflowWorld)
    assert (plane.compiled is not None) == compiled
    world.job.plane.catch_up()
    records = [list(plane.records_of(task.number)) for task in plane.tasks]
    times = [(task.entity.name, task.processed, task.time_in) for task in plane.tasks]
    run = replace(result.run, run_key="", version="", replay="")
    return [
        run,
        result.checkpoints,
        result.tasks,
        result.goals,
        world.store.durable(),
        records,
        times,
    ]


@pytest.mark.parametrize("seed", range(20))
def test_pipelines_run_by_both_drivers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers are asked at the same instants, and each record is where it was."""
    compiled = seen(seed, monkeypatch, compiled=True)
    assert compiled == seen(seed, monkeypatch, compiled=False)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 600, 100))
def test_many_pipelines_run_by_both_drivers(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same over many more."""
    for seed in range(first, first + 100):
        compiled = seen(seed, monkeypatch, compiled=True)
        assert compiled == seen(seed, monkeypatch, compiled=False), seed
