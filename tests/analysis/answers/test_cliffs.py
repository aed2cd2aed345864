"""Cliffs: where a metric jumps between neighbours, and the phase that grew."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis.answers import cliff_sentences
from ckptsim.analysis.answers.cliffs import cause, jumps, recovery_phases, sentence
from ckptsim.analysis.answers.phases import phases_of_runs
from ckptsim.analysis.report.slowest import cause_at
from ckptsim.analysis.summaries import read, refresh
from ckptsim.analysis.sweeps.plan import about_sweep, sweep_rows
from ckptsim.analysis.sweeps.sweep import WORLD
from ckptsim.analysis.sweeps.worker import run_chunk
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.planning import plan_from
from tests.analysis.answers.test_sentences import around, findings
from tests.analysis.report.small import sweep_here

INTERVALS = ("10 s", "2 s", "5 s")
MODES = ("aligned", "unaligned")


def phases(found: Any, *rows: tuple[int, int, int, int]) -> pd.DataFrame:
    """Return the sums of n checkpoints per point: alignment, asynchronous part, durations."""
    keys = [(point["scenario"], point["parameters"]) for point in found.points]
    columns = ["scenario", "parameters", "n", "alignment", "async", "duration_ns"]
    return pd.DataFrame(
        [(*key, *row) for key, row in zip(keys, rows, strict=True)], columns=columns
    )


def test_a_cliff_names_the_phase_that_grew() -> None:
    """Neighbours in the order of numbers, means of both, the phase and its part of the change."""
    found = findings({"interval": INTERVALS}, {"median_latency_ns": around(61e6, 1.2e9, 61e6)})
    (jump,) = jumps(found)
    ms = 10**6
    frame = phases(
        found,
        (2, 6 * ms, 100 * ms, 122 * ms),
        (4, 4400 * ms, 260 * ms, 4800 * ms),
        (3, 9 * ms, 150 * ms, 183 * ms),
    )
    assert sentence(jump, cause(jump, frame)) == (
        "Cliff at interval 5 s -> 2 s: median checkpoint duration of a run grows from 61 ms "
        "to 1.2 s, 19.7 times; "
        "alignment grows from 3 ms to 1.1 s, 96 % of the difference."
    )


def test_steps_of_three_times_and_noise_are_no_cliffs() -> None:
    """A step must be of more than three times, beyond noise, and from more than nothing."""
    for values in (around(1, 2.9, 1), [[1, 9, 90], [2, 99, 3], [1, 5, 8]], around(0, 5, 5)):
        assert jumps(findings({"interval": INTERVALS}, {"ended_ns": values})) == []


def test_the_same_step_at_other_values_is_counted() -> None:
    """Of a step that is a cliff at several values of the other axes the highest is reported."""
    values = around(61e6, 61e6, 61e6, 1.2e9, 2.4e9, 61e6)
    found = findings({"mode": MODES, "interval": INTERVALS}, {"median_latency_ns": values})
    told = [sentence(jump, None) for jump in jumps(found)]
    assert told[0].startswith("Cliff at interval 2 s, mode aligned -> unaligned: ")
    assert "39.3 times (and at 1 more point)" in told[0]
    assert told[1].startswith("Cliff at unaligned, interval 5 s -> 2 s: ")
    assert len(told) == 3


def test_a_recovery_is_explained_by_its_parts() -> None:
    """Where recoveries take longer, the part of them that grew is named."""
    metrics = {
        "catch_up_ns": around(1e9, 9e9),
        "recovery_detected_ns": around(5e7, 5e7),
        "recovery_catch_up_ns": around(0.9e9, 8.9e9),
    }
    found = findings({"mode": MODES}, metrics)
    found.about["answers"] = ["catch_up_ns"]
    (jump,) = jumps(found)
    told = sentence(jump, cause(jump, recovery_phases(found, "catch_up_ns")))
    assert told.endswith("catch-up grows from 900 ms to 8.9 s, all of the difference.")


def test_a_cause_that_is_not_known_is_not_told() -> None:
    """Without phases, or where no phase grew, the cliff is alone."""
    found = findings({"mode": MODES}, {"median_latency_ns": around(1e6, 9e6)})
    (jump,) = jumps(found)
    assert cause(jump, phases(found, (1, 5, 5, 10), (1, 5, 5, 10))) is None
    assert cause(jump, phases(found, (1, 5, 5, 10), (1, 5, 5, 10))[:1]) is None
    assert sentence(jump, None).endswith("9 times.")


def test_phases_are_of_the_subtask_that_acknowledged_last() -> None:
    """Of a job the last subtask's parts and the rest. Steps of others and unfinished ones are out.

    Of a sync each state's waits.
    """
    names = ("wait_records_ns", "wait_upload_ns", "wait_predecessor_ns", "wait_send_ns")
    waits = dict.fromkeys(names, math.nan)
    one = {"run_key": "a", "checkpoint_id": 1, "status": "completed", "inner": False, **waits}
    checkpoints = pd.DataFrame(
        [
            {**one, "duration_ns": 100},
            {**one, "checkpoint_id": 2, "status": "expired", "duration_ns": None},
            {**one, "checkpoint_id": 3, "inner": True, "duration_ns": 77},
            {**one, "run_key": "b", "duration_ns": 9, "wait_records_ns": 4, "wait_send_ns": 5},
        ]
    )
    columns = ["run_key", "checkpoint_id", "acknowledged_ns", "start_delay_ns", "alignment_ns",
               "sync_ns", "async_ns"]  # fmt: skip
    tasks = pd.DataFrame(
        [("a", 1, 50, 9, 9, 9, 9), ("a", 1, 90, 20, 30, 5, 35), ("a", 1, 90, 1, 1, 1, 1),
         ("a", 2, None, 1, 1, 1, 1), ("a", 3, 5, 1, 1, 1, 1)],
        columns=columns,
    )  # fmt: skip
    found = phases_of_runs(checkpoints, tasks)
    assert found.loc["a", ["n", "duration_ns", "start delay", "alignment"]].tolist() == [
        1, 100, 20, 30,
    ]  # fmt: skip
    assert found.loc["a", "acknowledgement"] == 10
    assert found.loc["b", ["n", "duration_ns", "the wait for records", "the send"]].tolist() == [
        1, 9, 4, 5,
    ]  # fmt: skip


@pytest.mark.spark
def test_a_sweep_of_a_job_explains_its_cliff(spark: SparkSession, tmp_path: Path) -> None:
    """Barriers after full buffers: the tables themselves name the phase that grew."""
    store = sweep_here(
        {
            "name": "modes",
            "scenario": "back_pressure_aligned",
            "replications": 1,
            "answers": ["median_latency_ns"],
            "overrides": {"job.duration": "6 s"},
            "grid": {"job.checkpointing.mode": ["aligned", "unaligned"]},
        },
        tmp_path,
    )
    refresh(spark, store)
    found = read(store)
    (told,) = cliff_sentences(found, store)
    assert told.startswith("Cliff at checkpointing mode unaligned -> aligned: ")
    assert "grows from" in told.partition("; ")[2]
    assert told.endswith("of the difference.")
    (more,) = cliff_sentences(found, store, partial(cause_at, found))
    assert more.startswith(f"{told} There: Checkpoint ")
    assert more.endswith(" records of 1 ms each before it (start_delay).")


@pytest.mark.spark
def test_phases_are_summed_over_pieces_that_know_different_ones(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A sweep of several pieces, some without the points of a cliff, is explained as one."""
    plan = plan_from(
        {
            "name": "sockets",
            "scenario": "reference",
            "replications": 3,
            "grid": {"sync.sockets.bandwidth": ["20 kB/s", "20 MB/s", "21 MB/s"]},
        },
        source="test",
    )
    rows = sweep_rows(plan)
    store = SweepStore(tmp_path / "out")
    store.open(about_sweep(plan, rows))
    store.write_points(rows)
    for part in (rows[:4], rows[4:6], rows[6:]):
        store.commit([run_chunk(WORLD, part, each=lambda: None).tables])
    refresh(spark, store)
    (told,) = cliff_sentences(read(store), store)
    assert told.startswith("Cliff at sockets bandwidth 20 MB/s -> 20 kB/s: ")
    assert "; the wait for records grows from " in told
