"""Nothing is lost, invented or leaked."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.scenarios.dataflow import DataflowModel, Partitioner
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.channels import RemoteChannel
from ckptsim.sim.job.buffers.source import Source
from ckptsim.sim.kernel import Environment
from tests.job.buffers.strategies import jobs

SECOND = 1_000_000_000


def bounded(model: DataflowModel) -> DataflowModel:
    """Return the job with sources that end, and with time to finish."""
    sources = tuple(
        replace(source, records=source.records or 150, stop_after_ns=None)
        for source in model.sources
    )
    checkpoint = replace(model.checkpoint, interval_ns=max(model.checkpoint.interval_ns, SECOND))
    network = replace(model.network, max_overdraft_buffers=5)
    return replace(
        model, sources=sources, checkpoint=checkpoint, network=network, duration_ns=60 * SECOND
    )


@settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=jobs(), seed=st.integers(0, 10**6))
def test_bounded_jobs_end_and_give_everything_back(model: DataflowModel, seed: int) -> None:
    """Every bounded job ends, every record reaches every reader once, and no buffer is missing."""
    model = bounded(model)
    world = DataflowWorld(Environment(seed), model)
    world.run()
    assert [task.entity.name for task in world.tasks if task.finished_ns is None] == []
    by_name = world.graph.by_name
    for operator in model.operators:
        expected = 0
        for edge in operator.inputs:
            sent = sum(task.processed for task in by_name[edge.upstream])
            copies = operator.parallelism if edge.partitioner is Partitioner.BROADCAST else 1
            expected += sent * copies
        assert sum(task.processed for task in by_name[operator.name]) == expected
    for task in world.tasks:
        for writer in task.writers:
            assert writer.emitted == task.processed
            assert writer.pool.free == writer.pool.size
            assert not any(writer.pool.held)
            assert not writer.pool.overdraft
        for gate in task.gates:
            borrowed = sum(c.floating for c in gate.channels if isinstance(c, RemoteChannel))
            assert gate.floating_free + borrowed == model.network.floating_buffers
        for channel in task.channels:
            assert channel.partial_bytes == 0
    produced = sum(task.processed for task in world.tasks if isinstance(task, Source))
    assert produced == sum(source.records or 0 for source in model.sources)
