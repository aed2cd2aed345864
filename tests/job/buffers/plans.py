"""Jobs on buffers: made in Python, or the random ones of the product, by a seed or Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.jobs import job
from ckptsim.scenarios.job import (
    Checkpointing,
    Input,
    Job,
    Mode,
    Network,
    NoRestart,
    Partitioner,
    PlacementKind,
    Plane,
    Storage,
    Vertex,
    VertexKind,
)
from tests.job.records.plans import FAULTS, Seeded

CRASHES = ("crash_task", "crash_task_manager", "crash_job_manager", "crash_at_checkpoint")
__all__ = [
    "crashing_job",
    "on_buffers",
    "random_job",
]


def on_buffers(*vertices: Vertex, **rest: Any) -> Job:
    """Return a job on buffers, with the defaults that link `barriers` has."""
    return Job(plane=Plane.BUFFERS, restart=NoRestart(), vertices=vertices, **rest)


def random_job(seed: int) -> Scenario:
    """Return the random job of a seed."""
    kinds = [kind for kind in FAULTS if not kind.startswith("crash")]
    return job(Seeded(seed), "barriers", "buffers", among=kinds)


def crashing_job(seed: int) -> Scenario:
    """Return the random job of a seed that fails and is restarted."""
    return job(Seeded(seed), "barriers", "buffers", among=CRASHES)


MS = 1_000_000
US = 1_000


@st.composite
def sources(draw: st.DrawFn, index: int) -> Vertex:
    """Draw a source: as fast as possible or at a rate, endless or bounded."""
    parallelism = draw(st.integers(1, 3))
    bounded = draw(st.sampled_from(["no", "time", "count"]))
    return Vertex(
        kind=VertexKind.SOURCE,
        name=f"source{index}",
        parallelism=parallelism,
        rate_per_s=draw(st.sampled_from([None, 200.0, 1_000.0, 3_000.0])),
        hot_ratio=draw(st.sampled_from([0.0, 0.5])),
        ends_at_ns=draw(st.integers(100, 700)) * MS if bounded == "time" else None,
        records=draw(st.integers(1, 600)) if bounded == "count" else None,
    )


@st.composite
def operators(draw: st.DrawFn, index: int, before: list[tuple[str, int]]) -> Vertex:
    """Draw an operator after some of the tasks before it."""
    parallelism = draw(st.integers(1, 3))
    if index == 0:  # every source is read
        chosen = before
    else:
        chosen = draw(st.lists(st.sampled_from(before), min_size=1, max_size=2, unique=True))
    inputs = []
    for name, width in chosen:
        kinds = [p for p in Partitioner if p is not Partitioner.FORWARD or width == parallelism]
        inputs.append(Input(upstream=name, partitioner=draw(st.sampled_from(kinds))))
    return Vertex(
        name=f"operator{index}",
        parallelism=parallelism,
        inputs=tuple(inputs),
        two_input=len(inputs) == 2 and draw(st.booleans()),
        service_ns=draw(st.sampled_from([0, 70 * US, 400 * US, 1 * MS, 1 * MS])),
        slow_subtask_factor=draw(st.sampled_from([1.0, 3.0])),
        state_bytes=draw(st.sampled_from([0, 100_000])),
    )


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Draw buffers and network. Records may span buffers."""
    return Network(
        record_bytes=draw(st.sampled_from([100, 1024, 1000, 5000, 12_000])),
        segment_bytes=draw(st.sampled_from([4096, 8192, 32_768])),
        exclusive_buffers=draw(st.integers(0, 3)),
        floating_buffers=draw(st.integers(1, 8)),
        max_buffers_per_channel=draw(st.integers(2, 10)),
        max_overdraft_buffers=draw(st.integers(0, 5)),
        buffer_timeout_ns=draw(st.sampled_from([0, 7, 50])) * MS,
        debloat=draw(st.booleans()),
        debloat_target_ns=draw(st.sampled_from([50, 1000])) * MS,
        latency_ns=draw(st.sampled_from([1, 150, 5_000])) * US,
        jitter_ns=draw(st.sampled_from([0, 100])) * US,
        send_ns=draw(st.sampled_from([0, 40])) * US,
    )


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """Draw a job of up to two sources and three operators, built layer by layer."""
    first = [draw(sources(index)) for index in range(draw(st.integers(1, 2)))]
    before = [(source.name, source.parallelism) for source in first]
    behind: list[Vertex] = []
    for index in range(draw(st.integers(1, 3))):
        table = draw(operators(index, before))
        behind.append(table)
        before.append((table.name, table.parallelism))
    mode = draw(st.sampled_from(Mode))
    return on_buffers(
        *first,
        *behind,
        placement=draw(st.sampled_from(list(PlacementKind)[:3])),
        network=draw(networks()),
        checkpointing=Checkpointing(
            mode=mode,
            aligned_timeout_ns=draw(st.sampled_from([5, 60])) * MS,
            interval_ns=draw(st.sampled_from([40, 150])) * MS,
            min_pause_ns=draw(st.sampled_from([0, 60])) * MS,
            tolerable_failures=1_000_000,
        ),
        storage=Storage(
            write_bytes_per_s=draw(st.sampled_from([None, 5_000_000])),
            shared_limit=draw(st.booleans()),
        ),
        duration_ns=500 * MS,
    )
