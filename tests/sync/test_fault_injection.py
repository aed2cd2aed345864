"""Generated workloads and fault plans: the right core completes every one of them."""

import pytest
from hypothesis import given, settings

from scenarios import Scenario, canonical_json
from scenarios.document import plain, read
from sim.twins.ordering import TWINS
from sim.world import run_world
from tests.sync import corpus, plans


@settings(max_examples=300)
@given(plans.scenarios(), plans.SEEDS, plans.TIES)
def test_right_core_survives_every_plan(scenario: Scenario, seed: int, ties: str) -> None:
    """No property breaks, nothing is lost, and the sync completes once its faults are over."""
    result = run_world(scenario, seed=seed, ties=ties)
    assert result.violations == [], result.violations[0]
    assert result.run.outcome == "completed", result.run


@settings(max_examples=100)
@given(plans.scenarios())
def test_a_plan_survives_being_written_down(scenario: Scenario) -> None:
    """A generated plan is a valid document, so that a found one can be kept and replayed."""
    again = read(plain(scenario), source="plan")
    assert again == scenario
    assert canonical_json(again) == canonical_json(scenario)


@pytest.mark.parametrize("found", corpus.load(), ids=lambda found: found.name)
def test_kept_plan_still_tells_its_twin_from_the_right_core(found: corpus.Found) -> None:
    """A plan that was found once breaks the same property of its twin, and none of ours."""
    assert found.twin is not None
    assert corpus.broken(found.scenario, found.seed, found.ties, found.twin) == found.property
    right = run_world(found.scenario, seed=found.seed, ties=found.ties)
    assert right.violations == []
    assert right.run.outcome == "completed"


def test_corpus_has_a_plan_for_every_mutant() -> None:
    """Generated plans alone, without the library, tell every mutant from the right core."""
    mutants = {name for name, twin in TWINS.items() if twin.profile == "spec"}
    assert mutants <= {found.twin for found in corpus.load()}
