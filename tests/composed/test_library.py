"""The composed scenarios of the library: which there are, losses counted, rows of their time."""

import pytest

from ckptsim.scenarios.catalogue import all_names, by_name
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

SEEDS = range(4)
ALL = [name for name in all_names() if by_name(name).link == "composed"]
SOUND = [name for name in ALL if not by_name(name).violates]
ANTI = [name for name in ALL if by_name(name).violates]


def runs(name: str) -> list[RunResult]:
    """Return a few runs of a scenario under varied tie orders."""
    scenario = by_name(name)
    ties = ("structural", "random", "pct")
    return [run_world(scenario, seed=seed, ties=ties[seed % 3]) for seed in SEEDS]


@pytest.mark.parametrize("name", [name for name in ANTI if "append" not in name])
def test_losses_are_counted(name: str) -> None:
    """A loss is told with the number of records that are gone, of all that the source had."""
    says = [
        row.says
        for result in runs(name)
        for row in result.violations
        if row.property == "no_record_lost"
    ]
    assert says
    for sentence in says:
        assert "of 200 records are not in the store" in sentence


def test_there_are_enough() -> None:
    """The library has a scenario per placement and barrier mode, and several anti-patterns."""
    models = [by_name(name).model for name in ALL]
    assert {model.store.placement.value for model in models} == {  # type: ignore[attr-defined]
        "colocated",
        "external",
        "consumer_group_blob",
    }
    assert {model.checkpointing.mode.value for model in models} == {  # type: ignore[attr-defined]
        "aligned",
        "unaligned",
        "aligned_timeout",
        "at_least_once",
    }
    assert len(ANTI) >= 6


def test_rows_tell_where_the_time_of_a_state_went() -> None:
    """The four waits of a released state add up; job checkpoints and their parts have rows too."""
    result = run_world(by_name("pipeline"), seed=1)
    states = [row for row in result.checkpoints if row.scope != "job" and row.completed_ns]
    assert states
    for row in states:
        waits = (row.wait_records_ns, row.wait_upload_ns, row.wait_predecessor_ns, row.wait_send_ns)
        assert sum(wait or 0 for wait in waits) == row.duration_ns
    jobs = [row for row in result.checkpoints if row.scope == "job"]
    assert any(row.status == "completed" and row.alignment_ns is not None for row in jobs)
    assert {row.task for row in result.task_checkpoints} >= {"readers", "upstream", "sink"}
