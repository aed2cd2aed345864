"""Quiet syncs against closed forms: without spread every instant can be worked out by hand."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from statistics import median

import pytest

from ckptsim.scenarios import Scenario, sync
from ckptsim.scenarios.planning import load_plan, points
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

US = 1_000
MS = 1_000_000
OPEN, READ, TAKE, UPLOAD, SEND = 2 * MS, 10 * US, 4 * US, 5 * MS, 600 * US
LATENCY = 50 * US
NS_PER_BYTE_LINE, NS_PER_BYTE_UPLOAD = 50, 20  # 20 MB/s, 50 MB/s

EXACT = sync.SyncModel(
    streams=(sync.StreamTable(name="users", records=100, partition_records=100, record_bytes=100),),
    source=sync.SourceTable(
        open_ns=OPEN, open_spread=0.0, record_ns=READ, packet_records=100, state_bytes=1000
    ),
    sockets=sync.SocketTable(count=1, bandwidth_bytes_per_s=20_000_000, latency_ns=LATENCY),
    destination=sync.DestinationTable(
        record_ns=TAKE,
        batch_records=100,
        upload_ns=UPLOAD,
        upload_spread=0.0,
        upload_bandwidth_bytes_per_s=50_000_000,
        send_ns=SEND,
        send_spread=0.0,
    ),
)


def _run(model: sync.SyncModel) -> RunResult:
    scenario = Scenario(name="exact", link="ordering", says="closed form", model=model)
    result = run_world(scenario, seed=5)
    assert result.violations == []
    assert result.run.outcome == "completed"
    return result


def test_one_partition_is_released_at_the_instant_worked_out_by_hand() -> None:
    """Reading, line, taking in, upload and send follow one another. Nothing else takes time."""
    row = _run(EXACT).checkpoints[0]
    made = OPEN + 100 * READ
    taken_in = made + 100 * 100 * NS_PER_BYTE_LINE + LATENCY + 100 * TAKE
    durable = taken_in + UPLOAD + 100 * 100 * NS_PER_BYTE_UPLOAD
    assert row.triggered_ns == made
    assert row.wait_records_ns == taken_in - made
    assert row.wait_upload_ns == durable - taken_in
    assert row.wait_predecessor_ns == 0
    assert row.wait_send_ns == SEND
    assert row.completed_ns == durable + SEND


def test_state_that_comes_after_its_records_are_durable_waits_for_the_next_flush() -> None:
    """On one socket a state travels with the next reader. The flush of its batch takes it."""
    stream = replace(EXACT.streams[0], records=200)
    source = replace(EXACT.source, round_readers=1)
    first, second = _run(replace(EXACT, streams=(stream,), source=source)).checkpoints
    cycle = OPEN + 100 * READ
    assert second.triggered_ns - first.triggered_ns == cycle
    # The first state is carried by the second reader as soon as it has the socket.
    assert first.wait_records_ns == 100 * 100 * NS_PER_BYTE_LINE + LATENCY + 100 * TAKE
    assert first.completed_ns is not None
    assert second.completed_ns == first.completed_ns + cycle


@pytest.mark.parametrize("at_once", [1, 2, 4])
def test_slow_storage_decides_the_pace(at_once: int) -> None:
    """With uploads as the bottleneck k at once release a partition every 1/k of an upload."""
    upload = 100 * MS
    destination = replace(
        EXACT.destination,
        batch_records=10,
        upload_ns=upload,
        uploads_at_once=at_once,
        upload_bandwidth_bytes_per_s=10**12,
    )
    stream = replace(EXACT.streams[0], records=160, partition_records=10)
    source = replace(EXACT.source, open_ns=0, round_readers=1, packet_records=10)
    model = replace(EXACT, streams=(stream,), source=source, destination=destination)
    rows = _run(model).checkpoints
    done = [row.completed_ns for row in rows]
    waves = [done[index + at_once] or 0 for index in range(0, len(done) - at_once, at_once)]
    gaps = [later - sooner for sooner, later in pairwise(waves)]
    assert gaps
    assert all(abs(gap - upload) < 2 * SEND * at_once for gap in gaps)


def test_both_levels_release_at_the_first() -> None:
    """Records are durable when persisted. The later level delays the end, not the release."""
    later = 30 * MS
    both = replace(EXACT.destination, levels=sync.Levels.BOTH, complete_ns=later)
    plain, slow = _run(EXACT), _run(replace(EXACT, destination=both))
    assert slow.checkpoints[0].completed_ns == plain.checkpoints[0].completed_ns
    assert slow.run.ended_ns == plain.run.ended_ns + later - SEND


def test_stdio_needs_no_further_reader_to_carry_a_state() -> None:
    """In line a state follows its records at once, also the last one."""
    on_stdio = _run(replace(EXACT, medium=sync.Medium.STDIO))
    row = on_stdio.checkpoints[0]
    made = OPEN + 100 * READ
    arrived = made + 100 * 100 * NS_PER_BYTE_LINE + LATENCY + 100 * TAKE
    assert row.wait_records_ns == arrived - made
    assert row.completed_ns == _run(EXACT).checkpoints[0].completed_ns


SLOW, FAST = "250 kB/s", "20 MB/s"
Figures = dict[int, tuple[float, float, float]]


@pytest.fixture(scope="module")
def measured() -> dict[str, Figures]:
    """By bandwidth and sockets: ms of the sync, of a state, and of its wait for storage."""
    found: dict[str, Figures] = defaultdict(dict)
    for point in points(load_plan("sockets_bound_and_not")):
        chosen = json.loads(point.parameters)
        results = [run_world(point.scenario, seed=seed) for seed in range(5)]
        assert not any(result.violations for result in results)
        found[chosen["sync.sockets.bandwidth_bytes_per_s"]][chosen["sync.sockets.count"]] = (
            median(result.run.ended_ns / 1e6 for result in results),
            median(_waits(result, "duration_ns") for result in results),
            median(_waits(result, "wait_upload_ns") for result in results),
        )
    return found


def _waits(result: RunResult, name: str) -> float:
    return float(median(getattr(row, name) or 0 for row in result.checkpoints)) / 1e6


def test_a_sync_that_waits_for_sockets_halves_with_twice_as_many(
    measured: dict[str, Figures],
) -> None:
    """Where sockets are slow, twice as many halve the sync, and no state is later for it."""
    figures = measured[SLOW]
    for sockets in (1, 2, 4):
        assert 1.8 <= figures[sockets][0] / figures[2 * sockets][0] <= 2.05
        assert figures[2 * sockets][1] <= 1.02 * figures[sockets][1]


def test_a_sync_that_waits_for_storage_only_queues_there(measured: dict[str, Figures]) -> None:
    """Where sockets are fast, more than two change nothing but how long states wait for storage."""
    figures = measured[FAST]
    assert figures[8][0] == pytest.approx(figures[2][0], rel=0.05)
    for sockets in (1, 2, 4):
        assert figures[2 * sockets][1] > 1.2 * figures[sockets][1]
    assert figures[8][2] > 0.8 * figures[8][1]
