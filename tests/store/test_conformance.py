"""The vectors of the suite hold for the model, and every mutant breaks one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.runner import run_file
from ckptsim.sim.mutants.store import MUTANTS

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "data" / "vectors" / "checkpoint_store.jsonl"
OURS = HERE / "vectors.jsonl"  # written from the same rules
RECORDED = HERE.parent / "data" / "recorded" / "checkpoint_store.jsonl"  # a second reading of them

# The sample has no vector for these; ours have.
NOT_KILLED_BY_SAMPLE = {
    "aliases_blobs",
    "checkpoint_first",
    "checkpoints_errored_replica",
    "colocated_not_atomic",
    "counter_reset_by_failure",
    "deletes_all_partitions",
    "drops_all_versions",
    "flushes_no_deletes",
    "forgets_one_slot",
    "keeps_no_dictionary",
    "never_wipes",
    "one_error_stops_all",
    "redirect_leaks_deletes",
    "reuses_replica",
    "skips_tamper_check",
    "view_not_in_key",
}

# What these lack shows only in crashes at places, and in failures, that vectors cannot name.
SHOWN_BY_SCENARIOS = {"wipes_before_clearing", "hangs_on_recovery", "takes_unreadable_for_none"}


@pytest.mark.parametrize("path", [SAMPLE, OURS, RECORDED], ids=["sample", "ours", "recorded"])
def test_every_vector_holds(path: Path) -> None:
    """The model client agrees with every vector, and none is skipped."""
    outcomes = list(run_file(path))
    assert len(outcomes) >= 25
    assert [o for o in outcomes if o.mismatch is not None or o.skipped is not None] == []


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_killed(name: str) -> None:
    """A client without one safeguard fails at least one vector, of the sample where it can."""
    sample = any(o.mismatch is not None for o in run_file(SAMPLE, mutant=name))
    ours = any(o.mismatch is not None for o in run_file(OURS, mutant=name))
    assert (ours or sample) is (name not in SHOWN_BY_SCENARIOS)
    assert sample is (name not in NOT_KILLED_BY_SAMPLE | SHOWN_BY_SCENARIOS)
    assert MUTANTS[name].says.endswith(".")


def test_unknown_mutant_is_the_users_mistake() -> None:
    """A misspelt mutant is refused with the names that exist."""
    with pytest.raises(UserError, match="threshold_above"):
        list(run_file(SAMPLE, mutant="no_such_mutant"))
