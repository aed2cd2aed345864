"""Jobs that fail at random against the laws of the checkpoint interval, and where these stop."""

from __future__ import annotations

from functools import cache
from math import exp
from random import Random
from statistics import fmean

import pytest

from ckptsim.scenarios.files import loads
from ckptsim.sim.world import run_world

# One task, a checkpoint that keeps its thread for 60 ms, failures 3,600 ms apart in the mean.  For
# these the interval that costs least is 617.9 ms of work.  Source: J. T. Daly, A higher order
# estimate of the optimum checkpoint interval for restart dumps (2006), equations 20 and 37.
COST_MS, MEAN_TIME_BETWEEN_FAILURES_MS = 60, 3_600
OPTIMUM_MS = 618
GAP_MS = 10  # of work per record
RECORDS = 2_880

HEAD = """
name = "law"
link = "final_checkpoint"
says = "law"

[job]
vertices = [{vertices}]
channels = {{ latency = "{latency_ms} ms" }}
[job.checkpointing]
interval = "{interval_ms} ms"
min_pause = "{interval_ms} ms"
after_finish = false

[job.costs]
snapshot_sync = "{sync_ms} ms"
snapshot_async = "{async_ms} ms"

[job.restart]
kind = "fixed_delay"
delay = "{restart_ms} ms"
"""
FAULT = '\n[[faults]]\nkind = "crash_task"\nvertex = "v0"\nat = "{at_ns} ns"\n'


def _vertices(depth: int) -> str:
    rate = 1_000 // GAP_MS
    found = [f'{{ name = "v0", kind = "source", rate = "{rate} /s", records = {RECORDS} }}']
    for number in range(1, depth):
        inputs = f'[{{ upstream = "v{number - 1}" }}]'
        found.append(f'{{ name = "v{number}", kind = "operator", inputs = {inputs} }}')
    return ", ".join(found)


@cache
def slowdown(
    interval_ms: int,
    *,
    restart_ms: int = 0,
    depth: int = 1,
    latency_ms: int = 0,
    sync_ms: int = COST_MS,
    async_ms: int = 0,
    seeds: int = 14,
) -> float:
    """Return how many times as long jobs take with failures and checkpoints as without."""
    work_ms = RECORDS * GAP_MS
    head = HEAD.format(
        vertices=_vertices(depth),
        latency_ms=latency_ms,
        interval_ms=interval_ms,
        sync_ms=sync_ms,
        async_ms=async_ms,
        restart_ms=restart_ms,
    )
    found = []
    for seed in range(seeds):
        random, at_ms, faults = Random(seed), 0.0, ""
        while at_ms < 3 * work_ms:
            at_ms += random.expovariate(1 / MEAN_TIME_BETWEEN_FAILURES_MS)
            faults += FAULT.format(at_ns=1 + int(at_ms * 1e6))
        run = run_world(loads(head + faults, source="law.toml"), seed=seed).run
        assert (run.outcome, run.violations) == ("completed", 0)
        found.append(run.ended_ns / 1e6 / work_ms)
    return fmean(found)


def expected(interval_ms: int) -> float:
    """Return the mean slowdown on paper, for restarts that take no time."""
    mean_ms = MEAN_TIME_BETWEEN_FAILURES_MS
    return mean_ms * (exp((interval_ms + COST_MS) / mean_ms) - 1) / interval_ms


@pytest.mark.parametrize("interval_ms", [OPTIMUM_MS // 2, OPTIMUM_MS, 2 * OPTIMUM_MS])
def test_a_blocking_checkpoint_costs_what_daly_says(interval_ms: int) -> None:
    """The slowdown at half, at and at twice the optimum is that of the closed form, within 2 %."""
    assert slowdown(interval_ms) == pytest.approx(expected(interval_ms), rel=0.02)


@pytest.mark.parametrize("words", [{"restart_ms": 300}, {"depth": 3, "latency_ms": 20, "seeds": 5}])
def test_the_optimum_knows_neither_restart_nor_depth(words: dict[str, int]) -> None:
    """Restarts and a longer way change what failures cost; the best interval stays.

    Source: Jayasekara, Harwood, Karunasekera, A utilization model for optimization of checkpoint
    intervals in distributed stream processing systems (2020).
    """
    costs = {t: slowdown(t, **words) for t in (OPTIMUM_MS // 2, OPTIMUM_MS, 2 * OPTIMUM_MS)}
    assert min(costs, key=lambda t: costs[t]) == OPTIMUM_MS
    if "restart_ms" in words:
        assert all(costs[t] > slowdown(t) for t in costs)


def test_the_law_stops_where_checkpoints_do_not_block() -> None:
    """A snapshot that is written beside the work costs nothing but its age: shorter is better.

    The closed form takes its whole duration for lost work, and has the optimum where the blocking
    one has it.
    """
    half, whole = (slowdown(t, sync_ms=0, async_ms=COST_MS) for t in (OPTIMUM_MS // 2, OPTIMUM_MS))
    assert half < whole < expected(OPTIMUM_MS)
