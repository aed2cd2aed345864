"""What a dataflow job does as a whole."""

from __future__ import annotations

import pytest

from scenarios.catalogue import by_name as load_scenario
from sim.world import run_world

LIBRARY = (
    "back_pressure_aligned",
    "back_pressure_unaligned",
    "alignment_timeout",
    "bounded_union",
    "debloated",
    "oversized_records",
    "announced_and_cancelled",
    "concurrent_checkpoints",
    "expiring_uploads",
)


@pytest.mark.parametrize("name", LIBRARY)
def test_library_reaches_its_goals(name: str) -> None:
    """Every library scenario completes checkpoints, reaches what it names and breaks nothing."""
    scenario = load_scenario(name)
    result = run_world(scenario, seed=1)
    assert result.run.outcome == "completed"
    assert result.run.checkpoints_completed >= 3
    assert result.violations == []
    assert [goal for goal in scenario.goals if not result.goals.get(goal)] == []


def test_same_seed_same_digest() -> None:
    """Two runs with one seed have one digest, and another seed has another one."""
    scenario = load_scenario("alignment_timeout")
    digests = [run_world(scenario, seed=seed).run.digest for seed in (1, 2, 1)]
    assert digests[0] == digests[2] != digests[1]


def test_unaligned_is_fast_and_large() -> None:
    """Under back-pressure unaligned checkpoints are ten times as fast and hold the buffers."""
    aligned = run_world(load_scenario("back_pressure_aligned"), seed=3)
    unaligned = run_world(load_scenario("back_pressure_unaligned"), seed=3)
    slow = max(row.duration_ns or 0 for row in aligned.checkpoints)
    fast = max(row.duration_ns or 0 for row in unaligned.checkpoints)
    assert fast * 10 < slow
    assert all(row.persisted_bytes == 0 for row in aligned.checkpoints)
    full = [row for row in unaligned.checkpoints if row.status == "completed"][1:]
    assert all((row.persisted_bytes or 0) > 1_000_000 for row in full)


def test_bounded_job_ends_at_once() -> None:
    """A bounded job ends within 100 ms of its last source, by the immediate final checkpoint."""
    result = run_world(load_scenario("bounded_union"), seed=1)
    ends = {row.task: row.finished_ns or 0 for row in result.tasks}
    assert all(ends.values())
    assert 4_500_000_000 < max(ends.values()) < 4_600_000_000
