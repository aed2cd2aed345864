"""What the tables of a sweep come to: numbers of small tables that can be worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis import statistics
from ckptsim.analysis.findings import Findings, find, points
from ckptsim.analysis.findings.runs import WAITS
from ckptsim.analysis.findings.share import Share, merge
from ckptsim.analysis.findings.summarise import summarise
from ckptsim.analysis.statistics import quantile
from ckptsim.analysis.sweeps.plan import about_sweep, sweep_rows
from ckptsim.analysis.sweeps.sweep import run_sweep
from ckptsim.analysis.tables.schema import TABLES, arrow_schema
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.planning import plan_from

FAST, SLOW = '{"sockets":4}', '{"sockets":1}'
POINTS = [("s", FAST), ("s", SLOW)]
Row = dict[str, Any]


def run(key: str, parameters: str, seed: int, **others: Any) -> Row:
    return {
        **dict.fromkeys(("digest", "replay"), ""),
        **dict.fromkeys(("events", "records_produced", "records_committed", "attempts"), 1),
        "run_key": key,
        "scenario": "s",
        "link": "ordering",
        "seed": seed,
        "version": "1",
        "ties": "structural",
        "outcome": "completed",
        "ended_ns": 1000,
        "checkpoints_completed": 1,
        "checkpoints_failed": 0,
        "violations": 0,
        "parameters": parameters,
    } | others


def checkpoint(key: str, number: int, duration_ns: int | None, **others: Any) -> Row:
    return {
        "run_key": key,
        "scope": "*",
        "checkpoint_id": number,
        "attempt": 1,
        "kind": "state",
        "status": "completed",
        "triggered_ns": 100,
        "completed_ns": None if duration_ns is None else 100 + duration_ns,
        "duration_ns": duration_ns,
        "inner": False,
    } | others


def tables(**rows: Sequence[Row]) -> dict[str, pa.Table]:
    return {
        name: pa.Table.from_pylist(list(rows.get(name, [])), schema=arrow_schema(name))
        for name in TABLES
    }


def ten_checkpoints() -> dict[str, list[Row]]:
    """Return the rows of three runs, in which checkpoints end in every way."""
    rows = [checkpoint("a", number, 10 * (number + 1)) for number in range(5)]
    rows += [
        checkpoint("b", 0, 70),
        checkpoint("b", 1, 25, status="aborted", completed_ns=None),
        checkpoint("b", 2, None, status="pending"),
        checkpoint("b", 3, None, status="failed", attempt=2, triggered_ns=25),
        checkpoint("b", 4, 5000, inner=True),
        checkpoint("c", 0, None, status="expired"),
    ]
    random.Random(5).shuffle(rows)
    failure = {"run_key": "b", "attempt": 2, "cause": "", "failed_ns": 60, "records_reprocessed": 0}
    runs = [run("a", FAST, 1), run("b", FAST, 2), run("c", SLOW, 1)]
    return {"runs": runs, "checkpoints": rows, "recoveries": [failure]}


def test_what_did_not_complete_is_counted_and_lasts() -> None:
    """Every checkpoint is in n; one lasts until it, its attempt or its run ends."""
    share = summarise(tables(**ten_checkpoints()))
    found = points.latency(share, POINTS, [0.5]).set_index("parameters")
    fast, slow = found.loc[FAST], found.loc[SLOW]
    assert (fast["n"], fast["completed"], fast["aborted"], fast["pending"]) == (9, 6, 1, 1)
    assert fast["completed_ns"] == quantile([10, 20, 30, 40, 50, 70], 0.5)
    entries = [(10, True), (20, True), (25, False), (30, True), (40, True), (50, True)]
    entries += [(70, True), (900, False), (35, False)]
    expected = statistics.survival(*zip(*entries, strict=True)).quantile(0.5)
    assert fast["latency_ns"] == expected
    assert (slow["n"], slow["completed"], slow["expired"]) == (1, 0, 1)
    assert pd.isna(slow["completed_ns"])
    assert pd.isna(slow["latency_ns"])


def test_distribution_ends_below_one_when_censored() -> None:
    """The longest duration is a bound only, so the curve does not reach 1."""
    found = points.distribution(summarise(tables(**ten_checkpoints())), POINTS)
    assert set(found["parameters"]) == {FAST}
    assert found["latency_ns"].tolist() == [10, 20, 30, 40, 50, 70]
    assert found["below"].is_monotonic_increasing
    assert found["below"].iloc[-1] < 1
    assert set(found["unfinished"]) == {3}


def test_the_slowest_checkpoint_of_each_run_is_kept() -> None:
    """Outliers are one per run, slowest first, also those that lasted without completing."""
    share = summarise(tables(**ten_checkpoints()))
    told = [(row[4], row[6], row[11]) for _, _, row in share.outliers]
    assert told == [("b", 2, 900), ("c", 0, 900), ("a", 4, 50)]


def test_parts_of_recoveries_are_means_over_those_of_a_run() -> None:
    """Parts follow each other; one not caught up with lasts until the next failure or the end."""
    first = {
        "run_key": "a",
        "attempt": 1,
        "cause": "",
        "failed_ns": 100,
        "detected_ns": 110,
        "resumed_ns": 140,
        "state_read_ns": 200,
        "first_record_ns": 205,
        "caught_up_ns": 305,
        "peak_latency_ns": 150,
        "bytes_read": 10,
        "records_reprocessed": 3,
    }
    moved = {key: first[key] + 300 for key in first if key.endswith("_ns") and key[:4] != "peak"}
    behind = first | moved | {"attempt": 2, "caught_up_ns": None}
    at_once = first | dict.fromkeys(("bytes_read", "caught_up_ns"))  # on records
    share = summarise(
        tables(
            runs=[run("a", FAST, 1), run("b", SLOW, 1)],
            recoveries=[first, behind, at_once | {"run_key": "b"}],
        )
    )
    values = points.replications(share, POINTS)
    means = {name: found[POINTS[0]][1] for name, found in values.items() if POINTS[0] in found}
    assert means["recovery_detected_ns"] == 10
    assert means["recovery_restart_ns"] == 30
    assert means["recovery_read_ns"] == 60
    assert means["recovery_first_record_ns"] == 5
    assert means["downtime_ns"] == 105
    assert means["recovery_catch_up_ns"] == (100 + 1000 - 505) / 2
    assert means["catch_up_ns"] == 105 + means["recovery_catch_up_ns"]
    assert means["caught_up_share"] == 0.5
    assert means["peak_latency_ns"] == 150
    assert POINTS[1] not in values["catch_up_ns"]  # a restart that takes no time has no parts


def test_outcomes_are_counted() -> None:
    """Each way of ending has its count, and they add up."""
    rows = [run("a", FAST, 1), run("b", FAST, 2, outcome="error"), run("c", FAST, 3, violations=2)]
    [(_, found)] = points.outcomes(summarise(tables(runs=rows)), POINTS).iterrows()
    assert (found["runs"], found["completed"], found["error"]) == (3, 2, 1)
    assert (found["violations"], found["runs_violated"]) == (2, 1)


def test_waits_are_integer_sums() -> None:
    """The parts add up to the whole, over completed checkpoints only."""
    big = 2**53 + 1  # a double would lose the last nanosecond
    parts = {"wait_records_ns": big, "wait_upload_ns": 2, "wait_predecessor_ns": 3}
    rows = [
        checkpoint("a", 0, big + 9, wait_send_ns=4, **parts),
        checkpoint("a", 1, 5, wait_records_ns=5),
        checkpoint("a", 2, 7, status="aborted", wait_records_ns=7),
        checkpoint("a", 3, 7),
    ]
    share = summarise(tables(runs=[run("a", FAST, 1)], checkpoints=rows))
    [(_, found)] = points.waits(share, POINTS).iterrows()
    assert found["n"] == 2
    assert sum(found[part] for part in WAITS) == found["duration_ns"] == big + 14


def test_intervals_and_differences_over_replications() -> None:
    """Means, intervals and paired differences are those of the estimators, run by run."""
    draws = random.Random(1)
    noise = {seed: draws.randrange(1000, 2000) for seed in range(1, 7)}
    rows = [run(f"f{seed}", FAST, seed, ended_ns=value) for seed, value in noise.items()]
    rows += [
        run(f"s{seed}", SLOW, seed, ended_ns=value + 50 + seed)
        for seed, value in noise.items()
        if seed != 4
    ]
    rows.append(run("x", SLOW, 99, outcome="error", ended_ns=0))
    random.Random(2).shuffle(rows)
    checkpoints = [checkpoint("f1", 0, 10), checkpoint("f1", 1, 30)]
    share = summarise(tables(runs=rows, checkpoints=checkpoints))
    values = points.replications(share, POINTS)

    means = points.intervals(values, POINTS).set_index(["parameters", "metric"])
    assert means.loc[(FAST, "ended_ns"), "mean"] == statistics.interval(list(noise.values())).mean
    assert means.loc[(SLOW, "ended_ns"), "n"] == 5
    assert means.loc[(FAST, "median_latency_ns"), ["n", "mean"]].tolist() == [1, 20]

    found = points.differences(values, POINTS).set_index("metric")
    expected = statistics.interval([50 + seed for seed in (1, 2, 3, 5, 6)])
    row = found.loc["ended_ns"]
    assert (row["n"], row["unpaired"]) == (5, 1)
    assert (row["mean"], row["low"], row["high"]) == (expected.mean, expected.low, expected.high)
    assert set(found["parameters"]) == {SLOW}


def test_no_interval_of_a_share_goes_beyond_the_whole() -> None:
    """Four of five runs that complete leave room for all of them, and for no more."""
    outcomes = ["completed"] * 4 + ["failed"]
    rows = [run(f"f{n}", FAST, n, outcome=outcome) for n, outcome in enumerate(outcomes)]
    values = points.replications(summarise(tables(runs=rows)), POINTS)
    means = points.intervals(values, POINTS).set_index(["parameters", "metric"])
    free = statistics.interval([1.0, 1.0, 1.0, 1.0, 0.0])
    assert free.high > 1
    bounds = means.loc[(FAST, "completed_share"), ["mean", "low", "high"]].tolist()
    assert bounds == [free.mean, free.low, 1.0]


def test_subtasks_are_those_of_a_run_and_not_rows_over_seeds() -> None:
    """Two seeds of a task with three subtasks give three subtasks, and the mean of six rows."""
    rows = [
        {
            **dict.fromkeys(("records", "input_queue_buffers_mean"), 1),
            **dict.fromkeys(("backpressured_ratio", "idle_ratio", "output_queue_buffers_mean"), 0),
            "run_key": key,
            "task": "map",
            "subtask": subtask,
            "records_per_s": 2.0,
            "busy_ratio": 0.1 * subtask,
        }
        for key in ("a", "b")
        for subtask in range(3)
    ]
    share = summarise(tables(runs=[run("a", FAST, 1), run("b", FAST, 2)], tasks=rows))
    [(_, found)] = points.task_times(share, POINTS).iterrows()
    assert (found["task"], found["subtasks"]) == ("map", 3)
    assert found["busy_ratio"] == pytest.approx(0.1)


def test_first_examples_of_a_property_do_not_depend_on_the_division() -> None:
    """Shares of single runs, merged in any order, come to what all runs come to at once."""
    whole = ten_checkpoints()
    whole["violations"] = [
        {"run_key": key, "property": "p", "at_ns": at, "says": "s", "story": "", "replay": ""}
        for key, at in (("b", 3), ("a", 7), ("a", 5))
    ]
    shares = [
        summarise(tables(**{name: only(rows, key) for name, rows in whole.items()}))
        for key in ("c", "a", "b")
    ]
    assert same(merge(shares), merge([summarise(tables(**whole))]))
    [broken] = merge(shares).violations.values()
    assert [example[:3] for example in broken.examples] == [
        (1, "structural", 5),
        (2, "structural", 3),
    ]
    assert broken.runs == 2


def only(rows: Sequence[Row], key: str) -> list[Row]:
    return [row for row in rows if row["run_key"] == key]


def same(one: Share, other: Share) -> bool:
    """Tell whether two shares say the same of every point."""
    made = [
        getattr(points, name)(share, POINTS)
        for share in (one, other)
        for name in ("outcomes", "latency", "distribution", "waits", "violations")
    ]
    half = len(made) // 2
    pairs = zip(made[:half], made[half:], strict=True)
    return one.outliers == other.outliers and all(first.equals(second) for first, second in pairs)


@pytest.mark.spark
def test_spark_finds_what_is_found_without_it(spark: SparkSession, tmp_path: Path) -> None:
    """Summarised on workers or here, every frame of a sweep's findings is the same."""
    found = {
        "name": "both",
        "scenario": "reference",
        "replications": 6,
        "ties": ["structural", "random"],
        "grid": {"sync.sockets.count": [1, 2]},
    }
    plan = plan_from(found, source="test")
    rows = sweep_rows(plan)
    store = SweepStore(tmp_path / "both")
    store.open(about_sweep(plan, rows))
    store.write_points(rows)
    for half in (rows[::2], rows[1::2]):  # so that there is more than one piece
        run_sweep(spark, half, store, partitions=2)
    assert len(store.pieces()) > 1
    here, there = find(store), find(store, spark)
    for field in fields(Findings):
        one, other = getattr(here, field.name), getattr(there, field.name)
        if isinstance(one, pd.DataFrame):
            assert len(one) or field.name in ("violations", "errors", "tasks", "first_barriers",
                                              "expected"), field.name  # fmt: skip
            pd.testing.assert_frame_equal(one, other, check_exact=True)
        else:
            assert one == other, field.name


def metric_of(share: Share, name: str) -> Mapping[int, float]:
    return points.replications(share, POINTS)[name].get(POINTS[0], {})


def test_in_flight_data_and_shares_are_metrics_of_a_run() -> None:
    """Persisted data are the mean over completed checkpoints that say theirs; shares are of all."""
    rows = [
        checkpoint("a", 0, 10, persisted_bytes=100, start_delay_ns=4),
        checkpoint("a", 1, 10, persisted_bytes=300, start_delay_ns=8),
        checkpoint("a", 2, 10, persisted_bytes=999, status="expired"),
        checkpoint("a", 3, 10),
    ]
    runs = [
        run("a", FAST, 1, checkpoints_completed=3, checkpoints_failed=1),
        run("b", FAST, 2, outcome="stalled", checkpoints_completed=0),
    ]
    share = summarise(tables(runs=runs, checkpoints=rows))
    assert metric_of(share, "persisted_bytes") == {1: 200.0}
    assert metric_of(share, "start_delay_ns") == {1: 6.0}
    assert metric_of(share, "failed_checkpoint_share") == {1: 0.25}
    assert metric_of(share, "completed_share") == {1: 1.0, 2: 0.0}
