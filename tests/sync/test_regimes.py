"""More sockets: what they bring where a sync waits for them, and what where it does not."""

from __future__ import annotations

import json
from collections import defaultdict
from statistics import median

import pytest

from ckptsim.scenarios.planning import load_plan, points
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

SLOW, FAST = "250 kB/s", "20 MB/s"
Figures = dict[int, tuple[float, float, float]]


@pytest.fixture(scope="module")
def measured() -> dict[str, Figures]:
    """By bandwidth and sockets: ms of the sync, of a state, and of its wait for storage."""
    found: dict[str, Figures] = defaultdict(dict)
    for point in points(load_plan("sockets_bound_and_not")):
        chosen = json.loads(point.parameters)
        results = [run_world(point.scenario, seed=seed) for seed in range(5)]
        assert not any(result.violations for result in results)
        found[chosen["sync.sockets.bandwidth_bytes_per_s"]][chosen["sync.sockets.count"]] = (
            median(result.run.ended_ns / 1e6 for result in results),
            median(_waits(result, "duration_ns") for result in results),
            median(_waits(result, "wait_upload_ns") for result in results),
        )
    return found


def _waits(result: RunResult, name: str) -> float:
    return float(median(getattr(row, name) or 0 for row in result.checkpoints)) / 1e6


def test_a_sync_that_waits_for_sockets_halves_with_twice_as_many(
    measured: dict[str, Figures],
) -> None:
    """Where sockets are slow, twice as many halve the sync, and no state is later for it."""
    figures = measured[SLOW]
    for sockets in (1, 2, 4):
        assert 1.8 <= figures[sockets][0] / figures[2 * sockets][0] <= 2.05
        assert figures[2 * sockets][1] <= 1.02 * figures[sockets][1]


def test_a_sync_that_waits_for_storage_only_queues_there(measured: dict[str, Figures]) -> None:
    """Where sockets are fast, more than two change nothing but how long states wait for storage."""
    figures = measured[FAST]
    assert figures[8][0] == pytest.approx(figures[2][0], rel=0.05)
    for sockets in (1, 2, 4):
        assert figures[2 * sockets][1] > 1.2 * figures[sockets][1]
    assert figures[8][2] > 0.8 * figures[8][1]
