"""Time in which a job repeats itself is passed over, and nothing else is different."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.scenarios import Scenario, loads
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Engine, Job, Skip
from ckptsim.sim.job.buffers.skipping import skipper, skips
from ckptsim.sim.job.buffers.skipping.stretch import Stretch, dealt
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.buffers.plans import crashing_job, random_job

SECOND = 1_000_000_000
TEXT = """
name = "long"
link = "barriers"
says = "a keyed job that fails once"

[job]
duration = "200 s"

[[job.vertices]]
name = "log"
kind = "source"
parallelism = 3
rate = "3000 /s"
replayable = true

[[job.vertices]]
name = "filter"
parallelism = 2
inputs = [{ upstream = "log", partitioner = "hash" }]
service = "300 us"
selectivity = 0.3

[[job.vertices]]
name = "store"
kind = "sink"
parallelism = 2
inputs = [{ upstream = "filter", partitioner = "hash" }]
service = "500 us"

[job.checkpointing]
interval = "50 s"

[job.restart]
kind = "fixed_delay"

[job.recovery]
timed = true

[[faults]]
kind = "crash_task"
vertex = "filter"
at = "90 s"
"""


def as_told(skip: Skip, scenario: Scenario | None = None, **rest: object) -> Scenario:
    """Return a scenario with its steady time passed over or not."""
    found = loads(TEXT, source="long") if scenario is None else scenario
    return replace(found, model=replace(found.model, skip=skip, **rest))


def ran(skip: Skip, **rest: object) -> RunResult:
    """Return the run of the job that fails once."""
    return run_world(as_told(skip, **rest), seed=3)


def passed_ns(result: RunResult) -> float:
    """Return how much time a run has passed over."""
    return sum(one.value for one in result.figures if one.figure == "passed_over_ns")


def test_a_long_job_has_the_figures_of_the_whole_run():
    """Records, work, rework and the time to catch up are as in the whole run."""
    whole, some = ran(Skip.NEVER), ran(Skip.ALWAYS)
    assert passed_ns(whole) == 0
    assert passed_ns(some) > 120 * SECOND
    assert not whole.violations
    assert not some.violations
    assert some.run.records_produced == whole.run.records_produced
    assert some.run.records_committed == pytest.approx(whole.run.records_committed, rel=0.001)
    for name in ("log", "filter", "store"):
        for figure in ("records", "busy_ratio"):
            one, other = (
                sum(getattr(row, figure) for row in result.tasks if row.task == name)
                for result in (some, whole)
            )
            assert one == pytest.approx(other, rel=0.01, abs=0.001)
    (recovery,), (expected,) = some.recoveries, whole.recoveries
    assert recovery.restored_from == expected.restored_from
    assert recovery.records_reprocessed == pytest.approx(expected.records_reprocessed, rel=0.01)
    took_ns = recovery.caught_up_ns - recovery.failed_ns
    assert took_ns == pytest.approx(expected.caught_up_ns - expected.failed_ns, rel=0.02)


def test_a_run_that_passes_over_is_the_same_again():
    """The same scenario and seed give one digest, and the whole run has another one."""
    digests = {ran(skip).run.digest for skip in (Skip.ALWAYS, Skip.ALWAYS, Skip.NEVER)}
    assert len(digests) == 2


@pytest.mark.parametrize("skip", [Skip.AUTO, Skip.NEVER])
def test_a_small_job_is_simulated_whole(skip):
    """By default nothing of a job is passed over that moves few buffers."""
    scenario = by_name("back_pressure_aligned")
    whole = run_world(as_told(skip, scenario), seed=1)
    assert whole.run.digest == run_world(scenario, seed=1).run.digest
    assert passed_ns(whole) == 0


def test_a_job_that_moves_many_buffers_is_passed_over_by_default():
    """The estimate counts what each channel flushes, or what it fills."""
    job = loads(TEXT, source="long").model
    assert isinstance(job, Job)
    assert not skips(job)
    assert skips(replace(job, duration_ns=20_000_000 * SECOND // 90))


def test_the_reference_passes_nothing_over():
    """Only the kernel can: a job on processes is simulated whole."""
    result = ran(Skip.ALWAYS, engine=Engine.PROCESSES, duration_ns=20 * SECOND)
    assert passed_ns(result) == 0


def test_a_record_that_is_lost_on_the_way_is_found(monkeypatch):
    """The oracle checks that each vertex processes as much as was sent to it."""
    honest = skipper.stretch_of

    def loses(*given) -> Stretch:
        found = honest(*given)
        found.records[-1] -= 1
        return found

    monkeypatch.setattr(skipper, "stretch_of", loses)
    result = ran(Skip.ALWAYS, duration_ns=20 * SECOND)
    assert "every_record_is_somewhere" in {row.property for row in result.violations}


@pytest.mark.parametrize("make", [random_job, crashing_job])
def test_random_jobs_keep_all_properties(make):
    """Passing over breaks no property that the whole run keeps."""
    passed = 0
    for seed in range(20):
        scenario = make(seed)
        table = replace(scenario.model.checkpointing, interval_ns=4 * SECOND, count=None)
        job = as_told(Skip.ALWAYS, scenario, checkpointing=table, duration_ns=20 * SECOND)
        result = run_world(job, seed=seed)
        passed += passed_ns(result) > 0
        if result.violations:
            whole = run_world(as_told(Skip.NEVER, job), seed=seed)
            known = {row.property for row in whole.violations}
            assert {row.property for row in result.violations} <= known
    assert passed


def test_a_number_is_dealt_out_to_the_last_record():
    """Shares follow the weights, and their sum is the number."""
    assert dealt(10, [1, 1, 1]) == [4, 3, 3]
    assert dealt(7, [0, 3, 1]) == [0, 5, 2]
    assert dealt(5, [0, 0]) == [3, 2]
