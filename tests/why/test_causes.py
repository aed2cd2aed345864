"""Causes that are known by construction are named: subtask and phase."""

from __future__ import annotations

import pytest

from ckptsim.scenarios import Scenario, UserError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.why import cause_lines, why
from ckptsim.sim.world import run_world
from tests.why.jobs import CASES, Case, buffers, operator, source

_PHASES = {
    "trigger_delay", "start_delay", "alignment", "sync", "async", "acknowledge", "commit",
    "detection", "restart_delay", "scheduling", "restore", "catch_up",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_cause_is_named(case: Case) -> None:
    """The answer names the subtask and the phase that the job was built to suffer from."""
    found = why(case.scenario, case.target, simulate=False)
    assert found.cause is not None
    cause = found.cause
    assert (cause.vertex, cause.subtask, cause.phase) == case.right
    assert cause.share is not None
    assert 0.3 < cause.share <= 1
    assert len(found.lines) <= 6


def test_every_phase_is_the_cause_of_some_job() -> None:
    """No phase is left without a job in which it is the cause."""
    assert {case.right[2] for case in CASES} == _PHASES


def test_a_path_has_no_gap_and_ends_with_the_checkpoint() -> None:
    """Each step of a critical path begins where the one before it ends."""
    result = run_world(_SLOW.scenario, seed=0, keep_trace=True)
    found = why(_SLOW.scenario, 2, simulate=False)
    ends = [step.until_ns for step in found.path]
    assert [step.from_ns for step in found.path[1:]] == ends[:-1]
    assert ends[-1] == result.checkpoints[1].completed_ns


def test_a_remedy_is_simulated() -> None:
    """Each remedy has the duration of the same checkpoint in a run with its change."""
    found = why(_SLOW.scenario, 2)
    shorter = {one.says: one.duration_ns or 0 for one in found.remedies}
    took_ns = found.path[-1].until_ns - found.path[0].from_ns
    assert shorter["unaligned"] < took_ns / 5
    assert "unaligned: " in found.lines[-1]


@pytest.mark.parametrize(
    ("name", "first"),
    [("paused garbage collector", "no pause of agg[1]"), ("late file of one", "file in time"),
     ("trigger that comes late to a source", "trigger in time"),
     ("slow storage reads", "19.1 MiB/s read"),
     ("storage that is slow for a time", "the storage as usual"),
     ("files that come late to a global committer", "files in time")],
)  # fmt: skip
def test_the_remedy_that_removes_the_cause_comes_first(name: str, first: str) -> None:
    """Remedies stand by their effect, so a run without the cause itself is the first one."""
    case = next(one for one in CASES if one.name == name)
    found = why(case.scenario, case.target)
    assert found.remedies[0].says == first
    took_ns = found.path[-1].until_ns - found.path[0].from_ns
    assert (found.remedies[0].duration_ns or 0) < 0.7 * took_ns


def test_an_answer_is_the_same_in_both_drivers() -> None:
    """The compiled driver has the trace of the reference, so it has the same answers."""
    job = by_name("back_pressure_aligned")
    texts = {
        str(why(_with_engine(job, engine), 2, simulate=False))
        for engine in ("compiled", "processes")
    }
    assert len(texts) == 1


def test_a_checkpoint_that_was_never_triggered_has_a_reason() -> None:
    """A checkpoint that was due but not triggered waits for the one that was under way."""
    case = buffers(
        "never", 2, (None, None, ""),
        [source(rate="10000 /s"), operator("agg", "source", parallelism=1, service="1 ms")],
        duration="1200 ms",
    )  # fmt: skip
    found = why(case.scenario, 2)
    assert "never triggered" in found.lines[0]
    assert found.cause is not None
    assert (found.cause.vertex, found.cause.phase) == ("agg", "trigger_delay")


def test_a_run_without_checkpoints_has_a_reason() -> None:
    """A run in which nothing was triggered says why: they are off, or it ended before."""
    vertices = [source(), operator("agg", "source")]
    off = buffers("off", 1, (None, None, ""), vertices, checkpointing={"enabled": False})
    assert "job.checkpointing.enabled" in str(why(off.scenario))
    late = buffers("late", 1, (None, None, ""), vertices, checkpointing={"first_trigger": "9 s"})
    assert "The run ended at 2 s, before the first trigger at 9 s." in str(why(late.scenario))


@pytest.mark.parametrize(
    ("target", "says"),
    [(77, "one of 1 to 3 (2 completed, 1 pending)"), ("expired", "no such checkpoint"),
     ("recovery 1", "a run with recoveries")],
)  # fmt: skip
def test_what_a_run_does_not_have_is_refused(target: int | str, says: str) -> None:
    """A checkpoint or recovery that the run does not have is an error that lists what it has."""
    with pytest.raises(UserError) as refused:
        why(_SLOW.scenario, target)
    assert says in str(refused.value)


def test_a_scenario_without_a_job_is_refused() -> None:
    """Only jobs with coordinated checkpoints have a critical path."""
    with pytest.raises(UserError, match="expected a job with coordinated checkpoints"):
        why(by_name("reference"))


def test_a_run_has_a_line_for_each_outcome() -> None:
    """The slowest checkpoint, failed ones by group, and each recovery have one line each."""
    job = by_name("recovery_in_its_time")
    lines = list(cause_lines(job, run_world(job, seed=0, keep_trace=True)))
    assert [line.split(" took")[0] for line in lines] == [
        "Checkpoint 6",
        "Recovery 1",
        "Recovery 2",
    ]
    failing = by_name("failed_part_of_shared_file")
    told = list(cause_lines(failing, run_world(failing, seed=0, keep_trace=True)))
    assert any(" declined it " in line for line in told)


_SLOW = CASES[0]


def _with_engine(scenario: Scenario, engine: str) -> Scenario:
    return with_parameters(scenario, {"job.engine": engine, "job.checkpointing.count": 2})
