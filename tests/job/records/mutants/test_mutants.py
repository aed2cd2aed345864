"""Every published fault of how tasks end has a scenario that tells its mutant apart."""

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.mutants.lifecycle import MUTANTS, SHOWN_BY
from ckptsim.sim.world import run_world

# Mutants whose fault needs events that a whole job does not produce; vectors kill them: a stop that
# nobody asks for again.
BY_VECTOR = {
    "survives_aborted_savepoint",
    "stop_takes_any_completion",
}
SEEDS = range(8)


def broken(scenario: str, seed: int, mutant: str | None = None) -> set[str]:
    """Return the properties that one run breaks, apart from those that the scenario must break."""
    subject = by_name(scenario)
    result = run_world(subject, seed=seed, ties="random", mutant=mutant)
    return {violation.property for violation in result.violations} - set(subject.violates)


def test_every_mutant_is_found_or_explained() -> None:
    """No mutant is without a scenario, unless it is said how else it is found."""
    assert set(SHOWN_BY) | BY_VECTOR == set(MUTANTS)


@pytest.mark.parametrize("mutant", list(SHOWN_BY))
def test_check_tells_a_mutant_from_the_right_core(mutant: str) -> None:
    """Within a few seeds the mutant breaks the property; the right core breaks none in any."""
    scenario, name = SHOWN_BY[mutant]
    assert any(name in broken(scenario, seed, mutant) for seed in SEEDS)
    assert [broken(scenario, seed) for seed in SEEDS] == [set() for _ in SEEDS]
