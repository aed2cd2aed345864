"""Which driver runs a job on buffers: SimPy processes the small ones, the kernel the large ones."""

from __future__ import annotations

import pytest

from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.scenarios.job import Job, Plane
from ckptsim.sim.job.buffers.compiled import choice
from ckptsim.sim.job.buffers.compiled.choice import SMALL_RECORDS
from ckptsim.sim.world import run_world


def test_small_jobs_are_for_processes_until_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process runs small jobs by SimPy, a million records of them at most, and large ones not."""
    monkeypatch.setattr(choice, "is_ready", lambda: True)
    process = choice._Process()
    assert [process.accelerates(150_000) for _ in range(8)] == [False] * 6 + [True] * 2
    process = choice._Process()
    assert [process.accelerates(SMALL_RECORDS + more) for more in (0, 1)] == [False, True]


def test_the_kernel_is_compiled_when_it_would_have_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel is not compiled yet, three million records come before."""
    monkeypatch.setattr(choice, "is_ready", lambda: False)
    process = choice._Process()
    assert [process.accelerates(1_600_000) for _ in range(3)] == [False, True, True]


def test_the_barriers_of_the_library_are_simpy_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scenarios of the library are small: tasks, barriers and waits of each are SimPy processes."""
    monkeypatch.setattr(choice, "_process", choice._Process)
    found = {
        one.name: run_world(one, seed=0).driver
        for one in all_scenarios()
        if one.link == "barriers"
        and isinstance(one.model, Job)
        and one.model.plane is Plane.BUFFERS
    }
    assert len(found) > 10
    assert set(found.values()) == {"SimPy processes"}


def test_a_result_names_the_kernel_where_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large job is for the kernel, and its result says so."""
    monkeypatch.setattr(choice, "_process", choice._Process)
    monkeypatch.setattr(choice, "is_ready", lambda: True)
    monkeypatch.setattr(choice, "SMALL_RECORDS", 100)
    assert run_world(by_name("back_pressure_aligned"), seed=0).driver == "the compiled kernel"
