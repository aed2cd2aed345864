"""Jobs on buffers that fail and continue from their latest completed checkpoint."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from ckptsim.scenarios import job as jobs
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.cores import Cores
from ckptsim.sim.job.buffers.output import Subpartition
from ckptsim.sim.job.buffers.state import recovery
from ckptsim.sim.job.buffers.state.storage import Storage
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from tests.job.buffers.broken import MS, job
from tests.job.buffers.plans import crashing_job
from tests.job.many import played


def bounded(mode: jobs.Mode = jobs.Mode.UNALIGNED, records: int = 400, **settings: Any) -> jobs.Job:
    """Return a job under back-pressure that ends by itself and is restarted at once."""
    settings = {"duration_ns": 60_000 * MS} | settings
    model = job(mode, **settings)
    vertices = tuple(_with_records(vertex, records) for vertex in model.vertices)
    return replace(model, vertices=vertices, restart=jobs.FixedDelay(delay_ns=0))


def _with_records(vertex: jobs.Vertex, records: int) -> jobs.Vertex:
    return replace(vertex, records=records) if vertex.is_source else vertex


def run(model: jobs.Job, *faults: job_faults.JobFault) -> DataflowWorld:
    """Run a job with faults."""
    world = DataflowWorld(Environment(1), model, faults=FaultPlan(faults), observer=BufferOracle)
    world.run()
    return world


def check_many(seeds: range) -> Counter[str]:
    """Run crashing jobs. Return the observations of them."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        result = played(crashing_job(seed), seed)
        seen[result.run.outcome] += 1
        seen.update(name for name, count in result.goals.items() if count)
        for row in result.recoveries:
            seen["restored" if str(row.restored_from).startswith("checkpoint") else "afresh"] += 1
    return seen


def test_random_jobs_that_crash_break_nothing() -> None:
    """Records are in the state of every task exactly once, or at least once where so set."""
    seen = check_many(range(20))
    assert min(seen["restored"], seen["afresh"], seen["overtook_buffers"], seen["completed"]) >= 3


@pytest.mark.long
def test_many_random_jobs_that_crash_break_nothing() -> None:
    """The same for 800 jobs."""
    seen = check_many(range(20, 820))
    assert min(seen["restored"], seen["afresh"], seen["overtook_buffers"]) >= 100


CRASH = job_faults.CrashTask(vertex="operator", subtask=1, at_ns=130 * MS)


def test_a_restart_takes_up_what_was_in_flight() -> None:
    """The next attempt has the buffers of the checkpoint in its channels and ends as it should."""
    world = run(bounded(), CRASH)
    (failover,) = world.control.failovers
    assert world.violations == []
    assert world.control.ended
    assert failover.restored is not None
    assert failover.reprocessed > 0
    put_back = sum(
        subpartition.restored.bytes for task in world.tasks for subpartition in task.subpartitions
    )
    record = world.coordinator.records[failover.restored]
    assert put_back == sum(
        size
        for part, _ in record.parts.values()
        for held in (part.input_spans, part.output_spans)
        for spans in held.values()
        for size, _ in spans
    )
    assert put_back > 0


def test_the_row_of_a_recovery_says_where_it_began() -> None:
    """The table of recoveries names attempt, cause, instants, checkpoint and repeated records."""
    rows = [row for seed in range(12) for row in played(crashing_job(seed), seed).recoveries]
    assert {str(row.restored_from).split()[0] for row in rows} >= {"checkpoint", "its"}
    assert all((row.resumed_ns or row.failed_ns) >= row.failed_ns for row in rows)
    assert any(row.records_reprocessed for row in rows)


def test_without_a_restart_strategy_the_first_failure_is_the_last() -> None:
    """A job that is not restarted has failed, for the cause that is named."""
    world = run(replace(bounded(), restart=jobs.NoRestart()), CRASH)
    assert not world.control.ended
    assert world.control.failure == "operator/1 crashes"
    assert world.control.attempts == 1


def test_restarts_are_used_up() -> None:
    """With one restart allowed the second failure is the last."""
    model = replace(bounded(), restart=jobs.FixedDelay(delay_ns=5 * MS, attempts=1))
    world = run(model, CRASH, replace(CRASH, at_ns=200 * MS))
    assert world.control.attempts == 2
    assert world.control.gave_up
    (failover,) = world.control.failovers
    assert (failover.resumed_ns or 0) - failover.failed_ns == 5 * MS


def test_a_task_manager_takes_all_its_subtasks_with_it() -> None:
    """A task manager fails the job as long as one of its subtasks has not finished."""
    found = {}
    for placement in (jobs.PlacementKind.REMOTE, jobs.PlacementKind.LOCAL):
        model = replace(bounded(), placement=placement)
        times = [task.finished_ns or 0 for task in run(model).tasks]
        between_ns = (times[0] + max(times)) // 2  # the source has finished, another task has not
        fault = job_faults.CrashTaskManager(vertex="source", subtask=0, at_ns=between_ns)
        found[placement] = len(run(model, fault).control.failovers)
    assert found == {jobs.PlacementKind.REMOTE: 0, jobs.PlacementKind.LOCAL: 1}


def test_a_job_manager_keeps_what_is_completed() -> None:
    """Pending checkpoints are lost, completed ones are not, and numbers continue."""
    world = run(bounded(records=1_200), job_faults.CrashJobManager(at_ns=330 * MS))
    (failover,) = world.control.failovers
    records = world.coordinator.records
    assert world.violations == []
    assert failover.restored is not None
    assert records[failover.restored].status == "completed"
    assert [one.attempt for one in records.values() if one.ended_ns == 330 * MS] == [1]
    assert list(records) == list(range(1, len(records) + 1))
    assert {one.attempt for one in records.values()} == {1, 2}


def test_a_crash_at_a_checkpoint_gives_that_checkpoint_up() -> None:
    """A task that fails after its snapshot has its checkpoint aborted, and fails once."""
    world = run(bounded(), job_faults.CrashAtCheckpoint(vertex="operator", subtask=0, checkpoint=2))
    assert world.coordinator.records[2].status == "aborted"
    assert len(world.control.failovers) == 1


def test_a_stray_notification_of_an_old_attempt_changes_nothing() -> None:
    """A completion that is heard of once more after a restart breaks no property."""
    stray = job_faults.StrayNotification(
        vertex="operator", subtask=1, checkpoint=1, delay_ns=100 * MS
    )
    world = run(bounded(), CRASH, stray)
    assert world.violations == []
    assert world.control.ended


def test_nothing_of_a_failed_attempt_acts_any_more() -> None:
    """Between a failure and the next attempt no task does anything."""
    model = replace(bounded(), restart=jobs.FixedDelay(delay_ns=300 * MS))
    env = Environment(1, keep_trace=True)
    world = DataflowWorld(env, model, faults=FaultPlan([CRASH]), observer=BufferOracle)
    world.run()
    names = {task.entity.name for task in world.tasks}
    acts = [e for e in env.trace.entries if e[2] in names and e[1] != "acknowledged"]
    assert [e for e in acts if 130 * MS < int(e[0]) < 430 * MS] == []
    assert min(int(e[0]) for e in acts) < 130 * MS < 430 * MS < max(int(e[0]) for e in acts)


def test_both_drivers_restart_alike() -> None:
    """The drivers have one course of a job that fails: same failovers, same checkpoints."""
    base = bounded(rate_per_s=300.0, network={"jitter_ns": 0})
    runs = [
        run(replace(base, engine=one), CRASH)
        for one in (jobs.Engine.PROCESSES, jobs.Engine.COMPILED)
    ]
    courses = [
        (
            [(one.failed_ns, one.resumed_ns, one.restored) for one in world.control.failovers],
            [(one.triggered_ns, one.ended_ns) for one in world.coordinator.records.values()],
            [task.processed for task in world.tasks],
        )
        for world in runs
    ]
    assert courses[0] == courses[1]
    assert [world.violations for world in runs] == [[], []]


def test_lost_in_flight_data_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A restart that leaves in-flight data out begins from no cut."""
    monkeypatch.setattr(recovery, "put_back", lambda *_: None)
    world = run(bounded(), CRASH)
    assert "restored_checkpoint_is_a_cut" in {name for name, *_ in world.violations}


def test_data_that_is_put_back_twice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A restart that puts in-flight data back twice processes records twice."""
    right = recovery.put_back

    def twice(subpartition: Subpartition, spans: list[recovery.Span]) -> None:
        right(subpartition, spans * 2)

    monkeypatch.setattr(recovery, "put_back", twice)
    world = run(bounded(), CRASH)
    names = {name for name, *_ in world.violations}
    assert {"restored_checkpoint_is_a_cut", "exactly_once_state"} <= names


def test_an_attempt_that_begins_late_is_not_taken_for_one_without_progress() -> None:
    """Idle time counts from the beginning of the attempt, not of the job."""
    model = job(rate_per_s=20.0, timeout_ns=60 * MS, first_trigger_ns=60_000 * MS)
    model = replace(model, duration_ns=3_000 * MS, restart=jobs.FixedDelay(delay_ns=0))
    crash = job_faults.CrashTask(
        vertex="operator", subtask=0, at_ns=1_999 * MS
    )  # queues are sampled at 2 s
    world = run(model, crash)
    assert [one.restored for one in world.control.failovers] == [None]
    assert world.violations == []


@pytest.mark.parametrize("owner", [Storage, Cores])
def test_the_next_attempt_has_files_and_cores_to_itself(
    owner: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a failed attempt has under way takes no share from its successor."""
    storage = jobs.Storage(write_bytes_per_s=100_000, shared_limit=True)
    model = replace(bounded(), storage=storage)
    crashes = [
        job_faults.CrashTask(vertex="operator", subtask=0, at_ns=at_ms * MS)
        for at_ms in range(90, 700, 61)
    ]
    assert run(model, *crashes).violations == []
    monkeypatch.setattr(owner, "forget", lambda _self: None)
    assert "failed_tasks_do_nothing" in {name for name, *_ in run(model, *crashes).violations}
