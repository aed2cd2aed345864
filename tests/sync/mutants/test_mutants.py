"""The library and kept plans distinguish every mutant from the right core."""

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world
from tests.mutants import ordering
from tests.sync.mutants import corpus, mutant_table

SPEC = [name for name, one in ordering.MUTANTS.items() if one.profile == "spec"]
MUTANTS = [name for name in SPEC if name not in mutant_table.SHOWN_BY_CORE]


def test_every_mutant_has_its_scenario() -> None:
    """No mutant is left out of the table, and there are at least the fourteen known ones."""
    assert sorted({*mutant_table.SCENARIO_OF, *mutant_table.SHOWN_BY_CORE}) == sorted(SPEC)
    assert len(MUTANTS) >= 14


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_killed_and_the_right_core_is_not(mutant: str) -> None:
    """Within a hundred seeds the mutant breaks a property where the right core breaks none."""
    found = mutant_table.first(mutant)
    assert found is not None
    seed, _ = found
    scenario = by_name(mutant_table.SCENARIO_OF[mutant])
    assert run_world(scenario, seed=seed, ties="random").violations == []


@pytest.mark.parametrize(("design", "scenario"), mutant_table.PUBLIC)
def test_public_design_breaks_where_its_defect_is_and_not_elsewhere(
    design: str, scenario: str
) -> None:
    """The known defects of public designs show in the simulated sync, on their scenarios alone."""
    found = mutant_table.broken(design, scenario)
    expected = mutant_table.PUBLIC[(design, scenario)]
    assert [name for name, _ in found.most_common(1)] == ([expected] if expected else [])


@pytest.mark.parametrize("found", corpus.load(), ids=lambda found: found.name)
def test_kept_plan_still_tells_its_mutant_from_the_right_core(found: corpus.Found) -> None:
    """A plan that was found once breaks the same property of its mutant, and none of ours."""
    assert found.mutant is not None
    assert corpus.broken(found.scenario, found.seed, found.ties, found.mutant) == found.property
    right = run_world(found.scenario, seed=found.seed, ties=found.ties)
    assert right.violations == []
    assert right.run.outcome == "completed"


def test_corpus_has_a_plan_for_every_mutant() -> None:
    """Generated plans alone, without the library, tell every mutant that a sync can show."""
    assert set(MUTANTS) <= {found.mutant for found in corpus.load()}
