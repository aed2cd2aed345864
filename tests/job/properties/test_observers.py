"""Listeners only listen: a run has the same trace with the oracle and without."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim.models.barriers import Barrier
from ckptsim.models.barriers.barrier import OptionKind
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.events import of_tasks
from ckptsim.sim.job.oracle.buffers import BufferObserver, BufferOracle
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.kernel import Environment
from ckptsim.sim.slots import OURS
from tests.job.buffers import plans as buffers
from tests.job.records import plans as records

SEEDS = range(20)


def digest(world: Any) -> str:
    """Return the digest of a run in which nothing breaks."""
    world.run()
    assert world.violations == []
    return str(world.env.trace.digest())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_oracle_changes_nothing_on_records(seed: int) -> None:
    """Random jobs with faults take the same course anyone who follows them."""
    # Without idle splits, as the hazard of these is noted in the trace.
    never = {"job.event_time.idle_timeout_ns": "none"}
    scenario = with_parameters(records.random_job(seed), never)
    job: Any = scenario.model
    digests = {
        digest(
            RecordWorld(
                Environment(seed),
                job.spelled_out(),
                FaultPlan(scenario.faults),
                cores=OURS,
                judged=judged,
            )
        )
        for judged in (True, False)
    }
    assert len(digests) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_oracle_changes_nothing_on_buffers(seed: int) -> None:
    """The same holds on buffers, where channels and pools of an observed kind take their places."""
    scenario = buffers.random_job(seed)
    job: Any = scenario.model
    digests = {
        digest(
            DataflowWorld(
                Environment(seed), job, faults=FaultPlan(scenario.faults), observer=observer
            )
        )
        for observer in (BufferOracle, BufferObserver)
    }
    assert len(digests) == 1


@pytest.mark.parametrize("cancelled", [11, 13])
def test_a_barrier_behind_a_newer_cancellation_is_not_waited_for(cancelled: int) -> None:
    """Its time-out means nothing to the task. After an older cancellation it does."""
    env = Environment(1)
    job: Any = by_name("flink_19681_alignment_timeout").model
    world = RecordWorld(env, job.spelled_out(), FaultPlan(()), cores=OURS)
    task: Any = world.tasks[-1]
    for event in (
        of_tasks.CancellationTaken(task, cancelled),
        of_tasks.HandlerAborted(task, cancelled),
        of_tasks.BarrierSeen(task, Barrier(12, 0, OptionKind.TIMEOUTABLE, 1_000)),
    ):
        world.events.emit(event)
    later = env.event()
    env.call_at(2_000, 0, env.entity("test"), later.succeed)
    env.run(until=later)
    world.events.emit(of_tasks.RecordRead(task, split=0, timestamp=None))
    broken = [name for name, *_ in world.violations]
    assert broken == (["time_out_ends_alignment"] if cancelled == 11 else [])
