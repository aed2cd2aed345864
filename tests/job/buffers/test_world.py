"""What a dataflow job does as a whole."""

from __future__ import annotations

import pytest

from ckptsim.scenarios import job as jobs
from ckptsim.scenarios.catalogue import by_name as load_scenario
from ckptsim.scenarios.job.faults import LoseNotification
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from ckptsim.sim.world import run_world
from tests.job.buffers.plans import on_buffers

LIBRARY = (
    "back_pressure_aligned",
    "back_pressure_unaligned",
    "alignment_timeout",
    "bounded_union",
    "debloated",
    "oversized_records",
    "announced_and_cancelled",
    "concurrent_checkpoints",
    "expiring_uploads",
    "recovery_in_its_time",
    "lost_in_silence",
    "resubmitted_on_buffers",
)


@pytest.mark.parametrize("name", LIBRARY)
def test_library_reaches_its_goals(name: str) -> None:
    """Every library scenario completes checkpoints, reaches what it names and breaks nothing."""
    scenario = load_scenario(name)
    result = run_world(scenario, seed=1)
    assert result.run.outcome == "completed"
    assert result.run.checkpoints_completed >= 3
    assert result.violations == []
    assert [goal for goal in scenario.goals if not result.goals.get(goal)] == []


def test_unaligned_is_fast_and_large() -> None:
    """Under back-pressure unaligned checkpoints are ten times as fast and hold the buffers."""
    aligned = run_world(load_scenario("back_pressure_aligned"), seed=3)
    unaligned = run_world(load_scenario("back_pressure_unaligned"), seed=3)
    slow = max(row.duration_ns or 0 for row in aligned.checkpoints)
    fast = max(row.duration_ns or 0 for row in unaligned.checkpoints)
    assert fast * 10 < slow
    assert all(row.persisted_bytes == 0 for row in aligned.checkpoints)
    full = [row for row in unaligned.checkpoints if row.status == "completed"][1:]
    assert all((row.persisted_bytes or 0) > 1_000_000 for row in full)


def test_bounded_job_ends_at_once() -> None:
    """A bounded job ends within 100 ms of its last source, by the immediate final checkpoint."""
    result = run_world(load_scenario("bounded_union"), seed=1)
    ends = {row.task: row.finished_ns or 0 for row in result.tasks}
    assert all(ends.values())
    assert 4_500_000_000 < max(ends.values()) < 4_600_000_000


def test_a_pointwise_branch_that_ended_is_triggered_itself() -> None:
    """After a rescaled edge a task with a only sender that has finished still takes checkpoints."""
    job = on_buffers(
        jobs.Vertex(
            kind=jobs.VertexKind.SOURCE, name="source", parallelism=2, rate_per_s=2.0, records=1
        ),
        jobs.Vertex(
            name="operator",
            parallelism=2,
            inputs=(jobs.Input(upstream="source", partitioner=jobs.Partitioner.RESCALE),),
        ),
        checkpointing=jobs.Checkpointing(interval_ns=50_000_000, timeout_ns=200_000_000),
        duration_ns=3_000_000_000,
    )
    lost = LoseNotification(vertex="operator", subtask=1, checkpoint=1)
    world = DataflowWorld(Environment(1), job, faults=FaultPlan([lost]), observer=BufferOracle)
    world.run()
    sender, receiver = (world.tasks_of(name)[1] for name in ("source", "operator"))
    assert (sender.finished_ns or 0) < (receiver.finished_ns or 0) < 200_000_000
    assert world.violations == []


def test_pointwise_edges_are_joined_as_in_flink() -> None:
    """Of three senders the first feeds one receiver and the others the second one."""
    job = on_buffers(
        jobs.Vertex(kind=jobs.VertexKind.SOURCE, name="source", parallelism=3),
        jobs.Vertex(
            name="operator",
            parallelism=2,
            inputs=(jobs.Input(upstream="source", partitioner=jobs.Partitioner.RESCALE),),
        ),
    )
    world = DataflowWorld(Environment(1), job)
    joined = [[up.subtask for up in task.upstream] for task in world.tasks_of("operator")]
    assert joined == [[0], [1, 2]]
