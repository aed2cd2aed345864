"""How long a job takes to catch up, against the law, and the load at which the law stops."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Job, Mode
from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.sim.cli import main
from ckptsim.sim.job.buffers.restoring.law import catch_up_ns, rates, worked_off_ns
from ckptsim.sim.job.control.failover import FailoverRecord
from ckptsim.sim.world import run_world

S = 1_000_000_000
CAPACITY_PER_S = 2_000.0  # of the job of the library: two subtasks, a millisecond per record


def job(rate: float, *, mode: Mode = Mode.ALIGNED, interval_s: int = 1) -> Job:
    """Return the job of the library at another rate."""
    model = by_name("recovery_in_its_time").model
    assert isinstance(model, Job)
    source, operator = model.vertices
    return replace(
        model,
        vertices=(replace(source, rate_per_s=rate), operator),
        duration_ns=40 * S,
        checkpointing=replace(model.checkpointing, mode=mode, interval_ns=interval_s * S),
    )


@cache
def taken_and_paper(rate: float, mode: Mode, interval_s: int) -> tuple[float, float]:
    """Return how long a run took to catch up with one failure, and what the law says, in s."""
    fails = (CrashTask(vertex="operator", at_ns=8 * S + S // 2),)
    model = job(rate, mode=mode, interval_s=interval_s)
    made = replace(by_name("recovery_in_its_time"), model=model, faults=fails, goals=())
    figures = run_world(made, seed=1).figures
    (row,) = (one for one in figures if one.expected is not None)
    assert row.figure == "worked_off_ns"
    assert row.expected is not None
    return row.value / S, row.expected / S


def test_the_law_is_the_closed_form() -> None:
    """Down for 2 s and a second done again at half load: 2 s, and 3 s of records at the rest."""
    assert catch_up_ns(2 * S, 1_000, 1_000.0, 2_000.0) == 5 * S
    assert catch_up_ns(2 * S, 1_000, 2_000.0, 2_000.0) is None


@pytest.mark.parametrize("mode", [Mode.ALIGNED, Mode.UNALIGNED])
@pytest.mark.parametrize("interval_s", [1, 5])
@pytest.mark.parametrize("rate", [600.0, 1_000.0])
def test_the_law_holds_up_to_half_load(rate: float, interval_s: int, mode: Mode) -> None:
    """Whatever the interval and the mode, within 5 %."""
    taken, paper = taken_and_paper(rate, mode, interval_s)
    assert taken == pytest.approx(paper, rel=0.05)


def test_the_law_stops_near_the_capacity() -> None:
    """A new JVM and checkpoints take a few percent of the capacity, so most of the rest of it.

    The error grows with the load: at nine tenths a third of the time is missing on paper.
    """
    found = [taken_and_paper(rate, Mode.ALIGNED, 1) for rate in (1_000.0, 1_600.0, 1_800.0)]
    errors = [taken / paper - 1 for taken, paper in found]
    assert errors == sorted(errors)
    assert errors[-1] > 0.25


def test_a_job_has_the_capacity_of_its_slowest_subtask() -> None:
    """As records are dealt out evenly, all wait for it. Other jobs have no such number."""
    model = job(1_000.0)
    assert rates(model) == (1_000.0, CAPACITY_PER_S)
    source, operator = model.vertices
    slow = replace(operator, slow_subtask_factor=2.0)
    assert rates(replace(model, vertices=(source, slow))) == (1_000.0, CAPACITY_PER_S / 2)
    others = (
        (replace(source, replayable=False), operator),
        (source, replace(operator, selectivity=2.0)),
    )
    assert [rates(replace(model, vertices=one)) for one in others] == [None, None]


def test_a_run_tells_both(capsys: pytest.CaptureFixture[str]) -> None:
    """Everything that was taken first, then everything that is on paper."""
    assert main(["run", "recovery_in_its_time", "--set", "job.duration=10 s"]) == 0
    told = capsys.readouterr().out
    found = re.search(r"^worked_off_ns +([\d.]+) s: .*, on paper ([\d.]+) s$", told, re.MULTILINE)
    assert found is not None
    assert float(found[1]) == pytest.approx(float(found[2]), rel=0.05)


def test_a_failure_that_is_not_caught_up_with_has_no_time() -> None:
    """The mean over the others would be too good."""
    caught_up = FailoverRecord(1, "it fails", 0, first_record_ns=S, caught_up_ns=3 * S)
    late = FailoverRecord(2, "it fails", 9 * S, first_record_ns=10 * S)
    assert worked_off_ns(job(1_000.0), [caught_up]) == (3 * S, 2 * S)
    assert worked_off_ns(job(1_000.0), [caught_up, late]) is None
    assert worked_off_ns(job(1_000.0), []) is None
