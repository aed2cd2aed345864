"""Generated workloads and fault plans: the right core completes every one of them."""

from hypothesis import given, settings

from ckptsim.scenarios import Scenario, canonical_json
from ckptsim.scenarios.files import plain, read
from ckptsim.sim.world import run_world
from tests.sync.support import SEEDS, TIES, scenarios


@settings(max_examples=300)
@given(scenarios(), SEEDS, TIES)
def test_right_core_survives_every_plan(scenario: Scenario, seed: int, ties: str) -> None:
    """No property breaks, nothing is lost, and the sync completes once its faults are over."""
    result = run_world(scenario, seed=seed, ties=ties)
    assert result.violations == [], result.violations[0]
    assert result.run.outcome == "completed", result.run


@settings(max_examples=100)
@given(scenarios())
def test_a_plan_survives_being_written_down(scenario: Scenario) -> None:
    """A generated plan is a valid document, so that a found one can be kept and replayed."""
    again = read(plain(scenario), source="plan")
    assert again == scenario
    assert canonical_json(again) == canonical_json(scenario)
