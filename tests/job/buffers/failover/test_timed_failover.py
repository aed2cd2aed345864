"""Failovers that take their time: the order of their parts, how long they take, what continues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ckptsim.scenarios.files import plain
from ckptsim.scenarios.job import (
    Checkpointing,
    Engine,
    FixedDelay,
    Input,
    Job,
    Mode,
    NoRestart,
    Partitioner,
    Plane,
    Profile,
    Recovery,
    Storage,
    Vertex,
    VertexKind,
)
from ckptsim.scenarios.job.faults import CrashTask, CrashTaskManager, JobFault, SlowFile
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.compiled.channel import CompiledGate
from ckptsim.sim.job.buffers.input import InputGate
from ckptsim.sim.job.buffers.restoring import FIRST, LATER
from ckptsim.sim.job.control.failover import FailoverRecord
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from tests.job.buffers.plans import crashing_job
from tests.job.many import played
from tests.job.records.plans import scenario_of

MS = 1_000_000
S = 1_000 * MS


def job(
    *, rate: float | None = 1_000.0, mode: Mode = Mode.ALIGNED, state: int = 0, **rest: Any
) -> Job:
    """Return two subtasks of a source and two of an operator with a millisecond per record."""
    source = Vertex(
        name="source",
        kind=VertexKind.SOURCE,
        parallelism=2,
        rate_per_s=rate,
        replayable=rate is not None,
    )
    edge = Input(upstream="source", partitioner=Partitioner.HASH)
    operator = Vertex(
        name="operator", parallelism=2, inputs=(edge,), service_ns=MS, state_bytes=state
    )
    settings: dict[str, Any] = {
        "duration_ns": 8 * S,
        "checkpointing": Checkpointing(
            mode=mode, interval_ns=1_000 * MS, first_trigger_ns=500 * MS, tolerable_failures=99
        ),
        "restart": FixedDelay(delay_ns=200 * MS),
        "recovery": Recovery(timed=True),
    }
    return Job(plane=Plane.BUFFERS, vertices=(source, operator), **(settings | rest))


def run(model: Job, *faults: JobFault, seed: int = 1) -> DataflowWorld:
    """Run a job with faults. All properties hold."""
    plan = FaultPlan(faults)
    world = DataflowWorld(Environment(seed), model, faults=plan, observer=BufferOracle)
    world.run()
    assert world.violations == []
    return world


def crash(at_ms: int, subtask: int = 0) -> CrashTask:
    """Return a failure of the operator."""
    return CrashTask(vertex="operator", subtask=subtask, at_ns=at_ms * MS)


def instants(one: FailoverRecord) -> list[int]:
    """Return the instants of a failover in their order. None may be missing."""
    found = [
        one.failed_ns,
        one.known_ns,
        one.canceled_ns,
        one.resumed_ns,
        one.opened_ns,
        one.handed_over_ns,
        one.first_record_ns,
        one.caught_up_ns,
    ]
    assert None not in found
    return [at_ns or 0 for at_ns in found]


def test_the_parts_come_in_order_and_take_their_time() -> None:
    """Known, cancelled, deployed, opened, handed over. The costs stand between them."""
    (one,) = run(job(), crash(2_100)).control.failovers
    failed, known, canceled, resumed, opened, handed, first, caught = instants(one)
    assert known == failed + FIRST.report_ns
    assert canceled == known + FIRST.cancel_ns
    assert resumed == known + 200 * MS + FIRST.restart_ns
    assert resumed < opened <= handed <= first < caught
    assert one.restored == 2


def test_the_delay_hides_a_cancellation_that_is_quicker() -> None:
    """Without a delay the restart waits for the cancellation alone."""
    (one,) = run(job(restart=FixedDelay(delay_ns=0)), crash(2_100)).control.failovers
    _, known, canceled, resumed, *_ = instants(one)
    assert canceled == known + FIRST.cancel_ns
    assert resumed == canceled + FIRST.restart_ns


def test_the_first_restart_of_a_process_takes_longer() -> None:
    """Later ones have the smaller costs in every part."""
    first, later = run(job(), crash(2_100), crash(4_100)).control.failovers
    assert (later.known_ns or 0) - later.failed_ns == LATER.report_ns < FIRST.report_ns
    down = [(one.first_record_ns or 0) - one.failed_ns for one in (first, later)]
    assert down[1] < down[0] - 50 * MS


def test_a_checkpoint_under_way_may_still_complete() -> None:
    """The failed task has acknowledged. The others continue until they are cancelled."""
    slow = SlowFile(vertex="operator", subtask=1, checkpoint=2, delay_ns=110 * MS)
    model = job(state=2_000_000, storage=Storage(inline_threshold_bytes=0))
    (one,) = run(model, slow, crash(1_630)).control.failovers
    assert one.restored == 2
    world = run(model, slow, CrashTask(vertex="operator", subtask=1, at_ns=1_630 * MS))
    assert world.control.failovers[0].restored == 1  # the one that failed was still writing


def test_a_failed_task_acknowledges_nothing_when_its_file_is_whole() -> None:
    """In-flight data that a task handed to the storage is stored when the task is no more."""
    slow = SlowFile(vertex="operator", subtask=0, checkpoint=2, delay_ns=130 * MS)
    world = run(job(rate=None, mode=Mode.UNALIGNED), slow, crash(1_630))
    assert world.control.failovers[0].restored == 1
    assert world.coordinator.records[2].status == "aborted"


def test_sources_go_on_until_they_are_cancelled() -> None:
    """What they emit meanwhile is done again, too: rate times the time to the cancellation."""
    world = run(job(), crash(2_100))
    (one,) = world.control.failovers
    triggered = world.coordinator.records[one.restored or 0].triggered_ns
    since_ns = (one.canceled_ns or 0) - triggered
    assert one.reprocessed == pytest.approx(since_ns / MS, abs=25)


def test_a_clock_that_does_not_stop_loses_no_record() -> None:
    """At the end every source is where its rate leads, and the job has caught up."""
    world = run(job(), crash(2_100), crash(4_100))
    assert list(world.positions().values()) == pytest.approx([4_000, 4_000], abs=40)
    for one in world.control.failovers:
        late_ns = (one.first_record_ns or 0) - world.coordinator.records[
            one.restored or 0
        ].triggered_ns
        assert late_ns - 20 * MS <= (one.peak_latency_ns or 0) <= late_ns + 150 * MS


def test_a_source_that_drops_what_it_missed_is_not_late() -> None:
    """Without a clock of its own a job is after by its outage, and never more than a moment."""
    model = job()
    source = replace(model.vertices[0], replayable=False)
    world = run(replace(model, vertices=(source, model.vertices[1])), crash(2_100))
    assert max(world.positions().values()) < 4_000


@pytest.mark.parametrize(("rate", "least_ms"), [(5_000_000, 2_000), (20_000_000, 500)])
def test_state_is_read_at_the_rate_of_its_stream(rate: int, least_ms: int) -> None:
    """Each subtask reads its half through a stream of its own, somewhat below the rate."""
    model = job(
        state=20_000_000,
        duration_ns=12 * S,
        storage=Storage(read_bytes_per_s=rate),
    )
    (one,) = run(model, crash(2_100)).control.failovers
    plain, *_ = run(job(), crash(2_100)).control.failovers
    took_ns = (one.opened_ns or 0) - (one.resumed_ns or 0)
    without_ns = (plain.opened_ns or 0) - (plain.resumed_ns or 0)
    assert 0.98 * least_ms * MS <= took_ns - without_ns <= 1.1 * least_ms * MS
    assert one.bytes_read == pytest.approx(20_000_000, rel=0.01)


def in_flight(**storage: Any) -> DataflowWorld:
    """Run a job under back-pressure with unaligned checkpoints that fails."""
    return run(job(rate=None, mode=Mode.UNALIGNED, storage=Storage(**storage)), crash(2_300))


def test_in_flight_data_is_handed_over_before_anything_new() -> None:
    """The operators process it while they are not RUNNING, about as long as it takes them."""
    world = in_flight()
    (one,) = world.control.failovers
    record = world.coordinator.records[one.restored or 0]
    assert one.bytes_read is not None
    spans = [
        (size, records)
        for part, _ in record.parts.values()
        for held in (part.input_spans, part.output_spans)
        for found in held.values()
        for size, records in found
    ]
    assert one.bytes_read == sum(size + 4 for size, _ in spans) > 500_000
    worst = max(
        sum(records for found in part.input_spans.values() for _, records in found)
        for part, _ in record.parts.values()
    )
    handed_ns = (one.handed_over_ns or 0) - (one.first_record_ns or 0)
    assert handed_ns == pytest.approx(worst * 1.05 * MS, rel=0.1)


def test_slow_storage_holds_up_sources_and_not_the_first_record() -> None:
    """Operators begin with the first buffer that is read. A source first reads all its output."""
    (slow,), (fast,) = (
        in_flight(read_bytes_per_s=rate).control.failovers for rate in (1_000_000, 1_000_000_000)
    )
    first_ns = [(one.first_record_ns or 0) - (one.resumed_ns or 0) for one in (slow, fast)]
    opened_ns = [(one.opened_ns or 0) - (one.resumed_ns or 0) for one in (slow, fast)]
    assert first_ns[0] - first_ns[1] < 50 * MS
    assert opened_ns[0] - opened_ns[1] > 200 * MS


def test_no_checkpoint_is_triggered_before_all_tasks_run() -> None:
    """Ticks come while tasks restore, and are refused."""
    model = job(
        state=20_000_000,
        duration_ns=12 * S,
        storage=Storage(read_bytes_per_s=5_000_000),
        checkpointing=Checkpointing(interval_ns=300 * MS, tolerable_failures=0),
    )
    world = run(model, crash(2_100))
    (one,) = world.control.failovers
    for record in world.coordinator.records.values():
        assert not (one.known_ns or 0) < record.triggered_ns < (one.handed_over_ns or 0)
    assert any(
        record.triggered_ns > (one.handed_over_ns or 0) and record.status == "completed"
        for record in world.coordinator.records.values()
    )


def test_a_failure_during_the_restart_begins_it_anew() -> None:
    """Two failures share a restart when the second one strikes before the tasks are cancelled."""
    world = run(job(), crash(2_100), crash(2_120, subtask=1))
    one, two = world.control.failovers
    assert one.resumed_ns == two.resumed_ns
    assert world.control.attempts == 2
    assert (two.resumed_ns or 0) == two.failed_ns + (FIRST.report_ns + 200 * MS + FIRST.restart_ns)
    again = run(job(state=20_000_000, storage=Storage(read_bytes_per_s=5_000_000)), crash(2_100))
    while_reading = ((again.control.failovers[0].resumed_ns or 0) + 500 * MS) // MS
    world = run(
        job(state=20_000_000, storage=Storage(read_bytes_per_s=5_000_000)),
        crash(2_100),
        crash(while_reading),
    )
    assert world.control.attempts == 3
    assert world.control.failovers[0].opened_ns is None
    assert world.control.failovers[1].opened_ns is not None


def test_a_lost_task_manager_needs_a_slot_on_another() -> None:
    """The restart takes longer by that, and nothing else differs."""
    lost = CrashTaskManager(vertex="operator", subtask=0, at_ns=2_100 * MS)
    model = replace(job(), profile=Profile.RIG)  # which gives slots back at once
    opened = [run(model, fault).control.failovers[0].opened_ns for fault in (lost, crash(2_100))]
    assert (opened[0] or 0) - (opened[1] or 0) == FIRST.slot_ns


def test_without_a_restart_the_job_fails_when_all_is_cancelled() -> None:
    """It ends then, and not at the failure. There is no recovery."""
    world = run(job(restart=NoRestart()), crash(2_100))
    assert world.control.gave_up
    assert world.env.now == 2_100 * MS + FIRST.report_ns + FIRST.cancel_ns
    assert world.control.failovers == []


@pytest.mark.parametrize(
    ("engine", "kind"), [(Engine.PROCESSES, InputGate), (Engine.COMPILED, CompiledGate)]
)
def test_restored_outputs_wait_for_each_other(
    engine: Engine, kind: type[InputGate | CompiledGate]
) -> None:
    """Of every gate the markers after restored outputs are taken once, and nothing stays blocked.

    Until the last of them is there, no sender of the gate sends anything new.
    """
    seen: list[tuple[int, int, bool]] = []

    def noted(gate: Any) -> None:
        blocked = all(channel.subpartition.core.blocked for channel in gate.channels)
        original(gate)
        seen.append((gate.task.number, gate.recovered, blocked))

    original: Callable[[Any], None] = kind.channel_recovered
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "channel_recovered", noted)
        model = replace(job(rate=None, mode=Mode.UNALIGNED, duration_ns=4 * S), engine=engine)
        world = run(model, crash(2_100))
    for task in world.tasks_of("operator"):
        counts = [(count, blocked) for number, count, blocked in seen if number == task.number]
        assert [count for count, _ in counts] == list(range(1, len(task.channels) + 1))
        assert counts[-1][1]  # all senders stood after their markers when the last one was taken
        assert not any(one.subpartition.core.blocked for one in task.channels)


def check_many(seeds: range) -> Counter[str]:
    """Run random jobs that fail in their time. Return the observations of them."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        text: Any = plain(crashing_job(seed))
        text["job"]["recovery"] = {"timed": True}
        for vertex in text["job"]["vertices"]:
            if vertex.get("kind") == "source" and vertex.get("rate_per_s"):
                vertex["replayable"] = bool(seed % 2)
        result = played(scenario_of(text), seed)
        seen[result.run.outcome] += 1
        for row in result.recoveries:
            seen["recoveries"] += 1
            seen["read"] += bool(row.bytes_read)
            seen["afresh"] += row.restored_from == "its beginning"
    return seen


def test_random_jobs_that_fail_in_their_time_break_nothing() -> None:
    """Records are in the state of every task exactly once, or at least once where so set."""
    seen = check_many(range(24))
    assert seen["recoveries"] >= 20
    assert min(seen["read"], seen["afresh"], seen["completed"]) >= 5


@pytest.mark.long
def test_many_random_jobs_that_fail_in_their_time_break_nothing() -> None:
    """The same for 400 jobs."""
    seen = check_many(range(20, 420))
    assert seen["recoveries"] >= 400


def test_the_same_seed_gives_the_same_course() -> None:
    """Digests and instants agree. Another seed has other ones."""
    worlds = [run(job(), crash(2_100), seed=seed) for seed in (3, 3, 4)]
    digests = [world.env.trace.digest() for world in worlds]
    assert digests[0] == digests[1] != digests[2]


def test_what_cannot_take_time_is_refused() -> None:
    """Plane `records` restarts at once, and says so."""
    assert any("recovery.timed" in p.path for p in replace(job(), plane=Plane.RECORDS).problems())
