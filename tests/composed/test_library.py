"""The composed scenarios of the library."""

import pytest

from scenarios.catalogue import by_name
from sim.world import run_world


@pytest.mark.parametrize("ties", ["structural", "random", "pct"])
@pytest.mark.parametrize("seed", range(3))
def test_the_pipeline_survives_its_crash(seed: int, ties: str) -> None:
    """The demo pipeline restarts once and ends with every record stored exactly once."""
    result = run_world(by_name("pipeline"), seed=seed, ties=ties)
    assert [row.says for row in result.violations] == []
    assert result.run.outcome == "completed"
    assert result.run.attempts == 2
    assert result.run.records_committed == 200
