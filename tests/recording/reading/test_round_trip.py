"""A simulated job that is recorded and imported is the same job, whatever it is like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import (
    Checkpointing,
    Input,
    Job,
    Machine,
    Mode,
    Network,
    NoRestart,
    Partitioner,
    PlacementKind,
    Plane,
    Profile,
    RateChange,
    Storage,
    Vertex,
    VertexKind,
)
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.job import scenario_of
from ckptsim.sim.recording import read_recording
from ckptsim.sim.world import run_world
from tests.recording.reading.simulated_engine import Recorder

MS = 1_000_000
# As a server answers: not quite when it was asked.
SAMPLES = (4_003, 6_011, 8_002, 10_017, 12_008)
HASH = Partitioner.HASH


def job(*vertices: Vertex, **rest: Any) -> Job:
    """Return a job on buffers that runs for twelve seconds and some."""
    values: dict[str, Any] = {
        "checkpointing": Checkpointing(tolerable_failures=1000),
        "duration_ns": 16_000 * MS,
    }
    return Job(plane=Plane.BUFFERS, restart=NoRestart(), vertices=vertices, **(values | rest))


def source(name: str = "src", **values: Any) -> Vertex:
    """Return a source."""
    return Vertex(name=name, kind=VertexKind.SOURCE, **values)


def operator(name: str, *inputs: str, by: Partitioner = HASH, **values: Any) -> Vertex:
    """Return an operator that reads from vertices."""
    read = tuple(Input(upstream=one, partitioner=by) for one in inputs)
    return Vertex(name=name, inputs=read, **values)


def keyed_twice(*, keeps_key: bool) -> Job:
    """Return a job with two keyed vertices of unequal parallelism, the second one the slow one."""
    first = operator("first", "src", parallelism=2, service_ns=300_000)
    edge = Input(upstream="first", partitioner=HASH, shares=(0.4, 0.28, 0.32), keeps_key=keeps_key)
    last = Vertex(name="last", inputs=(edge,), parallelism=3, service_ns=MS)
    return job(source(), first, last)


JOBS: dict[str, Job] = {
    "slow_in_the_middle": job(
        source(parallelism=3),
        operator("op", "src", parallelism=3, service_ns=MS, service_factors=(1.0, 2.5, 1.0)),
    ),
    "filter_on_one_task_manager": job(
        source(parallelism=2),
        operator("filter", "src", parallelism=2, service_ns=200_000, selectivity=0.25),
        operator("slow", "filter", parallelism=2, service_ns=2 * MS),
        placement=PlacementKind.LOCAL,
    ),
    "flat_map_on_shared_ones": job(
        source(parallelism=2, rate_per_s=300.0),
        operator("split", "src", parallelism=2, service_ns=300_000, selectivity=3.0),
        operator("count", "split", by=Partitioner.REBALANCE, parallelism=2, service_ns=1_500_000),
        placement=PlacementKind.MIXED,
    ),
    "connect": job(
        source("left", rate_per_s=150.0),
        source("right"),
        operator("join", "left", "right", parallelism=2, service_ns=MS, two_input=True),
    ),
    "slow_storage": job(
        source(parallelism=2, rate_per_s=400.0),
        operator("op", "src", parallelism=2, service_ns=MS, state_bytes=8_000_000),
        storage=Storage(write_bytes_per_s=5_000_000),
    ),
    "six_subtasks": job(
        source(parallelism=6),
        operator("first", "src", parallelism=6, service_ns=MS),
        operator("last", "first", by=Partitioner.REBALANCE, parallelism=6, service_ns=1_100_000),
    ),
    "six_subtasks_on_one_processor": job(
        source(parallelism=6),
        operator("op", "src", parallelism=6, service_ns=MS, state_bytes=1_000_000),
        machine=Machine(cores=1),
        checkpointing=Checkpointing(mode=Mode.UNALIGNED, tolerable_failures=1000),
    ),
    "hot_keys_and_sizes": job(
        source(parallelism=2, record_bytes=2_000),
        replace(
            operator("op", "src", parallelism=3, service_ns=MS, record_bytes=500),
            inputs=(Input(upstream="src", partitioner=HASH, shares=(1.0, 3.0, 1.0)),),
        ),
        operator("sink", "op", by=Partitioner.REBALANCE, parallelism=1, service_ns=100_000),
    ),
    "same_key_twice": job(
        source(parallelism=2),
        replace(
            operator("first", "src", parallelism=3, service_ns=200_000),
            inputs=(Input(upstream="src", partitioner=HASH, shares=(4.0, 1.0, 1.0)),),
        ),
        operator("second", "first", parallelism=3, service_ns=MS),
    ),
    "uneven_rates": job(
        source(parallelism=3, rate_per_s=900.0, rate_shares=(1.0, 1.0, 4.0)),
        operator("op", "src", by=Partitioner.FORWARD, parallelism=3, service_ns=MS),
    ),
    "bursts": job(
        source(
            parallelism=2,
            rate_per_s=300.0,
            rate_changes=(
                RateChange(at_ns=6_000 * MS, factor=3.0),
                RateChange(at_ns=8_000 * MS, factor=1.0),
            ),
        ),
        operator("op", "src", parallelism=2, service_ns=MS),
    ),
    "unaligned": job(
        source(parallelism=2),
        operator("op", "src", parallelism=2, service_ns=2 * MS),
        checkpointing=Checkpointing(mode=Mode.UNALIGNED, tolerable_failures=1000),
        storage=Storage(write_bytes_per_s=1_000_000),
        network=Network(floating_buffers=16),
    ),
    "limit_of_all_streams": job(
        source(parallelism=2),
        operator("op", "src", parallelism=3, service_ns=MS, state_bytes=1_500_000),
        operator("last", "op", by=Partitioner.REBALANCE, parallelism=2, service_ns=300_000),
        storage=Storage(write_bytes_per_s=3_000_000, shared_limit=True),
    ),
    "key_of_the_vertex_in_front": keyed_twice(keeps_key=True),
    "key_of_its_own": keyed_twice(keeps_key=False),
    "same_key_and_all_busy": job(
        source(parallelism=2),
        operator("first", "src", parallelism=4, service_ns=200_000, selectivity=0.2),
        Vertex(
            name="last",
            inputs=(Input(upstream="first", partitioner=HASH, keeps_key=True),),
            parallelism=2,
            service_ns=1_500_000,
        ),
    ),
    "files_of_several_vertices": job(
        source(parallelism=2),
        operator("first", "src", by=Partitioner.REBALANCE, parallelism=2, service_ns=300_000),
        operator("second", "first", by=Partitioner.REBALANCE, parallelism=2, service_ns=300_000),
        operator("last", "second", parallelism=2, service_ns=MS),
        placement=PlacementKind.LOCAL,
        checkpointing=Checkpointing(mode=Mode.UNALIGNED, tolerable_failures=1000),
        storage=Storage(write_bytes_per_s=2_000_000),
    ),
}


def on_rig(name: str) -> Job:
    """Return a job with the constants of the machine that recordings were made on."""
    return replace(JOBS[name], profile=Profile.RIG)


def imported(name: str, folder: Path) -> Job:
    """Record a job, import the recording and return what came of it."""
    recorder = Recorder(on_rig(name), samples_ms=SAMPLES)
    recording = read_recording(recorder.write(folder / name))
    model = scenario_of(recording, profile=Profile.RIG).scenario.model
    assert isinstance(model, Job)
    return model


def figures(model: Job) -> tuple[float, float]:
    """Return median duration in ms and median bytes in flight after the warm-up."""
    scenario = Scenario(name="a", link="barriers", says="b", model=model)
    rows = [
        row
        for seed in (1, 2, 3)
        for row in [
            one for one in run_world(scenario, seed=seed).checkpoints if one.status == "completed"
        ][2:]
    ]
    return (
        median((row.duration_ns or 0) / 1e6 for row in rows),
        median(row.persisted_bytes or 0 for row in rows),
    )


@pytest.mark.parametrize("name", JOBS)
def test_a_recorded_job_is_the_job(name: str, tmp_path: Path) -> None:
    """The imported job has the graph, and its checkpoints are as the ones of the one recorded."""
    ours, theirs = imported(name, tmp_path), on_rig(name)
    for mine, real in zip(ours.vertices, theirs.vertices, strict=True):
        assert (mine.name, mine.parallelism) == (real.name, real.parallelism)
        assert [i.partitioner for i in mine.inputs] == [i.partitioner for i in real.inputs]
        assert mine.two_input == real.two_input
        assert mine.selectivity == pytest.approx(real.selectivity, rel=0.02)
    assert ours.placement is theirs.placement
    assert ours.machine.cores == (theirs.machine.cores or 2)
    duration, persisted = figures(ours)
    expected, in_flight = figures(theirs)
    assert duration == pytest.approx(expected, rel=0.06, abs=8)
    assert persisted == pytest.approx(in_flight, rel=0.08, abs=40_000)


def test_what_differs_between_subtasks_is_found(tmp_path: Path) -> None:
    """Service factors, shares, record sizes and state match the job."""
    slow = imported("slow_in_the_middle", tmp_path).vertices[1]
    assert slow.service_factors == pytest.approx((1.0, 2.5, 1.0), rel=0.03)
    hot = imported("hot_keys_and_sizes", tmp_path)
    assert hot.vertices[1].inputs[0].shares == pytest.approx((0.2, 0.6, 0.2), rel=0.06)
    sizes = [v.record_bytes or hot.network.record_bytes for v in hot.vertices[:2]]
    assert sizes == pytest.approx([2_000, 500], rel=0.02)
    twice = imported("same_key_twice", tmp_path)
    assert twice.vertices[1].inputs[0].shares[0] == pytest.approx(4 / 6, rel=0.05)
    assert twice.vertices[2].inputs[0].shares == ()
    uneven = imported("uneven_rates", tmp_path).vertices[0]
    assert uneven.rate_per_s == pytest.approx(900, rel=0.02)
    assert uneven.rate_shares == pytest.approx((1 / 6, 1 / 6, 4 / 6), rel=0.02)


def test_a_burst_between_samples_is_found(tmp_path: Path) -> None:
    """Rates of windows that differ are the course of the rate, over and over. Others have none."""
    assert imported("uneven_rates", tmp_path).vertices[0].rate_changes == ()
    found = imported("bursts", tmp_path)
    bursts, operator_ = found.vertices
    assert bursts.rate_per_s == pytest.approx(450, rel=0.03)
    instants = [change.at_ns / 1e9 for change in bursts.rate_changes]
    assert instants == pytest.approx([0, 2, 4], abs=0.1)
    factors = [change.factor for change in bursts.rate_changes]
    assert factors == pytest.approx([2 / 3, 2, 2 / 3], rel=0.03)
    assert bursts.rate_period_ns == pytest.approx(8e9, rel=0.02)
    slow = replace(found, vertices=(bursts, replace(operator_, service_ns=3 * MS)))
    assert "op is asked for 1.36 times what it can do while" in " ".join(warnings_of(slow))


@pytest.mark.parametrize(
    ("name", "keeps"),
    [
        ("key_of_the_vertex_in_front", True),
        ("key_of_its_own", False),
        ("same_key_and_all_busy", True),
    ],
)
def test_whose_key_a_vertex_has_is_found(name: str, *, keeps: bool, tmp_path: Path) -> None:
    """Which senders the busiest subtask holds up says whether keys are those for the one before."""
    assert imported(name, tmp_path).vertices[2].inputs[0].keeps_key is keeps


def test_whose_limit_the_storage_has_is_found(tmp_path: Path) -> None:
    """Files that take longer beside others share a limit. Those that do not have one each."""
    shared = imported("limit_of_all_streams", tmp_path).storage
    assert shared.shared_limit
    assert shared.write_bytes_per_s == pytest.approx(3_000_000, rel=0.1)
    assert not imported("slow_storage", tmp_path).storage.shared_limit


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("slow_storage", 5_000_000),
        ("unaligned", 1_000_000),
        ("files_of_several_vertices", 2_000_000),
    ],
)
def test_a_slow_storage_is_found(name: str, rate: int, tmp_path: Path) -> None:
    """The limit of a stream follows from bytes and time, of state as of data in flight."""
    found = imported(name, tmp_path).storage.write_bytes_per_s
    assert found == pytest.approx(rate, rel=0.1)
