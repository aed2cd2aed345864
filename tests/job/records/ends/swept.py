"""Runs the points of a sweep plan in this process, as `ckptsim sweep` would on Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ckptsim.scenarios.planning import load_plan, runs
from ckptsim.scenarios.planning.grid import Run
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

Values = dict[str, Any]


def swept(plan: str, *, keep_trace: bool = False) -> Iterator[tuple[Values, RunResult]]:
    """Yield every run of a plan: the swept values by the last part of their paths, and its result.

    A run may break only what the scenario declares.
    """
    for run in runs(load_plan(plan)):
        result = run_world(run.point.scenario, seed=run.seed, ties=run.ties, keep_trace=keep_trace)
        broken = {row.property for row in result.violations} - set(run.point.scenario.violates)
        if broken:
            raise AssertionError(f"{plan}, {run.point.parameters}, seed {run.seed}: {broken}")
        yield values_of(run), result


def values_of(run: Run) -> Values:
    """Return the swept values of a run by the last part of their paths."""
    found = json.loads(run.point.parameters)
    return {path.rpartition(".")[2]: value for path, value in found.items()}
