"""Runs on Spark with complete results: for one question, not for tables that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING

from ckptsim.analysis.sweeps.sweep import POLL_S, WORLD
from ckptsim.analysis.sweeps.worker import load_world
from ckptsim.scenarios.files import document, plain
from ckptsim.scenarios.spec import Scenario
from ckptsim.sim.rows import RunResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_all(
    session: SparkSession,
    runs: Sequence[tuple[Scenario, int]],
    *,
    world: str = WORLD,
    progress: Callable[[int], object] = int,
) -> list[RunResult]:
    """Run scenarios with their seeds, one per task, and return the results in their order.

    progress: is reported how many have ended.  A run that raises ends them all: an answer that
    lacks one of its runs would be another answer.
    """
    context = session.sparkContext
    ended = context.accumulator(0)
    shipped = [(json.dumps(plain(scenario)), seed) for scenario, seed in runs]
    task = partial(_run, world, each=partial(ended.add, 1))
    with ThreadPoolExecutor(1) as threads:
        # One run per task: they take seconds each, and ended ones count while others run.
        placed = context.parallelize(shipped, max(1, len(shipped))).map(task)
        collected = threads.submit(placed.collect)
        while not collected.done():
            wait([collected], POLL_S)
            progress(ended.value)
        return list(collected.result())


def _run(world: str, run: tuple[str, int], *, each: Callable[[], None]) -> RunResult:
    """Run one scenario in a worker. run: its document as JSON, and a seed."""
    text, seed = run
    scenario = document.read(json.loads(text), source="a scenario that was shipped to a worker")
    result = load_world(world)(scenario, seed=seed)
    each()
    return result
