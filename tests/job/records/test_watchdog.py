"""A job counts as one that is stalled only when waiting longer would prove nothing."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Job
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.records.watchdog import longest_idle_ns
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
