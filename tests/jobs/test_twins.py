"""Every published fault of how tasks end has a scenario that tells its twin from the right core."""

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.twins.lifecycle import TWINS
from ckptsim.sim.world import run_world

FOUND = {name: twin for name, twin in TWINS.items() if twin.scenario is not None}
# Twins whose fault needs events that a whole job does not produce; vectors and unit tests kill
# them: an alignment inside the lifecycle core (here the barrier handler aligns), a stop that nobody
# asks for again.
BY_VECTOR = {
    "end_of_partition_aborts_alignment",
    "survives_aborted_savepoint",
    "stop_takes_any_completion",
}
SEEDS = range(8)


def broken(scenario: str, seed: int, twin: str | None = None) -> set[str]:
    """Return the properties that one run breaks, apart from those that the scenario must break."""
    subject = by_name(scenario)
    result = run_world(subject, seed=seed, ties="random", twin=twin)
    return {violation.property for violation in result.violations} - set(subject.violates)


def test_every_twin_is_found_or_explained() -> None:
    """No twin is without a scenario, unless it is said how else it is found."""
    assert set(FOUND) | BY_VECTOR == set(TWINS)


@pytest.mark.parametrize("twin", list(FOUND))
def test_check_tells_a_twin_from_the_right_core(twin: str) -> None:
    """Within a few seeds the twin breaks the property; the right core breaks none in any."""
    scenario, name = FOUND[twin].scenario, FOUND[twin].breaks
    assert scenario is not None
    assert any(name in broken(scenario, seed, twin) for seed in SEEDS)
    assert [broken(scenario, seed) for seed in SEEDS] == [set() for _ in SEEDS]


def test_every_twin_says_what_is_wrong() -> None:
    """One sentence per twin."""
    assert all(twin.says.endswith(".") and len(twin.says) < 120 for twin in TWINS.values())
