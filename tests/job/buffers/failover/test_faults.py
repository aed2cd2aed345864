"""What each fault of a dataflow job does to its checkpoints, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.models.barriers.reason import FailureReason as Why
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import plain
from ckptsim.scenarios.job import Job, Mode, Storage
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from ckptsim.sim.world import run_world
from tests.job.buffers.broken import MS, job
from tests.job.buffers.plans import random_job
from tests.job.records.plans import scenario_of
from tests.job.records.small import small

SOURCE = {"vertex": "source", "subtask": 0}
OPERATOR = {"vertex": "operator", "subtask": 1}


def run(model: Job, *faults: job_faults.JobFault) -> DataflowWorld:
    """Run a job with faults. All properties hold."""
    world = DataflowWorld(Environment(1), model, faults=FaultPlan(faults), observer=BufferOracle)
    world.run()
    assert world.violations == []
    return world


def ends(world: DataflowWorld) -> list[tuple[str, str | None]]:
    """Return status and reason of every checkpoint, oldest first."""
    return [(one.status, one.reason) for one in world.coordinator.records.values()]


SLOW = job(rate_per_s=300.0, timeout_ns=45 * MS)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (job_faults.LoseTrigger(**SOURCE, checkpoint=2), Why.CHECKPOINT_EXPIRED),
        (job_faults.LoseAcknowledgement(**OPERATOR, checkpoint=2), Why.CHECKPOINT_EXPIRED),
        (job_faults.DelayTrigger(**SOURCE, checkpoint=2, delay_ns=46 * MS), Why.CHECKPOINT_EXPIRED),
        (job_faults.RefuseTrigger(**SOURCE, checkpoint=2), Why.CHECKPOINT_DECLINED_TASK_NOT_READY),
        (job_faults.FailSnapshot(**OPERATOR, checkpoint=2), Why.CHECKPOINT_ASYNC_EXCEPTION),
    ],
)
def test_fault_costs_its_checkpoint_only(fault: job_faults.JobFault, reason: Why) -> None:
    """The checkpoint that is struck ends for the right reason, the others complete."""
    found = ends(run(SLOW, fault))
    assert found[1][1] == reason.value
    assert {status for status, _ in (found[0], *found[2:-1])} == {"completed"}


def test_failed_channel_state_is_forgiven() -> None:
    """In-flight data that cannot be written declines the checkpoint, and counts as no failure."""
    model = job(Mode.UNALIGNED, tolerable_failures=0)
    world = run(model, job_faults.FailChannelState(**OPERATOR, checkpoint=1))
    shared = Why.CHANNEL_STATE_SHARED_STREAM_EXCEPTION.value
    assert ends(world)[0] == ("aborted", shared)
    assert ends(world)[1][0] == "completed"
    assert world.control.failure is None


def test_failures_in_a_row_fail_the_job() -> None:
    """With no failure to be tolerated the first one that counts ends the job."""
    model = job(rate_per_s=300.0, tolerable_failures=0)
    world = run(model, job_faults.FailSnapshot(**OPERATOR, checkpoint=2))
    assert world.control.failure == f"checkpoint failed: {Why.CHECKPOINT_ASYNC_EXCEPTION.value}"
    assert len(ends(world)) == 2


def with_state(model: Job, storage: Storage, sync_ns: int = 0) -> Job:
    """Return a job with operators that have 1,000,000 bytes of state together."""
    vertices = tuple(
        vertex
        if vertex.is_source
        else replace(vertex, state_bytes=1_000_000, snapshot_sync_ns=sync_ns)
        for vertex in model.vertices
    )
    return replace(model, vertices=vertices, storage=storage)


def test_given_up_files_take_no_share_of_a_limit() -> None:
    """After an expired checkpoint the next one writes as fast as if that had never been."""
    limit = Storage(write_bytes_per_s=20_000_000, shared_limit=True)
    model = with_state(
        job(rate_per_s=300.0, timeout_ns=90 * MS, interval_ns=100 * MS, duration_ns=380 * MS), limit
    )
    quiet = run(model)
    slow = job_faults.SlowFile(**OPERATOR, checkpoint=2, delay_ns=80 * MS)
    struck = run(model, slow)
    assert ends(struck)[1][1] == Why.CHECKPOINT_EXPIRED.value
    durations = [
        [one.duration_ns for one in world.coordinator.records.values()] for world in (quiet, struck)
    ]
    third = [found[2] or 0 for found in durations]
    assert third[0] > 50 * MS
    assert abs(third[0] - third[1]) < 5 * MS


def test_synchronous_part_keeps_the_thread() -> None:
    """A snapshot that takes 4 ms to copy reports them, and the records wait meanwhile."""
    base = job(duration_ns=500 * MS)
    quick, slow = (run(with_state(base, Storage(), sync_ns)) for sync_ns in (0, 4 * MS))
    parts = [p for one in slow.coordinator.records.values() for p, _ in one.parts.values()]
    copied = [part.sync_ns for part in parts if part.state_bytes > 100_000]
    assert set(copied) == {4 * MS}
    records = [sum(t.processed for t in world.tasks if t.gates) for world in (quick, slow)]
    assert 4 * len(copied) // 2 <= records[0] - records[1] <= 8 * len(copied)


def test_savepoints_are_aligned_in_any_mode() -> None:
    """A savepoint of a job with unaligned checkpoints waits for its turn and holds no buffers."""
    model = job(Mode.UNALIGNED, savepoint_at_ns=60 * MS, duration_ns=1_500 * MS)
    world = run(model)
    found = list(world.coordinator.records.values())
    (savepoint,) = [one for one in found if one.request.savepoint]
    assert savepoint.status == "completed"
    assert sum(part.persisted_bytes for part, _ in savepoint.parts.values()) == 0
    others = [one for one in found if not one.request.savepoint and one.status == "completed"]
    assert all(sum(p.persisted_bytes for p, _ in one.parts.values()) for one in others[1:])


def test_a_stalled_task_holds_its_checkpoint_up() -> None:
    """A thread that is stalled takes the barrier when it continues."""
    stall = job_faults.StallTask(vertex="operator", subtask=0, at_ns=100 * MS, lasts_ns=120 * MS)
    world = run(job(rate_per_s=300.0), stall)
    longest = max(one.duration_ns or 0 for one in world.coordinator.records.values())
    assert 70 * MS < longest < 140 * MS


def test_a_lost_word_of_an_abort_frees_channels_with_the_next_checkpoint() -> None:
    """A task that never learns of an abort continues with the next checkpoint all the same."""
    world = run(
        SLOW,
        job_faults.LoseTrigger(**SOURCE, checkpoint=2),
        job_faults.LoseNotification(**OPERATOR, checkpoint=2),
    )
    assert [status for status, _ in ends(world)[:4]] == ["completed", "expired", *["completed"] * 2]


def test_only_sources_refuse_triggers() -> None:
    """A fault that cannot strike its task is the user's error, with its place."""
    text: Any = plain(random_job(1))
    text["faults"] = [
        {"kind": "refuse_trigger", "vertex": "operator0", "subtask": 0, "checkpoint": 1}
    ]
    with pytest.raises(ScenarioError, match=r"faults\[0\].vertex.*the name of a source"):
        scenario_of(text)


def test_a_part_waits_for_one_that_has_failed_in_the_same_file() -> None:
    """Of a shared file the part of a failed task never comes, which convicts none of the others."""
    job = {
        "plane": "buffers",
        "placement": "local",
        "vertices": [
            {
                "name": "source0",
                "kind": "source",
                "service_ns": 0,
                "rate_per_s": 75.0,
                "records": 9,
            },
            {
                "name": "operator0",
                "kind": "operator",
                "parallelism": 2,
                "service_ns": 6 * MS,
                "selectivity": 0.0,
                "inputs": [{"upstream": "source0"}],
            },
        ],
        "network": {"buffer_timeout_ns": 1},
        "checkpointing": {
            "mode": "aligned_timeout",
            "interval_ns": 45 * MS,
            "first_trigger_ns": 5 * MS,
        },
        "recovery": {"timed": True},
    }
    fails = {"kind": "crash_task", "vertex": "operator0", "at_ns": 104 * MS}
    found = run_world(small(job, fails, link="final_checkpoint"), seed=337_719)
    assert found.goals["restarted"] == 1
    assert found.violations == []
