"""Nothing is lost, invented or leaked."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptsim.scenarios.job import (
    Checkpointing,
    Input,
    Job,
    Mode,
    Network,
    Partitioner,
    Vertex,
    VertexKind,
)
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.input import RemoteChannel
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.kernel import Environment
from tests.job.buffers.plans import jobs, on_buffers

SECOND = 1_000_000_000


def bounded(model: Job) -> Job:
    """Return the job with sources that end, and with time to finish."""
    vertices = tuple(
        replace(vertex, records=vertex.records or 150, ends_at_ns=None)
        if vertex.is_source
        else vertex
        for vertex in model.vertices
    )
    interval_ns = max(model.checkpointing.interval_ns, SECOND)
    checkpointing = replace(model.checkpointing, interval_ns=interval_ns)
    network = replace(model.network, max_overdraft_buffers=5)
    return replace(
        model,
        vertices=vertices,
        checkpointing=checkpointing,
        network=network,
        duration_ns=60 * SECOND,
    )


@settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(model=jobs(), seed=st.integers(0, 10**6))
def test_bounded_jobs_end_and_give_everything_back(model: Job, seed: int) -> None:
    """Every bounded job ends, every record reaches every reader once, and no buffer is missing."""
    model = bounded(model)
    world = DataflowWorld(Environment(seed), model)
    world.run()
    assert [task.entity.name for task in world.tasks if task.finished_ns is None] == []
    for operator in model.vertices:
        if operator.is_source:
            continue
        expected = 0
        for edge in operator.inputs:
            sent = sum(task.processed for task in world.tasks_of(edge.upstream))
            copies = operator.parallelism if edge.partitioner is Partitioner.BROADCAST else 1
            expected += sent * copies
        assert sum(task.processed for task in world.tasks_of(operator.name)) == expected
    for task in world.tasks:
        for writer in task.writers:
            assert writer.emitted == task.processed
            assert writer.pool.free == writer.pool.size
            assert not any(writer.pool.held)
            assert not writer.pool.overdraft
        for gate in task.gates:
            assert not any(c.floating for c in gate.channels if isinstance(c, RemoteChannel))
            assert gate.floating_free == model.network.floating_buffers
        for channel in task.channels:
            assert channel.partial_bytes == 0
    produced = sum(task.processed for task in world.tasks if isinstance(task, Source))
    assert produced == sum(vertex.records or 0 for vertex in model.vertices)


def test_a_channel_that_ended_gives_its_floating_buffers_back() -> None:
    """Channels without buffers of their own share one, which continues when one of them ends."""
    hash_, forward = Partitioner.HASH, Partitioner.FORWARD
    model = on_buffers(
        Vertex(name="source0", kind=VertexKind.SOURCE, records=150),
        Vertex(
            name="operator0",
            parallelism=3,
            inputs=(Input(upstream="source0", partitioner=hash_),),
            service_ns=0,
        ),
        Vertex(
            name="operator1",
            inputs=(Input(upstream="source0", partitioner=forward),),
            service_ns=0,
        ),
        Vertex(
            name="operator2",
            inputs=(
                Input(upstream="operator0", partitioner=hash_),
                Input(upstream="operator1", partitioner=forward),
            ),
            service_ns=0,
        ),
        network=Network(
            record_bytes=1000,
            segment_bytes=4096,
            exclusive_buffers=0,
            floating_buffers=1,
            max_buffers_per_channel=2,
            buffer_timeout_ns=7_000_000,
            latency_ns=5_000_000,
            jitter_ns=0,
            send_ns=0,
        ),
        checkpointing=Checkpointing(mode=Mode.UNALIGNED, tolerable_failures=1_000),
        duration_ns=60 * SECOND,
    )
    world = DataflowWorld(Environment(0), model)
    world.run()
    assert [task.entity.name for task in world.tasks if task.finished_ns is None] == []
