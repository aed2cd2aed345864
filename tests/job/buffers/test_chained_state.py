"""Files of channel state: who shares them, and what the state of a chain waits for."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios import job as jobs
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.state.channel_state_files import ChannelStateFile
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from ckptsim.sim.world import run_world

MS = 1_000_000
RATE = 1_000_000


def parts(chain: int, mode: jobs.Mode) -> tuple[float, float, float]:
    """Return the asynchronous part of the operator in ms, its state and in-flight data in bytes."""
    model = chained(chain, mode)
    result = run_world(Scenario(name="a", link="barriers", says="b", model=model), seed=1)
    rows = [row for row in result.task_checkpoints if row.task == "op" and row.checkpoint_id > 2]
    return (
        median(row.async_ns / MS for row in rows),
        median(row.state_bytes for row in rows),
        median(row.persisted_bytes for row in rows),
    )


def chained(chain: int, mode: jobs.Mode) -> jobs.Job:
    """Return a job with an operator that has as many of them in one task, after back-pressure."""
    return jobs.Job(
        plane=jobs.Plane.BUFFERS,
        vertices=(
            jobs.Vertex(name="src", kind=jobs.VertexKind.SOURCE),
            jobs.Vertex(
                name="op",
                inputs=(jobs.Input(upstream="src"),),
                service_ns=2 * MS,
                subtask_state_bytes=(500_000,),
                chain=chain,
            ),
        ),
        checkpointing=jobs.Checkpointing(mode=mode, interval_ns=3_000 * MS, count=6),
        storage=jobs.Storage(write_bytes_per_s=RATE),
        duration_ns=60_000 * MS,
    )


def test_the_state_of_a_chain_comes_behind_its_channel_state() -> None:
    """Unaligned, it takes as long as both files together. Of a single operator, as the longer."""
    alone_ms, state, in_flight = parts(1, jobs.Mode.UNALIGNED)
    chained_ms, *_ = parts(2, jobs.Mode.UNALIGNED)
    # A limiter reaches 2 % less at 1 MB/s.
    assert in_flight > 200_000
    assert alone_ms == pytest.approx(1e3 * state / RATE, rel=0.06)
    assert chained_ms == pytest.approx(1e3 * (state + in_flight) / RATE, rel=0.06)


@pytest.mark.parametrize("forgets", [True, False])
def test_state_of_a_checkpoint_that_was_given_up_is_not_written(
    monkeypatch: pytest.MonkeyPatch, *, forgets: bool
) -> None:
    """What waits for channel state is begun no more. A task that begins it is found."""
    if not forgets:
        monkeypatch.setattr(ChannelStateFile, "forget", lambda *_: None)
    job = chained(2, jobs.Mode.UNALIGNED)
    checkpointing = replace(job.checkpointing, timeout_ns=150 * MS, tolerable_failures=10)
    world = DataflowWorld(
        Environment(1),
        replace(job, checkpointing=checkpointing),
        faults=FaultPlan(()),
        observer=BufferOracle,
    )
    world.run()
    found = {name for name, *_ in world.violations}
    assert ("parts_are_written_in_time" in found) is not forgets


def test_an_aligned_checkpoint_has_no_channel_state_to_wait_for() -> None:
    """Aligned, a chain writes its state as a single operator does."""
    assert parts(2, jobs.Mode.ALIGNED)[0] == pytest.approx(parts(1, jobs.Mode.ALIGNED)[0], rel=0.02)


@pytest.mark.parametrize(
    ("placement", "limit", "shared"),
    [
        (jobs.PlacementKind.REMOTE, 5, ["a0", "a1", "a2", "b0", "b1", "b2", "c0", "c1", "c2"]),
        (jobs.PlacementKind.LOCAL, 5, ["a0 a1 a2 b0 b1", "b2 c0 c1 c2"]),
        (jobs.PlacementKind.LOCAL, 2, ["a0 a1", "a2 b0", "b1 b2", "c0 c1", "c2"]),
        (jobs.PlacementKind.MIXED, 5, ["a0 b0 c0", "a1 b1 c1", "a2 b2 c2"]),
    ],
)
def test_subtasks_on_a_task_manager_share_files(
    placement: jobs.PlacementKind, limit: int, shared: list[str]
) -> None:
    """As many as may, in the order of their deployment and whichever their vertices are, do."""
    job = triple(placement)
    checkpointing = replace(job.checkpointing, subtasks_per_file=limit)
    world = DataflowWorld(Environment(1), replace(job, checkpointing=checkpointing))
    world.run()
    files: dict[int, list[str]] = {}
    for task in world.tasks:
        files.setdefault(id(task.file), []).append(f"{task.name}{task.subtask}")
    assert [" ".join(names) for names in files.values()] == shared


def triple(placement: jobs.PlacementKind) -> jobs.Job:
    """Return three vertices one after the other, of three subtasks each."""
    vertices = [jobs.Vertex(name="a", kind=jobs.VertexKind.SOURCE, parallelism=3)]
    for name, upstream in (("b", "a"), ("c", "b")):
        edge = jobs.Input(upstream=upstream, partitioner=jobs.Partitioner.HASH)
        vertices.append(jobs.Vertex(name=name, inputs=(edge,), parallelism=3, service_ns=MS))
    return jobs.Job(
        plane=jobs.Plane.BUFFERS,
        placement=placement,
        vertices=tuple(vertices),
        checkpointing=jobs.Checkpointing(mode=jobs.Mode.UNALIGNED, interval_ns=500 * MS, count=6),
        storage=jobs.Storage(write_bytes_per_s=2 * RATE),
        duration_ns=60_000 * MS,
    )


def test_a_file_is_whole_when_the_slowest_of_those_that_share_it_is() -> None:
    """Sources that write nothing wait for the operators on their task manager."""
    async_ms = {}
    for placement in (jobs.PlacementKind.REMOTE, jobs.PlacementKind.LOCAL):
        job = triple(placement)
        result = run_world(Scenario(name="a", link="barriers", says="b", model=job), seed=1)
        rows = [one for one in result.task_checkpoints if one.checkpoint_id > 2]
        async_ms[placement] = {
            name: median(one.async_ns / MS for one in rows if one.task == name) for name in "ab"
        }
    assert async_ms[jobs.PlacementKind.LOCAL]["a"] == pytest.approx(
        async_ms[jobs.PlacementKind.LOCAL]["b"], rel=0.2
    )
    assert async_ms[jobs.PlacementKind.LOCAL]["a"] > 2 * async_ms[jobs.PlacementKind.REMOTE]["a"]
