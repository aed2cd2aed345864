"""Plans that were found once tell the mutants from the right core for good."""

import pytest

from ckptsim.sim.mutants.ordering import MUTANTS, VECTORS_OF
from ckptsim.sim.world import run_world
from tests.sync.mutants import corpus
from tests.sync.mutants.mutant_table import SHOWN_BY_CORE


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
    mutants = set(MUTANTS) - set(VECTORS_OF) - SHOWN_BY_CORE
    assert mutants <= {found.mutant for found in corpus.load()}
