"""A job counts as one that is stalled only when waiting longer would prove nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Job
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.records.watchdog import Watchdog, longest_idle_ns
from ckptsim.sim.kernel import Environment
from ckptsim.sim.world import run_world

CHANCE = by_name("flink_17994_older_stop")


def test_expiring_by_chance_is_waited_for_longer() -> None:
    """Where messages alone can outlast a checkpoint, more tries than elsewhere are waited for."""
    job = CHANCE.model
    assert isinstance(job, Job)
    checkpointing = replace(job.checkpointing, timeout_ns=600_000_000_000)
    certain = replace(job, checkpointing=checkpointing)
    no_faults = FaultPlan(())
    assert longest_idle_ns(job, no_faults) >= 3 * longest_idle_ns(certain, no_faults)


def test_a_job_whose_checkpoints_expire_by_chance_ends() -> None:
    """However many expire in a row, the job ends with one that does not."""
    runs = [
        run_world(CHANCE, seed=seed, ties=ties) for seed, ties in ((282, "random"), (628, "pct"))
    ]
    assert all(run.run.outcome == "completed" and not run.violations for run in runs)
    assert all(run.run.checkpoints_failed > 10 for run in runs)


@pytest.mark.parametrize(("queued_ns", "stalled_ns"), [(0, 150), (70, 220)])
def test_barriers_that_expired_in_the_queue_are_waited_for(queued_ns: int, stalled_ns: int) -> None:
    """The wait for progress is longer by the time in which barriers of expired ones piled up."""
    env, at_ns = Environment(0), list[int]()
    Watchdog(
        env,
        100,
        progress_ns=lambda: 50,
        queued_ns=lambda: queued_ns,
        stalled=lambda: at_ns.append(env.now),
    )
    env.run()
    assert at_ns == [stalled_ns]
