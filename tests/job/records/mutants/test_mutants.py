"""Every faulty core has a scenario that distinguish it."""

from __future__ import annotations

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.world import run_world
from tests.job.records.mutants import mutant_table
from tests.kills import SEEDS_MAX
from tests.mutants import barriers, lifecycle

# Mutants with a fault that needs events that a whole job does not produce. Vectors kill them: a
# stop that no one asks for again.
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
    assert set(lifecycle.SHOWN_BY) | BY_VECTOR == set(lifecycle.MUTANTS)


@pytest.mark.parametrize("mutant", list(lifecycle.SHOWN_BY))
def test_check_tells_a_mutant_from_the_right_core(mutant: str) -> None:
    """Within a few seeds the mutant breaks the property. The right core breaks none in any."""
    scenario, name = lifecycle.SHOWN_BY[mutant]
    assert any(name in broken(scenario, seed, mutant) for seed in SEEDS)
    assert [broken(scenario, seed) for seed in SEEDS] == [set() for _ in SEEDS]


_ENOUGH = 6  # seeds under which the right cores are tried at least


@pytest.mark.parametrize("mutant", sorted(mutant_table.SCENARIO_OF))
def test_mutant_is_found_where_the_right_core_survives(mutant: str) -> None:
    """Within 100 seeds the mutant breaks a property, and up to there the right cores do not."""
    found = mutant_table.first(mutant)
    assert found is not None
    for seed in range(max(_ENOUGH, found[0] + 1)):
        assert mutant_table.violated(None, mutant_table.SCENARIO_OF[mutant], seed) is None
    assert found[0] < SEEDS_MAX


def test_every_mutant_of_a_job_has_a_scenario() -> None:
    """No mutant that a job can run is left out. Each issue left out says why."""
    assert {*mutant_table.SCENARIO_OF, *mutant_table.SHOWN_BY_CORE} == set(barriers.MUTANTS)


def test_unknown_mutant_is_the_users_error() -> None:
    """The message names the mutants of barriers and the ones of tasks' ends."""
    with pytest.raises(UserError, match=r"gate_local_lookup.*closes_without_acknowledgement"):
        run_world(by_name("keyed_crash"), seed=0, mutant="nobody")
    with pytest.raises(UserError, match="takes slot ordering"):
        run_world(by_name("keyed_crash"), seed=0, mutant="gaps_tolerated")
