"""Summaries of small tables that can be worked out by hand. Each case is a point of one sweep."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis import summaries
from ckptsim.analysis.summaries.schema import TASK_MEANS, WAITS
from tests.analysis.summaries.plain import quantile, survival
from tests.analysis.summaries.tables import Row, checkpoint, divided, run, write

pytestmark = pytest.mark.spark
Frames = dict[str, pd.DataFrame]
POINTS = BASE, ENDS, SLOW, RECOVERED, SHARES, TASKS, WAITING, METRICS, REMISSIONS = [
    f'{{"x":{n}}}' for n in range(9)
]
BIG = 2**53 + 1  # a double would lose the last nanosecond
NOISE = {seed: 1000 + 137 * seed % 800 for seed in range(1, 7)}


def ends() -> dict[str, list[Row]]:
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
    failure = {"run_key": "b", "attempt": 2, "cause": "", "failed_ns": 60, "records_reprocessed": 0}
    runs = [
        run("a", ENDS, 1),
        run("b", ENDS, 2, violations=1),
        run("c", SLOW, 1, outcome="stalled"),
    ]
    broken = [
        {
            "run_key": key,
            "property": "p",
            "at_ns": at,
            "says": "s",
            "story": "",
            "replay": "r",
            "count": 1,
        }
        for key, at in (("b", 3), ("a", 7), ("a", 5))
    ]
    return {"runs": runs, "checkpoints": rows, "recoveries": [failure], "violations": broken}


def seeds() -> dict[str, list[Row]]:
    """Return runs of two points that differ by a little more with each seed."""
    runs = [run(f"f{seed}", BASE, seed, ended_ns=value) for seed, value in NOISE.items()]
    runs += [
        run(f"s{seed}", SHARES, seed, ended_ns=value + 50 + seed, outcome=outcome)
        for (seed, value), outcome in zip(
            NOISE.items(), ["completed"] * 5 + ["failed"], strict=True
        )
        if seed != 4
    ]
    return {"runs": [*runs, run("x", SHARES, 99, outcome="error", error="E: no", ended_ns=0)]}


def recovered() -> dict[str, list[Row]]:
    """Return two recoveries that took their time, the second never caught up with, and one more."""
    first = {
        "run_key": "r",
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
    at_once = first | dict.fromkeys(("bytes_read", "caught_up_ns")) | {"run_key": "q"}
    runs = [run("r", RECOVERED, 1), run("q", RECOVERED, 2)]
    return {"runs": runs, "recoveries": [first, behind, at_once]}


def others() -> dict[str, list[Row]]:
    """Return subtasks of two seeds, phases with large numbers, and sizes of checkpoints."""
    tasks = [
        {
            **dict.fromkeys(TASK_MEANS, 0.0),
            "run_key": key,
            "task": "map",
            "subtask": subtask,
            "records": 1,
            "records_per_s": 2.0,
            "busy_ratio": 0.1 * subtask,
        }
        for key in ("t1", "t2")
        for subtask in range(3)
    ]
    parts = {"wait_records_ns": BIG, "wait_upload_ns": 2, "wait_predecessor_ns": 3}
    rows = [
        checkpoint("w", 0, BIG + 9, wait_send_ns=4, **parts),
        checkpoint("w", 1, 5, wait_records_ns=5),
        checkpoint("w", 2, 7, status="aborted", wait_records_ns=7),
        checkpoint("w", 3, 7),
        checkpoint("m1", 0, 10, persisted_bytes=100, start_delay_ns=4),
        checkpoint("m1", 1, 30, persisted_bytes=300, start_delay_ns=8),
        checkpoint("m1", 2, 10, persisted_bytes=999, status="expired"),
    ]
    runs = [run("t1", TASKS, 1), run("t2", TASKS, 2), run("w", WAITING, 1)]
    runs += [
        run("m1", METRICS, 1, checkpoints_completed=3, checkpoints_failed=1),
        run("m2", METRICS, 2, outcome="stalled", checkpoints_completed=0),
    ]
    return {"runs": runs, "tasks": tasks, "checkpoints": rows}


def remissions() -> dict[str, list[Row]]:
    """Return the remissions under 6-mercaptopurine, in weeks, some without a seen end.

    Source: E. J. Freireich et al., Blood 21 (1963), in any text on survival analysis.
    """
    weeks = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
    censored = {3, 5, 7, 8, 11, 12, 13, 16, 17, 18, 19, 20}
    rows = [
        checkpoint("z", place, week, status="aborted" if place in censored else "completed")
        for place, week in enumerate(weeks)
    ]
    return {"runs": [run("z", REMISSIONS, 1)], "checkpoints": rows}


@pytest.fixture(scope="module")
def frames(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Frames:
    """The summaries of all cases, by name."""
    rows: dict[str, list[Row]] = {}
    for case in (ends(), seeds(), recovered(), others(), remissions()):
        for table, some in case.items():
            rows.setdefault(table, []).extend(some)
    for some in rows.values():
        random.Random(5).shuffle(some)
    store = write(tmp_path_factory.mktemp("hand") / "all", POINTS, *divided(rows, 2))
    summaries.refresh(spark, store)
    return summaries.frames(store)


def at(frame: pd.DataFrame, parameters: str) -> pd.DataFrame:
    return frame[frame["parameters"] == parameters].reset_index(drop=True)


def metric_of(frames: Frames, parameters: str, metric: str) -> dict[int, float]:
    """Return the values of a metric at a point by seed."""
    found = at(frames["replications"], parameters).set_index("seed")[metric].dropna()
    return found.to_dict()


def test_points_are_in_the_order_of_the_plan(frames: Frames) -> None:
    """The baseline is the first, however the rows are mixed."""
    assert frames["outcomes"]["parameters"].tolist() == POINTS


def test_what_did_not_complete_is_counted_and_lasts(frames: Frames) -> None:
    """Every checkpoint is in n. One lasts until it, its attempt or its run ends."""
    fast, slow = (
        at(frames["latency"], name).set_index("probability").loc[0.5] for name in (ENDS, SLOW)
    )
    assert (fast["n"], fast["completed"], fast["aborted"], fast["pending"]) == (9, 6, 1, 1)
    assert fast["completed_ns"] == quantile([10, 20, 30, 40, 50, 70], 0.5)
    entries = [(10, True), (20, True), (25, False), (30, True), (40, True), (50, True)]
    entries += [(70, True), (900, False), (35, False)]
    assert fast["latency_ns"] == next(time for time, below in survival(entries) if below >= 0.5)
    assert (slow["n"], slow["completed"], slow["expired"]) == (1, 0, 1)
    assert pd.isna(slow["completed_ns"])
    assert pd.isna(slow["latency_ns"])


def test_distribution_ends_below_one_when_censored(frames: Frames) -> None:
    """The longest duration is a bound only, so the curve does not reach 1."""
    found = at(frames["distribution"], ENDS)
    assert found["latency_ns"].tolist() == [10, 20, 30, 40, 50, 70]
    assert found["below"].is_monotonic_increasing
    assert found["below"].iloc[-1] < 1
    assert set(found["unfinished"]) == {3}
    assert at(frames["distribution"], SLOW).empty


def test_the_distribution_is_the_published_one(frames: Frames) -> None:
    """The classic example of censored durations has its published estimate."""
    found = at(frames["distribution"], REMISSIONS)
    assert found["latency_ns"].tolist() == [6, 7, 10, 13, 16, 22, 23]
    staying = [round(1 - below, 3) for below in found["below"].tolist()]
    assert staying == [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]


def test_the_slowest_checkpoint_of_each_run_is_kept(frames: Frames) -> None:
    """Outliers are one per run, slowest first, also those that lasted without completing."""
    found = frames["outliers"]
    told = list(zip(found["run_key"], found["checkpoint_id"], found["elapsed_ns"], strict=True))
    assert told == [
        ("w", 0, BIG + 9),
        ("b", 2, 900),
        ("c", 0, 900),
        ("a", 4, 50),
        ("z", 20, 35),
        ("m1", 1, 30),
    ]


def test_first_examples_of_a_property_are_one_per_run(frames: Frames) -> None:
    """Of several violations in a run the earliest is the example, by seed."""
    found = frames["violations"]
    examples = list(zip(found["rank"], found["seed"], found["at_ns"], strict=True))
    assert examples == [(1, 1, 5), (2, 2, 3)]
    assert set(found["runs"]) == {2}
    assert set(found["of"]) == {2}


def test_outcomes_are_counted(frames: Frames) -> None:
    """Each way of ending has its count, and they add up."""
    found = at(frames["outcomes"], SHARES).iloc[0]
    assert (found["runs"], found["completed"], found["failed"], found["error"]) == (6, 4, 1, 1)
    found = at(frames["outcomes"], ENDS).iloc[0]
    assert (found["violations"], found["runs_violated"]) == (1, 1)
    assert frames["errors"][["error", "runs", "seed"]].to_numpy().tolist() == [["E: no", 1, 99]]


def test_phases_are_integer_sums(frames: Frames) -> None:
    """The parts add up to the whole, over completed checkpoints that fill them only."""
    found = at(frames["waits"], WAITING).iloc[0]
    assert found["n"] == 2
    assert sum(found[part] for part in WAITS) == found["duration_ns"] == BIG + 14
    shares = at(frames["phases"], WAITING).set_index("phase")["share"]
    assert shares["wait_send_ns"] == pytest.approx(4 / BIG)


def student(values: Sequence[float], factor: float) -> tuple[float, float]:
    """Return the mean and the half of the interval, with a factor of a published table."""
    series = pd.Series(values)
    return series.mean(), factor * series.std() / len(values) ** 0.5


def test_intervals_and_differences_over_replications(frames: Frames) -> None:
    """Means, intervals and paired differences are the ones of the formulas, seed by seed."""
    found = at(frames["intervals"], BASE).set_index("metric").loc["ended_ns"]
    mean, half = student(list(NOISE.values()), 2.5706)
    assert found["n"] == 6
    assert found["mean"] == pytest.approx(mean, rel=1e-12)
    assert found["high"] - mean == pytest.approx(half, rel=1e-4)
    found = at(frames["differences"], SHARES).set_index("metric").loc["ended_ns"]
    mean, half = student([50 + seed for seed in (1, 2, 3, 5, 6)], 2.7764)
    assert (found["n"], found["unpaired"]) == (5, 1)
    assert found["mean"] == pytest.approx(mean, rel=1e-12)
    assert mean - found["low"] == pytest.approx(half, rel=1e-4)
    assert at(frames["differences"], BASE).empty


def test_no_interval_of_a_share_goes_beyond_the_whole(frames: Frames) -> None:
    """Four of five runs that complete leave room for all of them, and for no more."""
    found = at(frames["intervals"], SHARES).set_index("metric").loc["completed_share"]
    assert found["mean"] == 0.8
    assert found["high"] == 1.0
    assert found["low"] < 0.3


def test_parts_of_recoveries_are_means_over_those_of_a_run(frames: Frames) -> None:
    """Parts follow each other. One not caught up with lasts until the next failure or the end."""
    means = {
        name: metric_of(frames, RECOVERED, name).get(1)
        for name in frames["replications"].columns
        if name.startswith("recovery") or name in ("downtime_ns", "catch_up_ns")
    }
    behind = (100 + 1000 - 505) / 2
    assert means == {
        "recovery_ns": 80,
        "recovery_detected_ns": 10,
        "recovery_restart_ns": 30,
        "recovery_read_ns": 60,
        "recovery_first_record_ns": 5,
        "downtime_ns": 105,
        "recovery_catch_up_ns": behind,
        "catch_up_ns": 105 + behind,
    }
    assert metric_of(frames, RECOVERED, "caught_up_share") == {1: 0.5}
    assert metric_of(frames, RECOVERED, "peak_latency_ns") == {1: 150}
    # A restart that takes no time has no parts.
    assert metric_of(frames, RECOVERED, "catch_up_ns").keys() == {1}


def test_subtasks_are_those_of_a_run_and_not_rows_over_seeds(frames: Frames) -> None:
    """Two seeds of a task with three subtasks give three subtasks, and the mean of six rows."""
    [(_, found)] = frames["tasks"].iterrows()
    assert (found["task"], found["subtasks"], found["records_per_s"]) == ("map", 3, 2.0)
    assert found["busy_ratio"] == pytest.approx(0.1)


def test_in_flight_data_and_shares_are_metrics_of_a_run(frames: Frames) -> None:
    """Persisted data are the mean over completed checkpoints that say theirs. Shares are of all."""
    assert metric_of(frames, METRICS, "persisted_bytes") == {1: 200.0}
    assert metric_of(frames, METRICS, "start_delay_ns") == {1: 6.0}
    assert metric_of(frames, METRICS, "failed_checkpoint_share") == {1: 0.25}
    assert metric_of(frames, METRICS, "completed_share") == {1: 1.0, 2: 0.0}
