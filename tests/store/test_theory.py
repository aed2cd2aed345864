"""The simulated store agrees with what can be computed on paper."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, stdev

import pytest

from scenarios import Scenario
from scenarios.store import (
    StoreCosts,
    StoreInput,
    StoreModel,
    StorePlacement,
    StoreSync,
)
from scenarios.store_faults import CrashAt, CrashRate, StoreFault
from sim.rows import RunResult
from sim.world import run_world

MS = 1_000_000
SECOND = 1_000 * MS
APPLY_NS = 50_000  # 20,000 records a second
RECORD_BYTES = 100


def _cost_ns(records: int) -> int:
    """Return the cost of a co-located sync of so many records, each with a key of its own."""
    return 5 * MS + 700 * records


def _model(records: int, *, push: int, keys: int | None = None) -> StoreModel:
    """Return a model that syncs after so many records; rows cost what as many keys would."""
    kept = records if keys is None else keys
    return StoreModel(
        placement=StorePlacement.COLOCATED,
        input=StoreInput(
            partitions=1, push_records=push, stream_records=0, keys=kept, record_bytes=RECORD_BYTES
        ),
        sync=StoreSync(sync_bytes=records * RECORD_BYTES),
        costs=StoreCosts(
            apply_ns=APPLY_NS,
            transaction_ns=5 * MS,
            transaction_row_ns=700 * records // min(kept, records),
            restart_ns=MS,
        ),
    )


def _run(model: StoreModel, *faults: StoreFault, seed: int = 0) -> RunResult:
    scenario = Scenario(
        name="theory", link="checkpoint_store", says="theory", model=model, faults=faults
    )
    result = run_world(scenario, seed=seed)
    assert result.violations == []
    return result


@pytest.mark.parametrize("records", [100, 1000, 10_485])
def test_interval_and_overhead_follow_from_the_costs(records: int) -> None:
    """Syncs come every n/r + c(n), take c(n), and their share of the time is c / (n/r + c)."""
    syncs = 20
    result = _run(_model(records, push=syncs * records))
    by_bytes = [row for row in result.checkpoints if row.kind == "bytes"]
    cost = _cost_ns(records)
    assert len(by_bytes) == syncs
    assert {row.duration_ns for row in by_bytes} == {cost}
    begun = [row.triggered_ns for row in by_bytes]
    interval = records * APPLY_NS + cost
    assert {after - before for before, after in pairwise(begun)} == {interval}
    (task,) = result.tasks
    assert task.backpressured_ratio == pytest.approx(
        cost / interval, rel=0.15
    )  # two control entries and the stop sync too


@pytest.mark.parametrize("records", [100, 1000])
def test_mean_rework_after_a_random_crash(records: int) -> None:
    """A crash at a uniform instant repeats (n/2)(1-q) + nq on average, and n at most."""
    model = _model(records, push=2_000_000, keys=min(records, 50))
    faults = CrashRate(mean_ns=SECOND // 4, until_ns=100 * SECOND)
    result = _run(model, faults)
    rework = [row.records_reprocessed for row in result.recoveries]
    cost = _cost_ns(records)
    q = cost / (records * APPLY_NS + cost)
    expected = records / 2 * (1 - q) + records * q
    error = stdev(rework) / math.sqrt(len(rework))
    assert len(rework) > 300
    assert abs(fmean(rework) - expected) < 4 * error
    assert max(rework) <= records


def test_rework_grows_with_the_threshold_while_overhead_flattens() -> None:
    """Beyond the knee the overhead is the rows' alone, and only the rework still grows."""
    sizes = (100, 1000, 10_000, 80_000)
    overhead, rework = [], []
    for records in sizes:
        model = _model(records, push=400_000, keys=50)
        result = _run(model, CrashRate(mean_ns=2 * SECOND, until_ns=15 * SECOND), seed=1)
        done = [row for row in result.checkpoints if row.status == "completed"]
        spent = sum(row.duration_ns or 0 for row in done if row.kind == "bytes")
        stored = sum(row.records or 0 for row in done if row.kind == "bytes")
        overhead.append(spent / (spent + stored * APPLY_NS))
        rework.append(fmean(row.records_reprocessed for row in result.recoveries))
    assert rework == sorted(rework)
    assert overhead == sorted(overhead, reverse=True)
    assert overhead[0] > 0.4
    assert overhead[2] - overhead[3] < 0.01
    assert overhead[3] == pytest.approx(700 / (APPLY_NS + 700), abs=0.005)


def test_a_threshold_by_time_bounds_low_traffic() -> None:
    """With M, a crash repeats at most r * M records and one more; without it all since the push."""
    rate, interval = 5.0, 10 * SECOND
    given = StoreInput(partitions=1, push_records=0, stream_records=3000, rate_per_s=rate, keys=50)
    crash = CrashAt(at_ns=595 * SECOND)
    repeated = []
    for interval_ns in (interval, 0):
        sync = StoreSync(sync_bytes=32 << 20, sync_interval_ns=interval_ns)
        result = _run(StoreModel(input=given, sync=sync), crash)
        repeated.append(result.recoveries[0].records_reprocessed)
    assert 0 < repeated[0] <= rate * interval / SECOND + 1
    assert repeated[1] == 595 * rate - 1  # the last one is there, and not yet applied


@pytest.mark.parametrize("at_ms", [60, 333, 481, 777, 1021])
def test_placement_changes_safety_and_not_rework(at_ms: int) -> None:
    """At equal costs, a crash at an instant repeats the same in every placement."""
    repeated = {}
    for placement in (StorePlacement.EXTERNAL, StorePlacement.COLOCATED):
        model = replace(
            _model(500, push=40_000, keys=50),
            placement=placement,
            costs=StoreCosts(
                transaction_ns=10 * MS,
                transaction_row_ns=0,
                flush_ns=9 * MS,
                flush_bytes_per_s=1 << 50,
                checkpoint_ns=MS,
                restart_ns=MS,
            ),
        )
        result = _run(model, CrashAt(at_ns=at_ms * MS))
        repeated[placement] = result.recoveries[0].records_reprocessed
    assert len(set(repeated.values())) == 1


def test_the_best_interval_is_that_of_young_and_daly() -> None:
    """The time lost is c/T + T/(2 MTBF), and least near the root of 2 c MTBF."""
    cost_ns, mtbf_ns, total = 20 * MS, 10 * SECOND, 1_200_000
    best = round(math.sqrt(2 * cost_ns * mtbf_ns) / APPLY_NS)
    lost = {}
    for records in (best // 8, best, best * 8):
        model = _model(records, push=total, keys=20)
        costs = StoreCosts(
            apply_ns=APPLY_NS, transaction_ns=cost_ns, transaction_row_ns=0, restart_ns=0
        )
        faults = CrashRate(mean_ns=mtbf_ns, until_ns=3600 * SECOND)
        ends = [
            _last_sync(_run(replace(model, costs=costs), faults, seed=seed)) for seed in range(12)
        ]
        lost[records] = fmean(ends) / (total * APPLY_NS) - 1
        interval = records * APPLY_NS
        expected = cost_ns / interval + (interval + cost_ns) / 2 / mtbf_ns
        assert lost[records] == pytest.approx(expected, rel=0.4)
    assert lost[best] == min(lost.values())


def _last_sync(result: RunResult) -> int:
    """Return when the end of the push was synced."""
    return max(row.completed_ns or 0 for row in result.checkpoints if row.kind == "control")
