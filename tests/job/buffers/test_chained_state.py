"""The state of a chain and its channel state: one thread finishes the one behind the other."""

from __future__ import annotations

from statistics import median

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import (
    Checkpointing,
    Input,
    Job,
    Mode,
    Plane,
    Storage,
    Vertex,
    VertexKind,
)
from ckptsim.sim.world import run_world

MS = 1_000_000
RATE = 1_000_000


def parts(chain: int, mode: Mode) -> tuple[float, float, float]:
    """Return the asynchronous part of the operator in ms, its state and in-flight data in bytes."""
    job = Job(
        plane=Plane.BUFFERS,
        vertices=(
            Vertex(name="src", kind=VertexKind.SOURCE),
            Vertex(
                name="op",
                inputs=(Input(upstream="src"),),
                service_ns=2 * MS,
                subtask_state_bytes=(500_000,),
                chain=chain,
            ),
        ),
        checkpointing=Checkpointing(mode=mode, interval_ns=3_000 * MS, count=6),
        storage=Storage(write_bytes_per_s=RATE),
        duration_ns=60_000 * MS,
    )
    result = run_world(Scenario(name="a", link="barriers", says="b", model=job), seed=1)
    rows = [row for row in result.task_checkpoints if row.task == "op" and row.checkpoint_id > 2]
    return (
        median(row.async_ns / MS for row in rows),
        median(row.state_bytes for row in rows),
        median(row.persisted_bytes for row in rows),
    )


def test_the_state_of_a_chain_comes_behind_its_channel_state() -> None:
    """Unaligned, it takes as long as both files together; of a single operator, as the longer."""
    alone_ms, state, in_flight = parts(1, Mode.UNALIGNED)
    chained_ms, *_ = parts(2, Mode.UNALIGNED)
    # A limiter reaches 2 % less at 1 MB/s.
    assert in_flight > 200_000
    assert alone_ms == pytest.approx(1e3 * state / RATE, rel=0.06)
    assert chained_ms == pytest.approx(1e3 * (state + in_flight) / RATE, rel=0.06)


def test_an_aligned_checkpoint_has_no_channel_state_to_wait_for() -> None:
    """Aligned, a chain writes its state as a single operator does."""
    assert parts(2, Mode.ALIGNED)[0] == pytest.approx(parts(1, Mode.ALIGNED)[0], rel=0.02)
