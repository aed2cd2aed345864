"""How many segments of a pool may be out: what comes of one record, however much that is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.scenarios import job as jobs
from ckptsim.sim.job.buffers.output import LocalBufferPool
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from tests.job.buffers.broken_parts import grants_all
from tests.job.buffers.plans import on_buffers

MS = 1_000_000
ENGINES = (jobs.Engine.PROCESSES, jobs.Engine.COMPILED)
NETWORKS = {
    "debloated": jobs.Network(debloat=True),
    "small segments": jobs.Network(segment_bytes=256),
    "no overdraft": jobs.Network(segment_bytes=256, max_overdraft_buffers=0),
    "two per channel": jobs.Network(segment_bytes=4096, max_buffers_per_channel=2),
}


def many_of_one(network: jobs.Network, *, selectivity: float = 100.0) -> jobs.Job:
    """Return a job with an operator that emits many records for one, before a slow sink."""
    rebalance = jobs.Partitioner.REBALANCE
    return on_buffers(
        jobs.Vertex(kind=jobs.VertexKind.SOURCE, name="source", parallelism=2),
        jobs.Vertex(
            name="join",
            parallelism=2,
            inputs=(jobs.Input(upstream="source", partitioner=rebalance),),
            service_ns=10_000,
            selectivity=selectivity,
        ),
        jobs.Vertex(
            kind=jobs.VertexKind.SINK,
            name="sink",
            inputs=(jobs.Input(upstream="join", partitioner=rebalance),),
            service_ns=MS,
        ),
        network=network,
        checkpointing=jobs.Checkpointing(enabled=False),
        placement=jobs.PlacementKind.REMOTE,
        duration_ns=700 * MS,
    )


def broken(job: jobs.Job) -> set[str]:
    """Return the properties that a run of a job breaks."""
    world = DataflowWorld(Environment(0), job, observer=BufferOracle)
    world.run()
    return {name for name, *_ in world.violations}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("selectivity", [100.0, 2.5])
def test_all_that_comes_of_one_record_may_open_segments(
    network: str, engine: jobs.Engine, selectivity: float
) -> None:
    """An operator that emits many records for one keeps within its pool, by both drivers."""
    job = many_of_one(NETWORKS[network], selectivity=selectivity)
    assert broken(replace(job, engine=engine)) == set()


def test_a_pool_without_bound_is_caught_behind_many_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What comes of one record may take the pool and its overdraft, and no segment more."""
    grants_all(monkeypatch)
    job = replace(many_of_one(NETWORKS["small segments"]), engine=jobs.Engine.PROCESSES)
    assert "buffers_are_accounted_for" in broken(job)


@pytest.mark.parametrize("selectivity", [1.0, 100.0])
def test_a_pool_that_forgets_its_full_channels_is_caught(
    monkeypatch: pytest.MonkeyPatch, selectivity: float
) -> None:
    """A task begins no record while a channel holds its maximum, although the pool has more."""
    monkeypatch.setattr(LocalBufferPool, "available", property(lambda self: self.free > 0))
    job = many_of_one(NETWORKS["two per channel"], selectivity=selectivity)
    found = broken(replace(job, engine=jobs.Engine.PROCESSES))
    assert "buffers_are_accounted_for" in found
