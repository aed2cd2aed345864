"""Jobs that are submitted again, on both planes: from what, under which mode, and what follows."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ckptsim.scenarios import Scenario, ScenarioError
from ckptsim.scenarios.job import Mode, Plane
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.records.small import small

MS = 1_000_000
_KINDS = {
    Mode.ALIGNED: {"aligned", "savepoint"},
    Mode.UNALIGNED: {"unaligned", "savepoint"},
    Mode.ALIGNED_TIMEOUT: {"timeoutable", "savepoint"},
    Mode.AT_LEAST_ONCE: {"at_least_once"},
}


def scenario(
    plane: Plane, mode: Mode, *faults: dict[str, Any], recorded: str = "none", **table: Any
) -> Scenario:
    """Return a job after back-pressure with two exchanges by key, and faults."""
    source = {"name": "source", "kind": "source", "records": 1_200, "rate_per_s": 2_000}
    by_key = {"upstream": "source", "partitioner": "hash"}
    operator = {"name": "operator", "inputs": [by_key], "service_ns": 2 * MS, "recorded": "running"}
    sink = {"name": "sink", "kind": "sink", "inputs": [by_key | {"upstream": "operator"}]}
    vertices = [source | {"recorded": recorded}, operator, sink | {"recorded": "running"}]
    if recorded == "none":
        vertices = [{k: v for k, v in one.items() if k != "recorded"} for one in vertices]
    checkpointing = {"interval_ns": 200 * MS, "mode": mode.value, "aligned_timeout_ns": 5 * MS}
    job = {
        "plane": plane.value,
        "vertices": [vertex | {"parallelism": 2} for vertex in vertices],
        "duration_ns": 60_000 * MS,
        "checkpointing": checkpointing | {"min_pause_ns": 200 * MS} | table,
        "restart": {"kind": "fixed_delay", "delay_ns": 10 * MS},
    }
    return small(job, *faults)


def savepoint(at_ms: int) -> dict[str, Any]:
    """Return the request of a savepoint."""
    return {"kind": "request_savepoint", "at_ns": at_ms * MS}


def resubmit(at_ms: int, **changes: Any) -> dict[str, Any]:
    """Return a cancellation and resubmission."""
    return {"kind": "resubmit", "at_ns": at_ms * MS} | changes


def crash(at_ms: int) -> dict[str, Any]:
    """Return the failure of an operator."""
    return {"kind": "crash_task", "vertex": "operator", "at_ns": at_ms * MS}


def run(made: Scenario, seed: int = 1) -> RunResult:
    """Run a job in which nothing may break, to its end."""
    result = run_world(made, seed=seed)
    assert result.violations == []
    assert result.run.outcome == "completed"
    return result


@pytest.mark.parametrize("plane", Plane)
@pytest.mark.parametrize("after", Mode)
@pytest.mark.parametrize("before", Mode)
def test_every_mode_goes_on_under_every_other(plane: Plane, before: Mode, after: Mode) -> None:
    """Checkpoints of either attempt are of its mode, and no record is lost or repeated."""
    result = run(scenario(plane, before, resubmit(1_000, mode=after.value)))
    (row,) = result.recoveries
    assert row.restored_from is not None
    assert row.restored_from.startswith("checkpoint ")
    kinds: dict[int, set[str]] = {}
    for one in result.checkpoints:
        kinds.setdefault(one.attempt, set()).add(one.kind)
    assert kinds[1] <= _KINDS[before]
    assert kinds[2] <= _KINDS[after]


@pytest.mark.parametrize("plane", Plane)
def test_a_resubmission_begins_from_a_newer_savepoint_and_a_restart_does_not(plane: Plane) -> None:
    """The savepoint is the newest of all when the job is stopped. A failure goes after it."""
    asked = savepoint(230), {"kind": "request_checkpoint", "at_ns": 10 * MS}
    long = {"interval_ns": 20_000 * MS, "min_pause_ns": 0, "first_trigger_ns": 20_000 * MS}
    (again,) = run(scenario(plane, Mode.ALIGNED, *asked, resubmit(600), **long)).recoveries
    (failed,) = run(scenario(plane, Mode.ALIGNED, *asked, crash(600), **long)).recoveries
    assert again.restored_from == "checkpoint 2"
    assert failed.restored_from == "checkpoint 1"
    assert failed.records_reprocessed > again.records_reprocessed


@pytest.mark.parametrize("plane", Plane)
def test_a_savepoint_from_before_a_failure_is_not_begun_from(plane: Plane) -> None:
    """The restart went back past it, and aborted the transactions that it holds."""
    asked = {"kind": "request_checkpoint", "at_ns": 10 * MS}, savepoint(230)
    long = {"interval_ns": 20_000 * MS, "min_pause_ns": 0, "first_trigger_ns": 20_000 * MS}
    made = scenario(plane, Mode.ALIGNED, *asked, crash(600), resubmit(700), **long)
    rows = run(made).recoveries
    assert [row.restored_from for row in rows] == ["checkpoint 1", "checkpoint 1"]


@pytest.mark.parametrize("plane", Plane)
def test_what_a_job_was_submitted_from_is_what_it_falls_back_on(plane: Plane) -> None:
    """It fails before its own first checkpoint is complete, and comes back from the savepoint."""
    long = {"interval_ns": 20_000 * MS, "min_pause_ns": 0, "first_trigger_ns": 20_000 * MS}
    faults = savepoint(230), resubmit(600), crash(700)
    rows = run(scenario(plane, Mode.UNALIGNED, *faults, **long)).recoveries
    assert [row.restored_from for row in rows] == ["checkpoint 1", "checkpoint 1"]


@pytest.mark.parametrize("plane", Plane)
@pytest.mark.parametrize("parallelism", [1, 3, 8])
def test_a_savepoint_is_rescaled(plane: Plane, parallelism: int) -> None:
    """Under another mode at once, and back with the next submission."""
    first = resubmit(600, mode="unaligned", vertex="operator", parallelism=parallelism)
    faults = savepoint(230), first, resubmit(900, vertex="operator", parallelism=2)
    result = run(scenario(plane, Mode.ALIGNED, *faults))
    assert result.goals["restored_rescaled"] == 2
    assert result.goals["resubmitted"] == 2


@pytest.mark.parametrize("plane", Plane)
def test_vertices_that_had_finished_stay_so(plane: Plane) -> None:
    """A job that began from a checkpoint with finished vertices is submitted again from one."""
    made = scenario(
        plane,
        Mode.UNALIGNED,
        resubmit(600, mode="aligned"),
        recorded="partial",
        interval_ns=100 * MS,
        min_pause_ns=0,
    )
    result = run(made)
    assert result.goals["restored_partly_finished"] == 1


def test_a_job_manager_that_comes_back_knows_the_mode_of_the_submission() -> None:
    """Its coordinator asks for checkpoints of the mode that the tasks are in."""
    fails = {"kind": "crash_job_manager", "at_ns": 700 * MS}
    made = scenario(Plane.RECORDS, Mode.ALIGNED, resubmit(500, mode="unaligned"), fails)
    kinds = {one.kind for one in run(made).checkpoints if one.attempt == 3}
    assert kinds == {"unaligned"}


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"mode": "unaligned"}, "an aligned mode, because unaligned checkpoints do not run"),
        ({"vertex": "nobody"}, 'found "nobody", expected one of "'),
    ],
)
def test_what_cannot_be_is_refused(fault: dict[str, Any], says: str) -> None:
    """The message says what may stand there."""
    with pytest.raises(ScenarioError, match=says):
        scenario(Plane.BUFFERS, Mode.ALIGNED, resubmit(500, **fault), max_concurrent=2)


def random_faults(seed: int) -> list[dict[str, Any]]:
    """Return savepoints, resubmissions and failures by chance."""
    random = Random(f"resubmitted {seed}")
    found = [savepoint(random.randint(1, 900)) for _ in range(random.randint(0, 2))]
    for _ in range(random.randint(1, 3)):
        changes: dict[str, Any] = {"mode": random.choice(("as_before", *Mode))}
        if random.random() < 0.5:
            changes |= {"vertex": "operator", "parallelism": random.randint(1, 8)}
        found.append(resubmit(random.randint(1, 1_500), **changes))
    return [*found, *(crash(random.randint(1, 1_500)) for _ in range(random.randint(0, 2)))]


@pytest.mark.parametrize("plane", Plane)
def test_random_resubmissions_break_nothing(plane: Plane) -> None:
    """Of any mode into any other, with other parallelisms, from savepoints and checkpoints."""
    check_many(plane, range(12))


@pytest.mark.long
@pytest.mark.parametrize("plane", Plane)
def test_many_random_resubmissions_break_nothing(plane: Plane) -> None:
    """The same by the hundred."""
    check_many(plane, range(12, 312))


def check_many(plane: Plane, seeds: range) -> None:
    """Run random jobs under every mode."""
    modes = list(Mode)
    for seed in seeds:
        made = scenario(plane, modes[seed % len(modes)], *random_faults(seed))
        assert run_world(made, seed=seed).violations == [], f"seed {seed}"


@pytest.mark.parametrize("plane", Plane)
@pytest.mark.parametrize("before", [(), (crash(795),)])
def test_a_cancelled_job_does_not_come_back(plane: Plane, before: tuple[dict[str, Any]]) -> None:
    """It ends at that instant, also while it restarts.

    Everything that was complete can be restored.
    """
    made = scenario(plane, Mode.UNALIGNED, *before, {"kind": "cancel", "at_ns": 800 * MS})
    result = run(made)
    assert result.run.ended_ns == 800 * MS
    assert result.run.records_committed < 1_200
    assert len(result.recoveries) == len(before)
    completed = [row for row in result.checkpoints if row.status == "completed"]
    assert completed
    assert all((row.completed_ns or 0) <= 800 * MS for row in completed)
