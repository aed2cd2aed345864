"""How late records are, and when a job has caught up: against plain recounts of small cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.scenarios.job import Input, Job, Mode, Partitioner, Vertex
from ckptsim.sim.job.buffers.restoring.caught_up import caught_up_ns
from ckptsim.sim.job.buffers.restoring.lateness import CALM_NS, CELL_NS, UNKNOWN, DueInstants
from tests.job.buffers.failover.test_timed_failover import MS, S, crash, job, run

Records = list[tuple[int, int]]
BEGAN = 1_007 * MS
LATE_NS = 200 * MS


def plainly(records: Records, until_ns: int) -> int | None:
    """Return when a job has caught up, by looking at every instant of the grid."""
    for place in range(BEGAN // CELL_NS, until_ns // CELL_NS):
        start, end = place * CELL_NS, place * CELL_NS + CALM_NS
        if end > until_ns:
            return None
        if not any(start <= at < end and late > LATE_NS for at, late in records):
            return max(start, BEGAN)
    return None


@given(
    st.lists(
        st.tuples(st.integers(BEGAN, BEGAN + 3 * S), st.integers(0, 400 * MS)),
        min_size=1,
        max_size=8,
    ),
    st.integers(BEGAN + 1, BEGAN + 4 * S),
)
def test_caught_up_is_the_first_calm_second(records: Records, until_ns: int) -> None:
    """It begins on the grid, and ends before the next failure."""
    kept = [(at, late) for at, late in records if at < until_ns]
    ends = np.array([at for at, _ in kept], dtype=np.int64)
    late = np.array([late for _, late in kept], dtype=np.int64)
    expected = plainly(kept, until_ns) if kept else None
    assert caught_up_ns(ends, late, LATE_NS, began_ns=BEGAN, until_ns=until_ns) == expected


def chain(model: Job) -> Job:
    """Put an operator that drops two records of three after the other one."""
    first = replace(model.vertices[1], selectivity=1 / 3)
    edge = Input(upstream="operator", partitioner=Partitioner.REBALANCE)
    return replace(
        model,
        vertices=(model.vertices[0], first, Vertex(name="last", parallelism=2, inputs=(edge,))),
    )


@pytest.mark.parametrize("mode", [Mode.ALIGNED, Mode.UNALIGNED])
def test_every_record_is_counted_in_an_undisturbed_job(mode: Mode) -> None:
    """Emitted records are done or in flight, none is early or later than a flush."""
    world = run(job(mode=mode, duration_ns=3 * S))
    assert world.timed is not None
    late = np.concatenate(world.timed.lateness.late)
    emitted = sum(world.positions().values())
    assert emitted - 200 <= len(late) <= emitted
    assert late.min() > 0
    assert late.max() < 250 * MS


@pytest.mark.parametrize("mode", [Mode.ALIGNED, Mode.UNALIGNED])
def test_due_instants_follow_their_records_through_a_restart(mode: Mode) -> None:
    """Within a channel records stay in order, so per source no later one is due earlier."""
    world = run(chain(job(mode=mode, duration_ns=5 * S)), crash(2_300))
    assert world.timed is not None
    (one,) = world.control.failovers
    behind = [
        (ends, late)
        for ends, late in zip(world.timed.lateness.ends, world.timed.lateness.late, strict=True)
        if len(ends) and ends[0] > (one.first_record_ns or 0)
    ]
    due = np.concatenate([ends - late for ends, late in behind])
    restored = world.coordinator.records[one.restored or 0].triggered_ns
    # Nothing from before the checkpoint but the in-flight data in it comes again.
    assert due.min() > restored - 400 * MS
    assert due.min() < restored + 100 * MS
    # Two records of three are dropped on the way.
    sent = world.positions()
    kept = sum(len(ends) for ends, _ in behind)
    again = sum(sent.values()) - restored * 1_000 // S
    assert kept == pytest.approx(again / 3, rel=0.1)


def test_records_without_a_due_instant_are_not_late() -> None:
    """A source without a rate has no clock: its records count, their lateness does not."""
    world = run(job(rate=None, duration_ns=1 * S))
    assert world.timed is not None
    assert world.timed.lateness.began_ns[0] is not None
    assert sum(len(late) for late in world.timed.lateness.late) == 0


def test_records_that_nobody_has_told_of_have_no_due_instant() -> None:
    """What a receiver takes beyond the notified news is unknown, and shifts nothing after it."""
    channel = DueInstants(np.array([7, 8], dtype=np.int64))
    assert channel.take(3).tolist() == [7, 8, UNKNOWN]
    assert channel.take(1).tolist() == [UNKNOWN]
    channel.push(np.array([9, 10, 11], dtype=np.int64))
    assert channel.take(2).tolist() == [11, UNKNOWN]
