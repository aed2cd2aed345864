"""Every library scenario of the ordering link shows what it says it shows."""

from collections import Counter

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.sync import GOALS, Outcome, SyncModel
from ckptsim.sim.world import run_world

SCENARIOS = {s.name: s for s in all_scenarios() if s.link == "ordering"}
TIES = ("structural", "random", "pct")
SEEDS = 12
REQUIRED = [f"t{n:02d}" for n in (*range(1, 15), 16)] + [f"b{n:02d}" for n in range(1, 17)]


def _model(scenario: Scenario) -> SyncModel:
    assert isinstance(scenario.model, SyncModel)
    return scenario.model


@pytest.mark.parametrize("prefix", REQUIRED)
def test_every_known_defect_has_a_scenario(prefix: str) -> None:
    """The library has a scenario for each defect, found by the beginning of its name."""
    assert any(name.startswith(f"{prefix}_") for name in SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_shows_what_it_says(name: str) -> None:
    """The right core breaks nothing but what the scenario declares, and meets its situations."""
    scenario = SCENARIOS[name]
    reached: Counter[str] = Counter()
    violated: Counter[str] = Counter()
    for seed in range(SEEDS):
        result = run_world(scenario, seed=seed, ties=TIES[seed % len(TIES)])
        reached.update(goal for goal, count in result.goals.items() if count)
        violated.update(row.property for row in result.violations)
        allowed = set(scenario.violates)
        assert {row.property for row in result.violations} <= allowed, result.violations
        if not result.violations and _model(scenario).outcome is Outcome.COMPLETED:
            assert result.run.outcome == "completed"
    assert set(scenario.violates) == set(violated)
    assert [goal for goal in scenario.goals if not reached[goal]] == []


def test_every_situation_is_met_by_the_library() -> None:
    """No situation that is counted stays at zero over all scenarios: green runs mean something."""
    reached = Counter(
        goal
        for scenario in SCENARIOS.values()
        for seed in range(3)
        for goal, count in run_world(scenario, seed=seed, ties="random").goals.items()
        if count
    )
    assert [goal for goal in GOALS if not reached[goal]] == []


@pytest.mark.parametrize(
    ("defect", "safeguard"),
    [
        ("t07_state_flood_blocks", "t07_state_flood"),
        ("t11_missing_state_finished", "t11_missing_state_unread"),
        ("b16_checkpoint_race", "b16_checkpoint_locked"),
    ],
)
def test_a_defect_of_the_host_has_its_safeguard_beside_it(defect: str, safeguard: str) -> None:
    """Where the core cannot help, a second scenario shows what does."""
    assert SCENARIOS[defect].violates
    assert not SCENARIOS[safeguard].violates
