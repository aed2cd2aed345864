"""The result tables of one job: the same rows on both data planes, where costs do not decide."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.records.plans import Seeded
from tests.job.test_planes import scenario

SEEDS = range(12)


def played(seed: int) -> tuple[RunResult, RunResult]:
    """Run the job of a seed on both planes."""
    records, buffers = (
        run_world(scenario(Seeded(seed), plane), seed=seed) for plane in ("records", "buffers")
    )
    return records, buffers


def facts(result: RunResult) -> dict[str, list[tuple[Any, ...]]]:
    """Return what of the tables does not depend on costs."""
    return {
        "checkpoints": [
            (row.checkpoint_id, row.attempt, row.kind, row.status, row.reason)
            for row in result.checkpoints
        ],
        "tasks": [(row.task, row.subtask, row.finished_ns is None) for row in result.tasks],
        "recoveries": [(row.attempt, row.cause, row.restored_from) for row in result.recoveries],
        "run": [(result.run.attempts, result.run.checkpoints_completed)],
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_both_planes_fill_the_same_rows(seed: int) -> None:
    """Checkpoints, tasks, recoveries and the run say the same of both planes."""
    records, buffers = played(seed)
    assert facts(records) == facts(buffers)
    completed = {row.checkpoint_id for row in records.checkpoints if row.status == "completed"}
    parts = [
        [
            (row.checkpoint_id, row.task, row.subtask, row.status)
            for row in result.task_checkpoints
            if row.checkpoint_id in completed
        ]
        for result in (records, buffers)
    ]
    assert parts[0] == parts[1]
    assert {row.status for row in records.task_checkpoints if row.checkpoint_id in completed} <= {
        "acknowledged"
    }


@pytest.mark.parametrize("plane", ["records", "buffers"])
def test_durations_are_those_of_the_engine(plane: str) -> None:
    """To the last acknowledgement, or to the end of the given value up. A part has both halves."""
    seen = set()
    for seed in SEEDS:
        result = run_world(scenario(Seeded(seed), plane), seed=seed)
        for row in result.checkpoints:
            parts = [p for p in result.task_checkpoints if p.checkpoint_id == row.checkpoint_id]
            arrivals = [p.acknowledged_ns for p in parts if p.acknowledged_ns is not None]
            seen.add(row.status)
            if row.status == "completed":
                assert row.duration_ns == max(arrivals) - row.triggered_ns
                assert row.async_ns == max(p.async_ns for p in parts)
            elif row.status == "expired":
                assert row.duration_ns == 300_000_000
    assert seen >= {"completed", "expired"}
