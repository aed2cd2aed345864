"""Jobs on buffers that are rescaled while they run: in-flight data is taken up once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import gcd
from typing import Any

import numpy as np
import pytest

from ckptsim.models.recovery import Mapper
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import (
    Engine,
    Input,
    Job,
    Mode,
    Partitioner,
    Plane,
    Recorded,
    Vertex,
    VertexKind,
)
from ckptsim.scenarios.job.faults import CrashTask, Rescale
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.compiled.channel import CompiledGate
from ckptsim.sim.job.buffers.input import InputGate, input_gate
from ckptsim.sim.job.buffers.restoring import redistribution
from ckptsim.sim.job.buffers.state import recovery
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from ckptsim.sim.world import run_world
from tests.job.buffers.failover.test_timed_failover import MS, S, job
from tests.job.many import RESCALED
from tests.many import tally


def run(model: Job, *rescales: tuple[int, int], **settings: Any) -> DataflowWorld:
    """Run a job with an operator that is given other parallelisms at some instants in ms."""
    faults = [
        Rescale(vertex="operator", parallelism=count, at_ns=at_ms * MS) for at_ms, count in rescales
    ]
    crashes = [CrashTask(vertex="operator", at_ns=at) for at in settings.get("crashes", ())]
    world = DataflowWorld(
        Environment(settings.get("seed", 1)),
        model,
        faults=FaultPlan((*faults, *crashes)),
        observer=BufferOracle,
    )
    world.run()
    return world


def at_once(**settings: Any) -> Job:
    """Return a job after back-pressure with restarts that take no time."""
    model = job(rate=None, mode=Mode.UNALIGNED, duration_ns=4 * S, **settings)
    return replace(model, recovery=replace(model.recovery, timed=False))


def test_a_rescale_gives_the_next_attempt_its_parallelism() -> None:
    """From 2 to 3 to 1 subtasks, with the in-flight data, and no violation."""
    world = run(at_once(), (2_100, 3), (3_100, 1))
    assert world.violations == []
    assert [one.cause for one in world.control.failovers] == [
        "operator is rescaled to 3",
        "operator is rescaled to 1",
    ]
    assert len(world.tasks_of("operator")) == 1
    assert world.env.goals.counts["record_filtered"]


@pytest.mark.parametrize("timed", [False, True])
def test_every_driver_rescales(timed: bool) -> None:
    """Both drivers have one course, at once and in the time that it takes."""
    found = []
    for one in (Engine.COMPILED, Engine.PROCESSES):
        model = at_once(engine=one)
        model = replace(model, recovery=replace(model.recovery, timed=timed))
        world = run(model, (2_100, 4), (3_100, 1))
        found.append((world.env.trace.digest(), [repr(one) for one in world.control.failovers]))
    assert found[0] == found[1]


def test_a_rescale_asks_no_restart_strategy() -> None:
    """Nothing delays it, in no time and in its time. One failure after it still has its delay."""
    for timed in (False, True):
        model = job(rate=None, mode=Mode.UNALIGNED, duration_ns=6 * S)
        model = replace(model, recovery=replace(model.recovery, timed=timed))
        world = run(model, (2_100, 3), crashes=(4_000 * MS,))
        planned, crash = world.control.failovers
        assert planned.resumed_ns is not None
        assert crash.resumed_ns is not None
        assert planned.resumed_ns - planned.failed_ns < 100 * MS
        assert crash.resumed_ns - crash.failed_ns >= 200 * MS
        assert world.violations == []


def test_latency_lives_through_a_rescale() -> None:
    """Due instants follow their records into other channels.

    The latest record is late by the work done again and the restart, and the job catches up.
    """
    model = job(rate=1_000.0, mode=Mode.UNALIGNED, duration_ns=8 * S)
    world = run(model, (3_600, 3))
    (one,) = world.control.failovers
    assert one.first_record_ns is not None
    assert one.caught_up_ns is not None
    assert one.peak_latency_ns is not None
    began = one.first_record_ns - one.failed_ns
    assert began + one.reprocessed * MS <= one.peak_latency_ns <= began + one.reprocessed * MS + S


@pytest.mark.parametrize(
    ("engine", "kind"), [(Engine.PROCESSES, InputGate), (Engine.COMPILED, CompiledGate)]
)
def test_the_last_recovered_record_is_accounted_for(
    engine: Engine, kind: type[InputGate | CompiledGate], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its buffer is free, and its gate converted, before it has been processed."""
    converted: list[int] = []
    convert: Callable[[Any], None] = kind.convert

    def converting(gate: Any) -> None:
        convert(gate)
        observer = gate.task.world.observer
        assert isinstance(observer, BufferOracle)
        converted.append(sum(gate.task.unread_records(channel) for channel in gate.task.channels))
        observer.look()

    monkeypatch.setattr(kind, "convert", converting)
    model = replace(job(rate=None, mode=Mode.UNALIGNED, duration_ns=4 * S), engine=engine)
    world = run(model, (2_100, 3))
    assert world.violations == []
    assert len(converted) == 3
    assert any(converted)


def test_unfiltered_copies_are_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """If every taker kept every record, the attempt would begin from no cut."""
    monkeypatch.setattr(
        redistribution, "kept_by", lambda *arguments, **_: np.ones(arguments[-1], dtype=np.bool_)
    )
    world = run(at_once(), (2_100, 3))
    assert "restored_checkpoint_is_a_cut" in {name for name, *_ in world.violations}


def test_dropped_records_are_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no taker kept a record, they would be missing."""
    monkeypatch.setattr(
        redistribution, "kept_by", lambda *arguments, **_: np.zeros(arguments[-1], dtype=np.bool_)
    )
    world = run(at_once(), (2_100, 3))
    assert "restored_checkpoint_is_a_cut" in {name for name, *_ in world.violations}


@pytest.mark.parametrize(("old", "new"), [(2, 3), (3, 2), (1, 8), (8, 5)])
def test_every_record_has_one_keeper(old: int, new: int) -> None:
    """Each record of an old subtask has one taker, and shares are as even as key groups."""
    groups = 128
    most = 1_000 * (-(-groups // new)) // (groups // old)
    for taken in range(old):
        kept = [redistribution.kept_by(one, taken, (old, new), 1_000) for one in range(new)]
        assert np.array_equal(np.sum(kept, axis=0), np.ones(1_000))
        assert max(int(one.sum()) for one in kept) <= most + 2


@pytest.mark.parametrize(("old", "new"), [(2, 3), (3, 2), (4, 4), (8, 6)])
def test_a_custom_partitioner_s_records_have_one_keeper(old: int, new: int) -> None:
    """A key that is `taken` modulo the old parallelism goes where it goes modulo the new one."""
    for taken in range(old):
        kept = [
            redistribution.kept_by(one, taken, (old, new), 1_000, mapper=Mapper.FULL)
            for one in range(new)
        ]
        assert np.array_equal(np.sum(kept, axis=0), np.ones(1_000))
        takers = [one for one in range(new) if kept[one].any()]
        assert takers == [one for one in range(new) if (one - taken) % gcd(old, new) == 0]


def test_a_custom_partitioner_is_rescaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """In-flight data is copied to every subtask and filtered. Unfiltered it is convicted."""
    model = at_once()
    source, operator = model.vertices
    inputs = tuple(replace(one, partitioner=Partitioner.CUSTOM) for one in operator.inputs)
    model = replace(model, vertices=(source, replace(operator, inputs=inputs)))
    world = run(model, (2_100, 3), (3_100, 1))
    assert world.violations == []
    assert world.env.goals.counts["record_filtered"]
    monkeypatch.setattr(
        redistribution,
        "kept_by",
        lambda *arguments, **_: np.ones(arguments[-1], dtype=np.bool_),
    )
    assert run(model, (2_100, 3)).violations


def test_broadcast_state_is_the_same_in_every_new_subtask() -> None:
    """All that was broadcast to two subtasks is in the state of each of three, not shared out."""
    source = Vertex(name="source", kind=VertexKind.SOURCE, rate_per_s=200.0)
    edge = Input(upstream="source", partitioner=Partitioner.BROADCAST)
    operator = Vertex(
        name="operator", parallelism=2, inputs=(edge,), service_ns=MS // 10, broadcast_state=True
    )
    model = replace(at_once(), vertices=(source, operator))
    assert model.problems() == []
    world = run(model, (2_100, 3))
    assert world.violations == []
    counts = [task.processed for task in world.tasks_of("operator")]
    emitted = sum(world.positions().values())
    assert all(emitted - 20 <= count <= emitted for count in counts)
    shared = replace(model, vertices=(source, replace(operator, broadcast_state=False)))
    world = run(shared, (2_100, 3))
    assert world.violations == []
    assert sum(t.processed for t in world.tasks_of("operator")) < 3 * emitted - 100


def test_records_of_different_sizes_are_taken_up_whole() -> None:
    """What a rescale leaves of a buffer ends with a record, also where it is rescaled again."""
    model = at_once()
    source = replace(model.vertices[0], record_variation=1.0)
    world = run(replace(model, vertices=(source, model.vertices[1])), (2_100, 3), (3_100, 5))
    assert world.violations == []
    assert world.env.goals.counts["record_filtered"] == 2


def test_parts_of_a_record_may_be_read_one_behind_the_other() -> None:
    """While the rest of a cut record is still to be read at its sender, nothing of it is lost."""
    model = job(rate=None, mode=Mode.UNALIGNED, duration_ns=4 * S)
    source = replace(model.vertices[0], record_variation=1.0, record_bytes=12_000)
    network = replace(model.network, segment_bytes=8_192)
    storage = replace(model.storage, read_bytes_per_s=200_000)
    vertices = source, model.vertices[1]
    model = replace(model, vertices=vertices, network=network, storage=storage)
    assert run(model, crashes=(1_300 * MS,)).violations == []


def _told_apart(engine: Engine) -> DataflowWorld:
    """Run a job that is rescaled twice, with parts of records of several old channels in one."""
    model = at_once(engine=engine)
    checkpointing = replace(model.checkpointing, interval_ns=50 * MS)
    network = replace(model.network, record_bytes=12_000, segment_bytes=8_192)
    model = replace(model, checkpointing=checkpointing, network=network)
    joined = Rescale(vertex="source", parallelism=1, at_ns=2_100 * MS)
    filtered = Rescale(vertex="operator", parallelism=3, at_ns=2_250 * MS)
    faults = FaultPlan((joined, filtered))
    world = DataflowWorld(Environment(1), model, faults=faults, observer=BufferOracle)
    world.run()
    return world


@pytest.mark.parametrize("engine", [Engine.COMPILED, Engine.PROCESSES])
def test_checkpoints_wait_until_old_channels_need_not_be_told_apart(engine: Engine) -> None:
    """Records that two old channels have begun are restored no more before they are whole."""
    world = _told_apart(engine)
    assert world.violations == []
    assert world.env.goals.counts["declined_during_recovery"]


def test_a_gate_that_persists_what_it_cannot_tell_apart_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that takes part all the same begins out of turn."""
    monkeypatch.setattr(input_gate, "declined_while_recovering", lambda _: None)
    broken = {name for name, *_ in _told_apart(Engine.PROCESSES).violations}
    assert "input_starts_and_stops_in_turn" in broken


@pytest.mark.parametrize("waits", [True, False])
def test_a_subtask_without_splits_waits(monkeypatch: pytest.MonkeyPatch, *, waits: bool) -> None:
    """Of a source without an end one that has nothing to read ends nothing."""
    right = recovery.restore_counts

    def restore_counts(world: DataflowWorld, restored: JobCheckpoint) -> None:
        right(world, restored)
        for task in world.tasks:
            if isinstance(task, Source) and not world.splits.of(*task.place):
                task.stop()

    if not waits:
        monkeypatch.setattr("ckptsim.sim.job.buffers.world.restore_counts", restore_counts)
    model = at_once(engine=Engine.PROCESSES)
    more = Rescale(vertex="source", parallelism=4, at_ns=2_100 * MS)
    world = DataflowWorld(Environment(1), model, faults=FaultPlan((more,)), observer=BufferOracle)
    world.run()
    broken = {name for name, *_ in world.violations}
    assert ("sources_read_to_their_end" in broken) is not waits


def test_what_a_checkpoint_does_not_know_to_have_ended_is_read_again() -> None:
    """A source that ends after the checkpoint that is restored begins anew with more subtasks."""
    new, old = (Vertex(name=n, kind=VertexKind.SOURCE, rate_per_s=50.0) for n in ("new", "old"))
    inputs = tuple(Input(upstream=n, partitioner=Partitioner.REBALANCE) for n in ("new", "old"))
    operator = Vertex(name="operator", inputs=inputs, recorded=Recorded.RUNNING)
    sources = replace(new, records=2), replace(old, recorded=Recorded.RUNNING)
    at_end = replace(at_once().checkpointing, after_finish=False)
    model = replace(at_once(), vertices=(*sources, operator), checkpointing=at_end)
    fault = Rescale(vertex="new", parallelism=4, at_ns=200 * MS)
    spoken = replace(by_name("recovery_in_its_time"), model=model, faults=(fault,), goals=())
    result = run_world(spoken, seed=1)
    assert result.violations == []
    assert result.recoveries[0].restored_from == "checkpoint 1"


@pytest.mark.parametrize("parallelism", [1, 3])
def test_copied_state_is_not_written_again(parallelism: int) -> None:
    """A sink with broadcast state writes what it is sent, whatever a rescale copies or drops."""
    source = Vertex(name="source", kind=VertexKind.SOURCE, rate_per_s=200.0, records=600)
    edge = Input(upstream="source", partitioner=Partitioner.BROADCAST)
    sink = Vertex(
        name="operator",
        kind=VertexKind.SINK,
        parallelism=2,
        inputs=(edge,),
        service_ns=MS // 10,
        broadcast_state=True,
    )
    model = replace(at_once(), vertices=(source, sink), duration_ns=60 * S)
    world = run(model, (2_100, parallelism))
    assert world.control.ended
    assert world.rescales.copied["operator"] != 0
    assert world.violations == []


def test_random_jobs_that_crash_and_are_rescaled_break_nothing() -> None:
    """Fifty jobs from 1 to 8 subtasks. Every record is taken up once, whatever is replicated."""
    found = tally(RESCALED[Plane.BUFFERS], range(50))
    assert found.violations == []
    assert found.missed() == []
    assert found.goals["record_filtered"] >= 3


@pytest.mark.long
def test_many_random_jobs_that_crash_and_are_rescaled_break_nothing() -> None:
    """The same for 500 jobs."""
    found = tally(RESCALED[Plane.BUFFERS], range(50, 550))
    assert found.violations == []
    assert found.goals["record_filtered"] > 40
