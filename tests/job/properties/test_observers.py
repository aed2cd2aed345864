"""Observers only observe: a run has the same trace with the oracle and with nobody."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferObserver, BufferOracle
from ckptsim.sim.job.oracle.observer import NO_OBSERVER
from ckptsim.sim.job.records.world import RecordWorld, record_oracle
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
    """Random jobs with faults take the same course whoever follows them."""
    scenario = records.random_job(seed)
    job: Any = scenario.model
    digests = {
        digest(
            RecordWorld(
                Environment(seed),
                job.spelled_out(),
                FaultPlan(scenario.faults),
                cores=OURS,
                observer=observer,
            )
        )
        for observer in (record_oracle, lambda _: NO_OBSERVER)
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
