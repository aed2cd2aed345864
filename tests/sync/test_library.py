"""The library of the ordering link has every known defect, safeguard and situation."""

from collections import Counter

import pytest

from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.sync import GOALS
from ckptsim.sim.world import run_world

SCENARIOS = {s.name: s for s in all_scenarios() if s.link == "ordering"}
REQUIRED = [f"t{n:02d}" for n in (*range(1, 15), 16)] + [f"b{n:02d}" for n in range(1, 17)]


@pytest.mark.parametrize("prefix", REQUIRED)
def test_every_known_defect_has_a_scenario(prefix: str) -> None:
    """The library has a scenario for each defect, found by the beginning of its name."""
    assert any(name.startswith(f"{prefix}_") for name in SCENARIOS)


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
