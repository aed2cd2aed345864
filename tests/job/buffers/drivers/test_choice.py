"""Which driver runs a job on buffers: SimPy processes a small one, the kernel a large one."""

from __future__ import annotations

import pytest

import ckptsim as ck
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.job import Job, Plane
from ckptsim.sim.job.buffers.compiled import choice


def test_the_kernel_is_loaded_when_it_would_have_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of many runs begins with processes and changes over once, later to compile."""
    monkeypatch.setattr(choice, "is_ready", lambda: True)
    process = choice._Process()
    assert [process.spends(0.04) for _ in range(4)] == [False, False, True, True]
    monkeypatch.setattr(choice, "is_ready", lambda: False)
    process = choice._Process()
    assert [process.spends(12.0) for _ in range(4)] == [False, False, True, True]


def test_the_barriers_of_the_library_are_simpy_processes() -> None:
    """Scenarios of the library are small: tasks, barriers and waits of each are SimPy processes."""
    found = {
        one.name: ck.run(one).driver
        for one in all_scenarios()
        if isinstance(one.model, Job) and one.model.plane is Plane.BUFFERS
    }
    assert len(found) > 10
    assert set(found.values()) == {"SimPy processes"}


def test_a_result_names_the_kernel_where_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large job is for the kernel, and its result says so."""
    monkeypatch.setattr(choice, "_process", lambda: choice._Process(has_kernel=True))
    monkeypatch.setattr(choice, "SMALL_RECORDS", 100)
    assert ck.run("back_pressure_aligned").driver == "the compiled kernel"
