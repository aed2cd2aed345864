"""State in files: what a checkpoint uploads, what a restore reads, and which limits hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import (
    Backend,
    Checkpointing,
    Engine,
    FailoverKind,
    FixedDelay,
    Input,
    Job,
    NoRestart,
    Partitioner,
    Plane,
    Recovery,
    StateTable,
    Storage,
    Vertex,
    VertexKind,
)
from ckptsim.scenarios.job.faults import CrashTask, CrashTaskManager, JobFault
from ckptsim.sim.infer.change import changed
from ckptsim.sim.job.buffers.constants import PLAIN, constants_of
from ckptsim.sim.job.buffers.state.keyed_state import COMPACTED_FLUSHES, KeyedState, StateFiles
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers.oracle import BufferOracle
from ckptsim.sim.kernel import Environment

MB = 1_000_000
S = 1_000_000_000
ROCKSDB = StateTable(backend=Backend.ROCKSDB, incremental=True)
KEYED = Vertex(name="keyed", keys=20_000, value_bytes=984)  # 20 MB with the bytes around a value


def job(keyed: Vertex, *, way: Partitioner = Partitioner.HASH, rate: float = 20.0) -> Job:
    """Return a source and a vertex with state, two subtasks each."""
    source = Vertex(name="source", kind=VertexKind.SOURCE, parallelism=2, rate_per_s=rate)
    edge = Input(upstream="source", partitioner=way)
    return Job(
        plane=Plane.BUFFERS,
        vertices=(source, replace(keyed, parallelism=2, inputs=(edge,))),
        checkpointing=Checkpointing(interval_ns=2 * S, first_trigger_ns=S),
        restart=NoRestart(),
        duration_ns=20 * S,
    )


def run(model: Job, *faults: JobFault) -> DataflowWorld:
    """Run a job to its end. No property may be violated."""
    world = DataflowWorld(Environment(1), model, faults=FaultPlan(faults), observer=BufferOracle)
    world.run()
    assert not world.violations
    return world


def failing(model: Job, *faults: JobFault) -> DataflowWorld:
    """Run a job that restarts in its time."""
    again = replace(model, restart=FixedDelay(delay_ns=S // 2), recovery=Recovery(timed=True))
    return run(again, *faults)


def durations_ms(world: DataflowWorld) -> list[float]:
    """Return how long each completed checkpoint took."""
    records = world.coordinator.records.values()
    return [(one.duration_ns or 0) / 1e6 for one in records if one.status == "completed"]


@pytest.mark.parametrize("rate", [MB, 20 * MB, 500 * MB, 5_000 * MB])
def test_a_limit_is_kept_to_the_byte(rate: int) -> None:
    """A file takes what its bytes take at the rate, or what a core needs for them."""
    model = job(Vertex(name="keyed", state_bytes=20 * MB), way=Partitioner.REBALANCE)
    found = durations_ms(run(replace(model, storage=Storage(write_bytes_per_s=rate))))
    work_ms = (PLAIN.file_cost_ns + 10 * PLAIN.state_ns_per_mb) / 1e6
    assert found[0] == pytest.approx(max(work_ms, 10 * MB / rate * 1_000), rel=0.02, abs=20)


@pytest.mark.parametrize(("table", "factor"), [({"shared_limit": True}, 2), ({}, 1)])
def test_streams_share_a_limit(table: dict[str, bool], factor: int) -> None:
    """Two subtasks take twice as long where the job has one limit, or both their host."""
    model = job(Vertex(name="keyed", state_bytes=20 * MB), way=Partitioner.REBALANCE)
    limited = replace(model, storage=Storage(write_bytes_per_s=20 * MB, **table))
    assert durations_ms(run(limited))[0] == pytest.approx(500 * factor, abs=25)


def test_each_slot_has_a_processor_and_deletes_wait_for_nobody() -> None:
    """The default is one core for each slot, and no start delay after a large checkpoint."""
    model = job(Vertex(name="keyed", state_bytes=2_000 * MB))
    assert constants_of(model).cores == 4
    world = run(replace(model, checkpointing=replace(model.checkpointing, interval_ns=S)))
    parts = [part for one in world.coordinator.records.values() for part, _ in one.parts.values()]
    assert len(durations_ms(world)) > 3
    assert max(part.start_delay_ns for part in parts) < 30 * 1_000_000


def test_a_flush_has_each_key_once() -> None:
    """Hot keys are written once, others as often as they are likely to be touched."""
    hot = replace(KEYED, hot_keys=100, hot_share=0.9)
    sizes = {}
    for name, vertex in (("even", KEYED), ("hot", hot)):
        state = KeyedState(ROCKSDB, vertex, 0, PLAIN, held=StateFiles((20 * MB,)), phase=0)
        sizes[name] = state.capture(10_000, S).uploaded[0]
    assert sizes["even"] == pytest.approx(20_000 * (1 - 2.71828**-0.5) * 1_000, rel=0.001)
    assert sizes["hot"] == pytest.approx(
        100_000 + 19_900 * (1 - 2.71828 ** (-1 / 19.9)) * 1_000, rel=0.01
    )


def test_the_flush_after_four_uploads_the_state_again() -> None:
    """A compaction rewrites all keys, and older versions count until then."""
    state = KeyedState(ROCKSDB, KEYED, 0, PLAIN, held=StateFiles((20 * MB,)), phase=0)
    found = [state.capture(1_000 * count, S) for count in range(1, COMPACTED_FLUSHES + 2)]
    small, *_, last = [sum(one.uploaded) for one in found]
    assert last == pytest.approx(small + 20 * MB, rel=0.001)
    assert sum(found[3].files.sizes) == pytest.approx(20 * MB + 4 * small, rel=0.001)
    assert len(found[-1].files.sizes) == 2


def test_a_restore_reads_the_whole_state() -> None:
    """An incremental checkpoint uploads its delta. A restore reads older files, too."""
    model = job(replace(KEYED, state_delta_bytes=None), rate=200.0)
    limited = replace(model, state=ROCKSDB, storage=Storage(read_bytes_per_s=20 * MB))
    world = failing(limited, CrashTask(vertex="keyed", subtask=0, at_ns=6 * S))
    (record,) = world.control.failovers
    uploaded = [
        sum(part.state_bytes for part, _ in one.parts.values())
        for one in world.coordinator.records.values()
    ]
    assert uploaded[1] < MB
    assert 20 * MB < (record.bytes_read or 0) < 22 * MB
    assert record.restore_ns == pytest.approx(0.5 * S, abs=0.25 * S)


@pytest.mark.parametrize("engine", [Engine.PROCESSES, Engine.COMPILED])
def test_a_failure_restarts_its_region(engine: Engine) -> None:
    """Half of a job of two lanes runs on. All of it restarts where the strategy says so."""
    lanes = replace(
        job(Vertex(name="keyed", state_bytes=20 * MB), way=Partitioner.FORWARD), engine=engine
    )
    crash = CrashTask(vertex="keyed", subtask=0, at_ns=6 * S)
    (one,) = failing(lanes, crash).control.failovers
    whole = Recovery(timed=True, failover=FailoverKind.FULL)
    restart = FixedDelay(delay_ns=S // 2)
    (all_,) = run(replace(lanes, restart=restart, recovery=whole), crash).control.failovers
    assert (one.restarted, len(all_.restarted)) == ((0, 2), 4)
    assert one.reprocessed == pytest.approx(all_.reprocessed / 2, abs=3)
    assert (one.bytes_read or 0) * 2 == pytest.approx(all_.bytes_read, rel=0.01)


def test_local_copies_are_read_where_the_task_manager_lives() -> None:
    """Nothing comes from the storage, except the state of a lost task manager."""
    state = StateTable(local_recovery=True)
    model = replace(job(Vertex(name="keyed", state_bytes=20 * MB)), state=state)
    at = {"vertex": "keyed", "subtask": 0, "at_ns": 6 * S}
    (alive,) = failing(model, CrashTask(**at)).control.failovers
    (lost,) = failing(replace(model, duration_ns=60 * S), CrashTaskManager(**at)).control.failovers
    assert alive.bytes_read == 0
    assert lost.bytes_read == pytest.approx(10 * MB, rel=0.01)


def test_slots_of_a_killed_process_are_offered_until_heartbeats_fail() -> None:
    """Restarts fail one by one until two requests have, and then the job comes back."""
    model = replace(job(Vertex(name="keyed")), duration_ns=40 * S)
    crash = CrashTaskManager(vertex="keyed", subtask=0, at_ns=6 * S)
    (record,) = failing(model, crash).control.failovers
    assert 9 * S < (record.running_ns or 0) - record.failed_ns < 23 * S


def test_a_source_that_starts_up_answers_late() -> None:
    """Its first checkpoint waits for it, and later ones do not."""
    model = job(Vertex(name="keyed"))
    slow = replace(model.vertices[0], startup_ns=5 * S)
    world = run(replace(model, vertices=(slow, model.vertices[1])))
    found = durations_ms(world)
    assert found[0] == pytest.approx(4_000, abs=50)
    assert max(found[2:]) < 50


@pytest.mark.parametrize(
    "words",
    [
        {"state.backend.type": "rocksdb", "execution.checkpointing.incremental": "true"},
        {"state.backend": "rocksdb", "state.backend.incremental": "true"},
    ],
)
def test_names_of_the_engine_set_the_state(words: dict[str, str]) -> None:
    """The backend and its checkpoints are read by the names of Flink 1.20 and of before."""
    scenario = Scenario(name="a", link="barriers", says="b", model=job(KEYED))
    model = changed(scenario, words | {"state.backend.local-recovery": "true"}).model
    assert isinstance(model, Job)
    assert model.state == StateTable(backend=Backend.ROCKSDB, incremental=True, local_recovery=True)
