"""A sync runs to its end, and its tables agree with each other."""

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
