"""The lifecycle core and the plan agree with the vectors, and mutants do not."""

from pathlib import Path

import pytest

from ckptsim.sim.conform.runner import run_file
from ckptsim.sim.mutants.lifecycle import MUTANTS

VECTORS = Path(__file__).parent.parent / "data" / "vectors"
RECORDED = VECTORS.parent / "recorded"
BY_VECTOR = [name for name, mutant in MUTANTS.items() if mutant.slot == "lifecycle"]
# Mutants whose fault no vector of the sample reaches; test_task, test_transactions or a job
# kills each.  Recovery has no words in the vectors.
BY_OTHER_MEANS = {
    "skipped_trigger_sets_minimum",
    "ignores_restored_id",
    "recovers_nothing",
    "recovers_what_was_open",
}


@pytest.mark.parametrize("suite", ["final_checkpoint", "checkpoint_plan"])
def test_every_vector_passes(suite: str) -> None:
    """Every vector of both suites comes out as recorded, under each variant it speaks for."""
    outcomes = list(run_file(VECTORS / f"{suite}.jsonl"))
    assert outcomes
    assert [o for o in outcomes if o.mismatch or o.skipped] == []


@pytest.mark.parametrize(("suite", "count"), [("final_checkpoint", 60), ("checkpoint_plan", 54)])
def test_every_script_of_a_second_reading_passes(suite: str, count: int) -> None:
    """Random scripts end as a model says that was written apart, from the rules alone."""
    outcomes = list(run_file(RECORDED / f"{suite}.jsonl"))
    assert len(outcomes) == count
    assert [o for o in outcomes if o.mismatch or o.skipped] == []


@pytest.mark.parametrize("mutant", [n for n in BY_VECTOR if n not in BY_OTHER_MEANS])
def test_every_mutant_fails_a_vector(mutant: str) -> None:
    """A core with one safeguard removed disagrees with at least one vector."""
    outcomes = run_file(VECTORS / "final_checkpoint.jsonl", mutant=mutant)
    assert any(outcome.mismatch for outcome in outcomes)
