"""Jobs that fail at random against the laws of the checkpoint interval, and where these stop."""

from __future__ import annotations

import pytest

from tests.job.records.interval_laws import (
    BEGIN,
    COST_MS,
    END,
    INTERVALS_MS,
    OPTIMUM_MS,
    PAGE,
    expected,
    row,
    slowdown,
    table,
)


@pytest.mark.parametrize("interval_ms", [OPTIMUM_MS // 2, OPTIMUM_MS, 2 * OPTIMUM_MS])
def test_a_blocking_checkpoint_costs_what_daly_says(interval_ms: int) -> None:
    """The slowdown around the optimum matches the closed form within 2 %."""
    assert slowdown(interval_ms) == pytest.approx(expected(interval_ms), rel=0.02)


@pytest.mark.parametrize("words", [{"restart_ms": 300}, {"depth": 3, "latency_ms": 20, "seeds": 5}])
def test_the_optimum_knows_neither_restart_nor_depth(words: dict[str, int]) -> None:
    """Restarts and a longer way change what failures cost. The best interval stays.

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


def test_the_law_stops_where_a_job_has_capacity_to_spare() -> None:
    """At half load what checkpoints and failures take is caught up with, whatever the interval.

    From 0.9 of the capacity on there is an optimum again.
    """
    spare, full = ([slowdown(t, load=load, seeds=4) for t in INTERVALS_MS] for load in (0.5, 0.9))
    assert max(spare) - min(spare) < 0.01
    assert min(full) < min(full[0], full[-1]) - 0.03


def test_the_page_has_the_closed_form() -> None:
    """The line of the table that no run is needed for is what the formula gives."""
    assert row("on paper", [expected(one) for one in INTERVALS_MS]) in PAGE.read_text("utf-8")


@pytest.mark.long
def test_the_table_is_what_the_program_gives() -> None:
    """`python -m tests.job.records.interval_laws` would write the table that is there."""
    assert BEGIN + table() + END in PAGE.read_text("utf-8")
