"""Faults that strike in an attempt, restarts that they use up, and sources that start up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.scenarios import ScenarioError
from ckptsim.scenarios.files import loads
from ckptsim.scenarios.job import ExponentialDelay, FixedDelay, Job, Plane
from ckptsim.scenarios.job.faults import CrashTask, StallTask
from ckptsim.scenarios.job.restart import FailureRate
from ckptsim.sim.world import run_world

S = 1_000_000_000
JOB = """
name = "attempts"
link = "barriers"
says = "a job that fails in its attempts"

[job]
duration = "5 min"
vertices = [
    { name = "source", kind = "source", rate = "20 /s" },
    { name = "sink", kind = "sink", inputs = [{ upstream = "source" }] },
]
checkpointing = { interval = "10 s", first_trigger = "10 s" }
restart = { kind = "fixed_delay", delay = "5 s", attempts = 3 }

[[faults]]
kind = "crash_task"
vertex = "sink"
"""
EVERY = JOB + 'every_attempt = true\nafter = "15 s"\n'


def times_s(text: str, **values: object) -> tuple[list[float], str, float]:
    """Return when a job failed and came back, how it ended, and when."""
    scenario = loads(text, source="attempts.toml")
    assert isinstance(scenario.model, Job)
    found = run_world(replace(scenario, model=replace(scenario.model, **values)), seed=0)
    assert not found.violations
    failed = [row.failed_ns / S for row in found.recoveries]
    return failed, found.run.outcome, found.run.ended_ns / S


def test_a_fault_of_every_attempt_uses_up_the_restarts() -> None:
    """Each of four attempts fails 15 s after its begin, and then the job has failed."""
    failed, outcome, ended_s = times_s(EVERY)
    assert failed == pytest.approx([15, 35, 55])
    assert (outcome, ended_s) == ("failed", pytest.approx(75))


def test_without_an_end_of_restarts_the_clock_ends_the_run() -> None:
    """A job that is restarted without end fails until its run is over, which is no violation."""
    failed, outcome, ended_s = times_s(EVERY, restart=FixedDelay(delay_ns=5 * S))
    assert (len(failed), outcome, ended_s) == (15, "completed", 300)


def test_strategies_count_what_strikes_in_every_attempt() -> None:
    """Three failures in a minute are too many for a rate, and delays grow up to their last one."""
    rate = FailureRate(max_failures_per_interval=2, interval_ns=60 * S, delay_ns=5 * S)
    assert times_s(EVERY, restart=rate)[2] == pytest.approx(55)
    growing = ExponentialDelay(
        initial_backoff_ns=S, backoff_multiplier=2.0, jitter_factor=0.0, attempts=3
    )
    failed, outcome, ended_s = times_s(EVERY, restart=growing)
    assert failed == pytest.approx([15, 31, 48])
    assert (outcome, ended_s) == ("failed", pytest.approx(67))


def test_a_fault_strikes_in_its_attempt_alone() -> None:
    """The second attempt fails after its second. Without a first failure there is none."""
    second = 'attempt = 2\nafter = "1 s"\n'
    assert times_s(JOB + second)[0] == []
    first = '\n[[faults]]\nkind = "crash_job_manager"\nat = "12 s"\n'
    assert times_s(JOB + second + first)[0] == pytest.approx([12, 18])


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("", "faults[0].at_ns: found nothing, expected an instant, or attempt or every_attempt"),
        ('at = "1 s"\nattempt = 2\n', "faults[0].at_ns: found 1 s, expected nothing, beside"),
        ('at = "1 s"\nafter = "1 s"\n', "faults[0].at_ns: found 1 s, expected nothing, beside"),
        ("attempt = 2\nevery_attempt = true\n", "faults[0].attempt: found 2, expected nothing"),
    ],
)
def test_instants_that_do_not_fit_are_refused(lines: str, problem: str) -> None:
    """A fault has one instant: of the run, of an attempt, or of every one."""
    with pytest.raises(ScenarioError) as caught:
        loads(JOB + lines, source="attempts.toml")
    assert any(problem in str(one) for one in caught.value.problems)


def test_what_never_ends_is_refused_on_records() -> None:
    """No clock ends a run on records, so restarts without end are refused beside such a fault."""
    scenario = loads(EVERY, source="attempts.toml")
    model = scenario.model
    assert isinstance(model, Job)
    endless = replace(model, plane=Plane.RECORDS, restart=FixedDelay())
    fault = CrashTask(vertex="sink", every_attempt=True, after_ns=S)
    assert [one.path for one in fault.problems_in(endless)] == ["every_attempt"]
    assert not fault.problems_in(model)
    assert not StallTask(vertex="sink", attempt=3, lasts_ns=S).problems_in(endless)


STARTING = JOB.replace('rate = "20 /s"', 'rate = "20 /s", startup = "2 min"').partition("[[")[0]


def triggers_s(meanwhile: str | None) -> list[float]:
    """Return when checkpoints were triggered, with an interval while the source starts up."""
    line = "" if meanwhile is None else f', interval_during_backlog = "{meanwhile}"'
    text = STARTING.replace('first_trigger = "10 s"', f'first_trigger = "10 s"{line}')
    found = run_world(loads(text, source="starting.toml"), seed=0)
    assert not found.violations
    return [round(row.triggered_ns / S, 1) for row in found.checkpoints]


def test_the_interval_is_another_while_a_source_starts_up() -> None:
    """No trigger comes meanwhile with 0, and the next one an interval after it has started."""
    assert triggers_s(None)[:2] == [10, 120]
    assert triggers_s("0 s")[:2] == [130, 140]
    assert triggers_s("90 s")[:2] == [10, 120]


def test_a_source_that_never_gets_through_its_start_ends_the_job() -> None:
    """Each attempt ends with its first expired checkpoint, as none has one to begin from."""
    text = STARTING.replace("checkpointing = {", 'checkpointing = { timeout = "30 s",')
    failed, outcome, ended_s = times_s(text)
    assert failed[0] == pytest.approx(40)
    assert (len(failed), outcome) == (3, "failed")
    assert 150 < ended_s < 200


@pytest.mark.parametrize("engine", ["processes", "compiled"])
def test_the_backlog_is_gone_before_results_are_fresh(engine: str) -> None:
    """Sources have emitted all due records while some still wait in buffers, on either driver."""
    timed = f'duration = "2 min"\nengine = "{engine}"\nrecovery = {{ timed = true }}'
    text = JOB.replace('duration = "5 min"', timed).replace("20 /s", "700 /s")
    found = run_world(loads(text + 'at = "25 s"\n', source="timed.toml"), seed=0)
    (row,) = found.recoveries
    assert row.backlog_gone_ns is not None
    assert row.caught_up_ns is not None
    assert row.first_record_ns is not None
    assert row.first_record_ns < row.backlog_gone_ns < row.caught_up_ns
    # Down for 5.3 s and 5 s back, at 70 % of the capacity. Buffers hold the last 1.7 s.
    worked_off_s = 25 + 5.3 + (5.3 + 5) * 0.7 / 0.3
    assert row.backlog_gone_ns == pytest.approx((worked_off_s - 1.7) * S, abs=S)
