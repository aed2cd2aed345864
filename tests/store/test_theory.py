"""The simulated store agrees with what can be computed on paper."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, stdev

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios import store as stores
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.rows import RunResult
from ckptsim.sim.store.closed_form import on_paper
from ckptsim.sim.world import run_world

MS = 1_000_000
SECOND = 1_000 * MS
APPLY_NS = 50_000  # 20,000 records a second
RECORD_BYTES = 100


def _cost_ns(records: int) -> int:
    """Return the cost of a co-located sync of so many records, each with a key of its own."""
    return 5 * MS + 700 * records


def _model(records: int, *, push: int) -> stores.StoreModel:
    """Return a model that syncs after so many records, all of different keys."""
    return stores.StoreModel(
        placement=stores.StorePlacement.COLOCATED,
        input=stores.StoreInput(
            partitions=1,
            push_records=push,
            stream_records=0,
            keys=1_000_000,
            record_bytes=RECORD_BYTES,
        ),
        sync=stores.StoreSync(sync_bytes=records * RECORD_BYTES),
        process=stores.StoreProcess(apply_ns=APPLY_NS, restart_ns=MS),
    )


def _run(model: stores.StoreModel, *faults: stores.StoreFault, seed: int = 0) -> RunResult:
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
    model = _model(records, push=2_000_000)
    faults = stores.CrashRate(mean_ns=SECOND // 4, until_ns=100 * SECOND)
    result = _run(model, faults)
    rework = [row.records_reprocessed for row in result.recoveries]
    cost = _cost_ns(records)
    q = cost / (records * APPLY_NS + cost)
    expected = records / 2 * (1 - q) + records * q
    error = stdev(rework) / math.sqrt(len(rework))
    assert len(rework) > 300
    assert abs(fmean(rework) - expected) < 4 * error
    assert max(rework) <= records


KNEE = (("30 kB", 300), ("100 kB", 1000), ("1 MiB", 10_486), ("3 MB", 30_000), ("8 MiB", 83_887))


@pytest.mark.parametrize("placement", stores.StorePlacement)
def test_the_knee_is_where_paper_has_it(placement: stores.StorePlacement) -> None:
    """Up to the knee syncs take the time, beyond it only the rework grows. Both as computed."""
    share, undone = [], []
    for threshold, records in KNEE[1:]:
        parameters = {"store.sync.sync_bytes": threshold, "store.placement": placement.value}
        scenario = with_parameters(by_name("rework_reference"), parameters)
        figures: dict[str, list[float]] = {}
        counts: list[int] = []
        for seed in range(4):
            result = run_world(scenario, seed=seed)
            counts.append(len(result.recoveries))
            paper = {row.figure: row.expected for row in result.figures}
            for row in result.figures:
                figures.setdefault(row.figure, []).append(row.value)
        share.append(fmean(figures["sync_share"]))
        undone.append(
            sum(n * mean for n, mean in zip(counts, figures["undone_per_crash"], strict=True))
            / sum(counts)
        )
        # A crash undoes everything that is spread about evenly from 0 to n: sigma is n / sqrt(12).
        error = records / math.sqrt(12 * sum(counts))
        assert abs(undone[-1] - (paper["undone_per_crash"] or 0)) < 4 * error
        assert share[-1] == pytest.approx(paper["sync_share"], rel=0.12)
    assert undone == sorted(undone)
    assert share == sorted(share, reverse=True)
    flattest = share[-2] - share[-1]
    assert undone[-1] > 2 * undone[-2]
    assert flattest < 0.02 < share[0] - share[1]


PLACED = ("colocated", "data_first", "checkpoint_first", "group", "per_record")


@pytest.mark.parametrize("name", PLACED)
def test_each_placement_undoes_and_loses_what_paper_says(name: str) -> None:
    """What a crash undoes, what it loses and what durability takes are as computed, each way."""
    undone, lost, share, crashes = 0.0, 0.0, [], 0
    for seed in range(8):
        result = run_world(by_name(f"placed_{name}"), seed=seed)
        figures = {row.figure: row for row in result.figures}
        count = len(result.recoveries)
        crashes += count
        undone += count * figures["undone_per_crash"].value
        lost += count * figures["lost_per_crash"].value
        share.append(figures["sync_share"].value)
    records, paper = 1000, {figure: row.expected or 0.0 for figure, row in figures.items()}
    assert crashes > 20
    # Both are anything from 0 to n, so that n / 2 is the most that sigma can be.
    error = records / 2 / math.sqrt(crashes)
    assert abs(undone / crashes - paper["undone_per_crash"]) < 4 * error
    assert abs(lost / crashes - paper["lost_per_crash"]) < 4 * error
    assert fmean(share) == pytest.approx(paper["sync_share"], rel=0.1)
    assert (lost > 0) == (name == "checkpoint_first") == (paper["lost_per_crash"] > 0)


def test_placements_differ_in_what_they_cost() -> None:
    """At equal sync bytes a commit per record costs most, and checkpoint first as data first."""
    share = {}
    for name in PLACED:
        scenario = by_name(f"placed_{name}")
        assert isinstance(scenario.model, stores.StoreModel)
        share[name] = on_paper(scenario.model, ())["sync_share"]
    assert share["per_record"] == max(share.values()) > 0.9
    assert share["checkpoint_first"] == share["data_first"]
    assert share["colocated"] < share["data_first"] < share["group"]


def test_a_record_that_is_durable_by_itself_needs_no_flush() -> None:
    """Where each record is its own commit, a sync lasts as long as its checkpoint alone."""
    result = run_world(by_name("placed_per_record"), seed=0)
    costs = stores.StepCosts()
    lasted = {row.duration_ns for row in result.checkpoints if row.status == "completed"}
    assert lasted == {costs.wal_ns + costs.fsync_ns}


def test_the_closed_form_for_rare_crashes_is_that_of_uniform_ones() -> None:
    """For crashes far apart the mean is (n/2)(1-q) + nq and the share q, as computed by hand."""
    for _, records in KNEE:
        model = _model(records, push=100_000_000 // 20)
        cost, work = _cost_ns(records), records * APPLY_NS
        q = cost / (work + cost)
        rare = stores.CrashRate(mean_ns=10**15, until_ns=10**15)
        found = on_paper(model, (rare,))
        assert found["sync_share"] == pytest.approx(q, rel=1e-3)
        expected = records / 2 * (1 - q) + records * q
        assert found["undone_per_crash"] == pytest.approx(expected - (1 - q) / 2, rel=1e-3)
        assert found["lost_share"] == pytest.approx(cost / work, rel=1e-3)
        assert on_paper(model, ())["sync_share"] == pytest.approx(q)


def test_what_has_no_closed_form_has_none() -> None:
    """Other faults, a mirror, no flush or a threshold that is never reached have no figure."""
    plain = _model(1000, push=100_000)
    rate = stores.CrashRate(mean_ns=SECOND, until_ns=SECOND)
    assert on_paper(plain, (rate,))
    assert not on_paper(plain, (rate, stores.CrashAt(at_ns=SECOND)))
    assert not on_paper(plain, (rate, rate))
    assert not on_paper(_model(1000, push=3000), (rate,))
    for sync in (
        stores.StoreSync(sync_bytes=0),
        replace(plain.sync, mirror=True),
        replace(plain.sync, hooked=False),
        replace(plain.sync, upsert=stores.Upsert.FIRST_WINS),
    ):
        assert not on_paper(replace(plain, sync=sync), (rate,))


@pytest.mark.parametrize(
    ("interval", "mean"), [("3 s", "120 s"), ("10 s", "120 s"), ("3 s", "30 s")]
)
def test_low_traffic_undoes_what_paper_says(interval: str, mean: str) -> None:
    """With a threshold by time a crash undoes about r M / 2 per partition, as computed."""
    parameters = {"store.sync.sync_interval": interval, "faults[0].mean": mean}
    scenario = with_parameters(by_name("low_traffic_reference"), parameters)
    undone, weights = [], []
    for seed in range(12):
        result = run_world(scenario, seed=seed)
        figures = {row.figure: row for row in result.figures}
        if "undone_per_crash" in figures:
            undone.append(figures["undone_per_crash"].value)
            weights.append(len(result.recoveries))
            paper = figures["undone_per_crash"].expected
    found = sum(n * mean for n, mean in zip(weights, undone, strict=True)) / sum(weights)
    assert paper is not None
    # The partitions sync together, so that their phases are one: sigma is 1 / sqrt(3) of the mean.
    assert abs(found - paper) < 4 * paper / math.sqrt(3 * sum(weights)) + 2


def test_a_threshold_by_time_bounds_low_traffic() -> None:
    """With M, a crash repeats at most r * M records and one more. Without it all since the push."""
    rate, interval = 5.0, 10 * SECOND
    given = stores.StoreInput(
        partitions=1, push_records=0, stream_records=3000, rate_per_s=rate, keys=50
    )
    crash = stores.CrashAt(at_ns=595 * SECOND)
    repeated = []
    for interval_ns in (interval, 0):
        sync = stores.StoreSync(sync_bytes=32 << 20, sync_interval_ns=interval_ns)
        result = _run(stores.StoreModel(input=given, sync=sync), crash)
        repeated.append(result.recoveries[0].records_reprocessed)
    assert 0 < repeated[0] <= rate * interval / SECOND + 1
    assert repeated[1] == 595 * rate - 1  # the last one is there, and not yet applied


@pytest.mark.parametrize("at_ms", [60, 333, 481, 777, 1021])
def test_placement_changes_safety_and_not_rework(at_ms: int) -> None:
    """At equal costs, a crash at an instant repeats the same in every placement."""
    repeated = {}
    for placement in (
        stores.StorePlacement.EXTERNAL,
        stores.StorePlacement.COLOCATED,
    ):
        model = replace(
            _model(500, push=40_000),
            placement=placement,
            costs=stores.StepCosts(
                transaction_ns=10 * MS,
                transaction_row_ns=0,
                flush_ns=9 * MS,
                flush_bytes_per_s=1 << 50,
                wal_ns=MS // 2,
                fsync_ns=MS // 2,
            ),
        )
        result = _run(model, stores.CrashAt(at_ns=at_ms * MS))
        repeated[placement] = result.recoveries[0].records_reprocessed
    assert len(set(repeated.values())) == 1


def test_the_best_interval_is_that_of_young_and_daly() -> None:
    """Least is lost near the root of 2 c MTBF, and everywhere as much as Daly's formula says."""
    cost_ns, mtbf_ns, total = 20 * MS, 10 * SECOND, 1_200_000
    best = round(math.sqrt(2 * cost_ns * mtbf_ns) / APPLY_NS)
    lost, paper = {}, {}
    for records in (best // 8, best // 2, best, best * 2, best * 8):
        costs = stores.StepCosts(transaction_ns=cost_ns, transaction_row_ns=0)
        model = replace(_model(records, push=total), costs=costs)
        faults = stores.CrashRate(mean_ns=mtbf_ns, until_ns=3600 * SECOND)
        found = []
        for seed in range(8):
            (row,) = [r for r in _run(model, faults, seed=seed).figures if r.figure == "lost_share"]
            found.append(row.value)
            paper[records] = row.expected
        lost[records] = fmean(found)
        assert lost[records] == pytest.approx(paper[records], rel=0.3)
    assert min(paper, key=lambda records: paper[records] or 0) == best
    assert lost[best] < lost[best // 8] < 1
    assert lost[best] < lost[best * 8] < 1
