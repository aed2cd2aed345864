"""Task managers that are lost in silence, on both planes: when that is known, and what follows."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from ckptsim.scenarios import Scenario, ScenarioError
from ckptsim.scenarios.files import plain
from ckptsim.scenarios.job import Plane
from ckptsim.sim.rows import RecoveryRow
from ckptsim.sim.world import run_world
from tests.job.buffers.plans import crashing_job
from tests.job.many import is_hazard
from tests.job.records.plans import random_job, scenario_of
from tests.job.records.small import small
from tests.many import TIES

MS = 1_000_000
S = 1_000 * MS
_INTERVAL_NS, _TIMEOUT_NS = 1 * S, 5 * S


def scenario(
    plane: Plane, *faults: dict[str, Any], engine: str | None = None, **recovery: Any
) -> Scenario:
    """Return a source and an operator on two task managers, and faults."""
    source = {"name": "source", "kind": "source", "records": 2_000, "rate_per_s": 100}
    operator = {"name": "operator", "inputs": [{"upstream": "source"}]}
    heartbeat = {"heartbeat_interval_ns": _INTERVAL_NS, "heartbeat_timeout_ns": _TIMEOUT_NS}
    job: dict[str, Any] = {
        "plane": plane.value,
        "vertices": [vertex | {"parallelism": 2} for vertex in (source, operator)],
        "duration_ns": 60 * S,
        "checkpointing": {"interval_ns": S},
        "recovery": heartbeat | recovery,
        "restart": {"kind": "fixed_delay", "delay_ns": 100 * MS},
    }
    if engine is not None:
        job["engine"] = engine
    return small(job, *faults)


def lost(at_ns: int, symptom: str, subtask: int = 0) -> dict[str, Any]:
    """Return the loss of the task manager of an operator."""
    fault = {"kind": "crash_task_manager", "vertex": "operator", "subtask": subtask}
    return fault | {"at_ns": at_ns, "symptom": symptom}


def crash(at_ns: int) -> dict[str, Any]:
    """Return the failure of a source on the other task manager."""
    return {"kind": "crash_task", "vertex": "source", "subtask": 1, "at_ns": at_ns}


def recoveries(made: Scenario, seed: int = 1) -> list[RecoveryRow]:
    """Run a job in which nothing may break. Return its recoveries."""
    result = run_world(made, seed=seed)
    assert result.violations == []
    assert result.run.outcome == "completed"
    return result.recoveries


def undetected_ns(row: RecoveryRow) -> int:
    """Return how long a failure was not known."""
    assert row.detected_ns is not None
    return row.detected_ns - row.failed_ns


@pytest.mark.parametrize("plane", Plane)
def test_silence_is_known_by_the_time_out_less_the_phase(plane: Plane) -> None:
    """The time-out counts from the latest heartbeat, up to an interval before the loss."""
    made = scenario(plane, lost(4 * S + 1, "silent"))
    found = [undetected_ns(one) for seed in range(8) for one in recoveries(made, seed)]
    assert len(found) == 8
    assert all(_TIMEOUT_NS - _INTERVAL_NS < took <= _TIMEOUT_NS for took in found)
    assert max(found) - min(found) > _INTERVAL_NS // 4


@pytest.mark.parametrize("plane", Plane)
def test_an_address_that_cannot_be_reached_is_known_after_two_requests(plane: Plane) -> None:
    """So after one interval and a part of one. Without a threshold, only the time-out counts."""
    made = scenario(plane, lost(4 * S + 1, "unreachable"))
    found = [undetected_ns(one) for seed in range(8) for one in recoveries(made, seed)]
    assert all(_INTERVAL_NS < took <= 2 * _INTERVAL_NS for took in found)
    three = scenario(plane, lost(4 * S + 1, "unreachable"), heartbeat_rpc_failure_threshold=3)
    assert [undetected_ns(one) for one in recoveries(three)] == [found[1] + _INTERVAL_NS]


@pytest.mark.parametrize("plane", Plane)
def test_a_broken_connection_is_known_at_once(plane: Plane) -> None:
    """As an exception is. Heartbeats play no part."""
    (row,) = recoveries(scenario(plane, lost(4 * S, "connections_break")))
    assert undetected_ns(row) == 0


@pytest.mark.parametrize("plane", Plane)
def test_both_planes_know_of_a_loss_at_the_same_instant(plane: Plane) -> None:
    """The phase is drawn by the seed alone, for all task managers of a run."""
    faults = lost(2 * S, "silent"), lost(9 * S, "silent", subtask=1)
    rows = recoveries(scenario(plane, *faults), 3)
    other = recoveries(scenario(Plane.RECORDS, *faults), 3)
    assert [row.detected_ns for row in rows] == [row.detected_ns for row in other]
    assert len(rows) == 2
    assert (rows[1].detected_ns - rows[0].detected_ns) % _INTERVAL_NS == 0  # type: ignore[operator]


@pytest.mark.parametrize("plane", Plane)
def test_no_restart_while_a_silent_task_manager_may_still_run_tasks(plane: Plane) -> None:
    """A task elsewhere fails meanwhile: one restart, when the loss is known."""
    silent, failed = recoveries(scenario(plane, lost(4 * S + 1, "silent"), crash(5 * S)))
    assert silent.resumed_ns == failed.resumed_ns
    assert failed.detected_ns == 5 * S
    detected_ns = (
        undetected_ns(recoveries(scenario(plane, lost(4 * S + 1, "silent")))[0]) + 4 * S + 1
    )
    assert failed.resumed_ns == detected_ns


@pytest.mark.parametrize("plane", Plane)
def test_a_new_job_manager_waits_for_no_silent_task_manager(plane: Plane) -> None:
    """It knows only who registers with it."""
    fails = {"kind": "crash_job_manager", "at_ns": 5 * S}
    silent, failed = recoveries(scenario(plane, lost(4 * S, "silent"), fails))
    assert silent.resumed_ns == failed.resumed_ns == 5 * S + 100 * MS


@pytest.mark.parametrize("plane", Plane)
def test_no_checkpoint_completes_with_a_task_that_is_silent(plane: Plane) -> None:
    """Neither one that it has begun nor one that is triggered before the loss is known."""
    result = run_world(scenario(plane, lost(4 * S + 1, "silent")), seed=1)
    (row,) = result.recoveries
    ended = [one.completed_ns for one in result.checkpoints if one.status == "completed"]
    assert not [at for at in ended if at and row.failed_ns < at < (row.detected_ns or 0)]
    assert [at for at in ended if at and at > (row.detected_ns or 0)]


def test_a_timed_failover_begins_when_the_loss_is_known() -> None:
    """Sources go on until they are cancelled, so more is done again than at a crash."""
    made = scenario(Plane.BUFFERS, lost(4 * S + 1, "silent"), timed=True)
    (row,) = recoveries(made)
    (broken,) = recoveries(
        scenario(Plane.BUFFERS, lost(4 * S + 1, "connections_break"), timed=True)
    )
    assert _TIMEOUT_NS - _INTERVAL_NS < undetected_ns(row) <= _TIMEOUT_NS
    assert row.canceled_ns is not None
    assert row.detected_ns is not None
    assert row.canceled_ns > row.detected_ns
    assert row.records_reprocessed > broken.records_reprocessed


def test_the_reference_driver_kills_tasks_too() -> None:
    """It gives the same course as the compiled one."""
    faults = lost(4 * S + 1, "silent"), lost(12 * S, "unreachable")
    made = [scenario(Plane.BUFFERS, *faults, engine=one) for one in ("processes", "compiled")]
    first, second = (recoveries(one) for one in made)
    assert [replace(row, run_key="") for row in first] == [
        replace(row, run_key="") for row in second
    ]


def test_a_time_out_within_the_interval_is_refused() -> None:
    """Its place, the present state and what may stand there."""
    with pytest.raises(ScenarioError) as caught:
        scenario(Plane.RECORDS, heartbeat_interval_ns=_TIMEOUT_NS)
    says = "heartbeat_timeout_ns: found 5 s, expected more than heartbeat_interval, 5 s"
    assert str(caught.value) == f"JSON: job.recovery.{says}"


def silenced(seed: int) -> Scenario:
    """Return a random job of either plane that loses task managers in silence."""
    random = Random(f"silenced {seed}")
    text: Any = plain((random_job if seed % 2 else crashing_job)(seed))
    job = text["job"]
    last_ns = 8 * int(job["checkpointing"].get("interval_ns", S))
    interval_ns = random.randint(1_000_000, max(2_000_000, last_ns // 4))
    job["recovery"] = {
        "heartbeat_interval_ns": interval_ns,
        "heartbeat_timeout_ns": interval_ns * 5,
        "timed": seed % 4 == 0,
    }
    for _ in range(random.randint(1, 3)):
        vertex = random.choice(job["vertices"])
        text["faults"].append(
            lost(random.randint(1, last_ns), random.choice(("silent", "unreachable")))
            | {"vertex": vertex["name"]}
        )
    return scenario_of(text)


def check_many(seeds: range) -> int:
    """Run random jobs in which nothing may break. Return how many losses were detected."""
    found = 0
    for seed in seeds:
        made = silenced(seed)
        result = run_world(made, seed=seed, ties=TIES[seed % len(TIES)])
        assert [one for one in result.violations if not is_hazard(made, one)] == [], f"seed {seed}"
        found += dict(result.goals).get("lost_by_heartbeat", 0)
    return found


def test_random_jobs_that_lose_task_managers_in_silence_break_nothing() -> None:
    """Of either plane, timed or at once. Most of them really wait for a heartbeat."""
    assert check_many(range(24)) >= 12


@pytest.mark.long
def test_many_random_jobs_that_lose_task_managers_in_silence_break_nothing() -> None:
    """The same by the hundred."""
    assert check_many(range(24, 624)) >= 300


@pytest.mark.parametrize("symptom", ["silent", "unreachable"])
def test_the_mean_over_all_phases_is_that_of_the_closed_form(symptom: str) -> None:
    """Losses spread evenly over an interval are unknown for half of one less than the longest."""
    found = []
    for eighth in range(8):
        result = run_world(scenario(Plane.RECORDS, lost(4 * S + eighth * S // 8, symptom)), seed=1)
        (row,) = result.figures
        assert row.figure == "undetected_ns"
        found.append(row.value)
    assert row.expected == {"silent": 4.5, "unreachable": 1.5}[symptom] * S
    assert abs(sum(found) / 8 - row.expected) <= S / 16
