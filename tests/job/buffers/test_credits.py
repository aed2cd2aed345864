"""Channels that own no buffers: what a gate lends them moves on, and no channel starves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.scenarios import job as jobs
from ckptsim.sim.job.buffers.output import Subpartition
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from tests.job.buffers.plans import on_buffers

MS = 1_000_000


def one_lent_buffer(records: int, others: int, *, record_bytes: int) -> jobs.Job:
    """Return a job with gates that lend one buffer and own none. Records span many buffers."""
    middle = (
        jobs.Input(upstream="source", partitioner=jobs.Partitioner.REBALANCE),
        jobs.Input(upstream="other", partitioner=jobs.Partitioner.HASH),
    )
    sink = (jobs.Input(upstream="middle", partitioner=jobs.Partitioner.REBALANCE),)
    source = jobs.VertexKind.SOURCE
    return on_buffers(
        jobs.Vertex(kind=source, name="source", records=records, rate_per_s=3_000.0),
        jobs.Vertex(kind=source, name="other", parallelism=2, records=others),
        jobs.Vertex(name="middle", parallelism=4, inputs=middle, service_ns=100_000),
        jobs.Vertex(name="sink", inputs=sink, service_ns=0),
        network=jobs.Network(
            exclusive_buffers=0,
            floating_buffers=1,
            record_bytes=record_bytes,
            segment_bytes=1024,
            buffer_timeout_ns=10 * MS,
        ),
        checkpointing=jobs.Checkpointing(
            mode=jobs.Mode.ALIGNED_TIMEOUT, interval_ns=20 * MS, aligned_timeout_ns=5 * MS
        ),
        placement=jobs.PlacementKind.REMOTE,
        duration_ns=3_000 * MS,
    )


def run(seed: int, job: jobs.Job) -> DataflowWorld:
    """Run a job under the eyes of the oracle."""
    world = DataflowWorld(Environment(seed), job, observer=BufferOracle)
    world.run()
    return world


JOBS = [(1, 40, 1, 10_000), (1, 60, 20, 10_000), (0, 40, 1, 40_000), (3, 40, 1, 10_000)]


@pytest.mark.parametrize(("seed", "records", "others", "record_bytes"), JOBS)
def test_one_lent_buffer_is_enough_for_every_channel(
    seed: int, records: int, others: int, record_bytes: int
) -> None:
    """With a single floating buffer and no exclusive ones a job runs to its end."""
    world = run(seed, one_lent_buffer(records, others, record_bytes=record_bytes))
    assert world.violations == []
    assert world.control.ended


def test_a_buffer_lent_for_data_that_has_left_would_be_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The jobs above stall where senders drop spent segments without telling their receivers."""
    monkeypatch.setattr(Subpartition, "drop_spent", lambda _: False)
    stalled = []
    for seed, records, others, size in JOBS[:3]:
        job = one_lent_buffer(records, others, record_bytes=size)
        # The kernel has code of its own, and on the rig these seeds meet what would be missed.
        job = replace(job, engine=jobs.Engine.PROCESSES, profile=jobs.Profile.RIG)
        stalled.append(not run(seed, job).control.ended)
    assert stalled == [True, True, True]
