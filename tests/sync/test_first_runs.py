"""A sync runs to its end, and its tables agree with each other."""

from dataclasses import replace

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world


def _run(seed: int, ties: str = "structural") -> RunResult:
    return run_world(by_name("reference"), seed=seed, ties=ties)


@pytest.mark.parametrize("ties", ["structural", "random", "pct"])
def test_reference_completes_with_everything_stored(ties: str) -> None:
    """One crash is survived under every tie policy: all records are claimed by returned states."""
    for seed in range(20):
        result = _run(seed, ties)
        assert result.violations == []
        assert result.run.outcome == "completed"
        assert result.run.records_committed == 400
        assert result.run.attempts == 2


def test_a_run_that_is_not_over_at_its_bound_is_a_violation() -> None:
    """An attempt that takes longer than any run may is cut, and says so. Nothing fails it then."""
    scenario = by_name("reference")
    slow = replace(scenario.model.destination, record_ns=10**15, stall_limit_ns=10**16)
    scenario = replace(scenario, model=replace(scenario.model, destination=slow), faults=())
    result = run_world(scenario, seed=0, ties="structural")
    assert [row.property for row in result.violations] == ["run_ends_with_a_reason"]
    assert "is not over" in result.violations[0].says


def test_waits_of_a_released_state_add_up_to_its_duration() -> None:
    """The four parts of a state's time are a division of it."""
    for seed in range(20):
        for row in _run(seed).checkpoints:
            parts = (
                row.wait_records_ns,
                row.wait_upload_ns,
                row.wait_predecessor_ns,
                row.wait_send_ns,
            )
            if row.status == "completed":
                assert all(part is not None and part >= 0 for part in parts)
                assert sum(part or 0 for part in parts) == row.duration_ns
            else:
                assert parts == (None, None, None, None)


def test_same_arguments_give_the_same_tables() -> None:
    """A run is a function of its arguments."""
    assert _run(3, "random") == _run(3, "random")
    assert _run(3, "random").run.digest != _run(4, "random").run.digest
