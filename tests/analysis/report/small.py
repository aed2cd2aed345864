"""Small sweeps of several links with their report, run without Spark."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ckptsim.analysis.report import write_report
from ckptsim.analysis.sweeps.plan import about_sweep, sweep_rows
from ckptsim.analysis.sweeps.sweep import WORLD
from ckptsim.analysis.sweeps.worker import run_chunk
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.planning import load_plan, plan_from

SOCKETS = {
    "name": "sockets",
    "says": "how many sockets a sync needs",
    "question": "Do more sockets make a sync faster?",
    "answers": ["ended_ns", "median_latency_ns"],
    "words": {"sync.sockets.count": "sockets"},
    "scenario": "reference",
    "replications": 5,
    "ties": ["structural", "random"],
    "grid": {"sync.sockets.count": [1, 2]},
}
RACE = {
    "name": "race",
    "says": "an anti-pattern beside its safeguard",
    "question": "What does a locked checkpoint cost?",
    "answers": ["records_committed"],
    "words": {"scenario": "design"},
    "scenario": "b16_checkpoint_race",
    "replications": 20,
    "ties": ["random"],
    "grid": {"scenario": ["b16_checkpoint_race", "b16_checkpoint_locked"]},
}


def sweep_here(found: dict[str, Any] | str, directory: Path) -> SweepStore:
    """Run a plan's rows in this process and save them as a sweep does. A text names a plan."""
    plan = load_plan(found) if isinstance(found, str) else plan_from(found, source="test")
    rows = sweep_rows(plan)
    store = SweepStore(directory / plan.name)
    store.open(about_sweep(plan, rows))
    store.write_points(rows)
    store.commit([run_chunk(WORLD, rows, each=partial(int)).tables])
    return store


def write_small_report(directory: Path) -> Path:
    """Sweep a sync, a job with barriers and an anti-pattern. Return where the page is."""
    for found in (SOCKETS, RACE, "barrier_modes", "final_by_depth"):
        sweep_here(found, directory)
    write_report(directory)
    return directory
