"""Every faulty barrier core is found in its scenario; the right cores survive there."""

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.mutants.barriers import MUTANTS
from ckptsim.sim.world import run_world
from tests.job.records.mutants import mutant_table
from tests.kills import SEEDS_MAX

_ENOUGH = 6  # seeds under which the right cores are tried at least


@pytest.mark.parametrize("mutant", sorted(mutant_table.SCENARIO_OF))
def test_mutant_is_found_where_the_right_core_survives(mutant: str) -> None:
    """Within 1000 seeds the mutant breaks a property, and up to there the right cores do not."""
    found = mutant_table.first(mutant)
    assert found is not None
    for seed in range(max(_ENOUGH, found[0] + 1)):
        assert mutant_table.violated(None, mutant_table.SCENARIO_OF[mutant], seed) is None
    assert found[0] < SEEDS_MAX


def test_every_mutant_of_a_job_has_a_scenario() -> None:
    """No mutant that a job can run is left out; each issue left out says why."""
    assert {*mutant_table.SCENARIO_OF, *mutant_table.SHOWN_BY_CORE} == set(MUTANTS)
    assert all(why.endswith(".") for why in mutant_table.NOT_SHOWN.values())


def test_unknown_mutant_is_the_users_error() -> None:
    """The message names the mutants of barriers and those of tasks' ends."""
    with pytest.raises(UserError, match=r"gate_local_lookup.*closes_without_acknowledgement"):
        run_world(by_name("keyed_crash"), seed=0, mutant="nobody")
    with pytest.raises(UserError, match="takes slot ordering"):
        run_world(by_name("keyed_crash"), seed=0, mutant="gaps_tolerated")


@pytest.mark.long
def test_table_is_what_the_program_finds() -> None:
    """The document holds what its own command would write now."""
    assert mutant_table.DOCUMENT.read_text(encoding="utf-8") == mutant_table.table()
