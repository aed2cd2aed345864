"""Every vector passes on the right cores, and each mutant that a vector can tell fails one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.runner import VectorOutcome, run_file
from tests.mutants import lifecycle, store

TESTS = Path(__file__).parents[1]
OURS = "store/vectors"  # written from the rules of the suite `checkpoint_store`

# File -> how many vectors it has.  The ones of `vectors` are what real classes did or a
# specification says. The ones of `recorded` are random scripts, also impossible ones, which ended
# so on the real classes, or in a model written apart from the rules alone.
COUNTS = {
    "data/vectors/barriers": 191,
    "data/vectors/channel_state": 57,
    "data/vectors/checkpoint_plan": 14,
    "data/vectors/checkpoint_store": 25,
    "data/vectors/coordinator": 37,
    "data/vectors/final_checkpoint": 48,
    "data/vectors/ordering": 80,
    "data/vectors/rescale": 290,
    "data/recorded/barriers": 140,
    "data/recorded/channel_state": 56,
    "data/recorded/checkpoint_plan": 54,
    "data/recorded/checkpoint_store": 40,
    "data/recorded/coordinator": 89,
    "data/recorded/final_checkpoint": 60,
    "data/recorded/ordering": 60,
    "data/recorded/rescale": 126,
    OURS: 35,
}

# The mutants of ordering that the published vectors must tell from a right core.
ORDERING = (
    "no_ordering",
    "gaps_tolerated",
    "arrival_order",
    "lexicographic_order",
    "no_source_count",
    "at_least",
    "rejects_ignored",
    "levels_added",
    "no_local_check",
    "cursor_before_send",
    "totals_before_send",
    "kinds_mixed",
    "one_counter",
    "early_return",
)
# Mutants of lifecycles with faults that no vector of the sample reaches. Tests of the core, or a
# job, tell each.  Recovery has no words in the vectors.
LIFECYCLES_BY_OTHER_MEANS = (
    "skipped_trigger_sets_minimum",
    "ignores_restored_id",
    "recovers_nothing",
    "recovers_what_was_open",
)
# The sample has no vector for these mutants of stores. Ours have.
STORES_BY_OURS = (
    "aliases_blobs",
    "checkpoint_first",
    "checkpoints_errored_replica",
    "colocated_not_atomic",
    "counter_reset_by_failure",
    "deletes_all_partitions",
    "drops_all_versions",
    "flushes_no_deletes",
    "forgets_one_slot",
    "keeps_dropped_rows",
    "mirrors_deleted",
    "keeps_no_dictionary",
    "never_wipes",
    "one_error_stops_all",
    "redirect_leaks_deletes",
    "reuses_replica",
    "skips_tamper_check",
    "view_not_in_key",
)
# What these lack shows only in crashes at places, and in failures, that vectors cannot name.
STORES_BY_SCENARIOS = ("wipes_before_clearing", "hangs_on_recovery", "takes_unreadable_for_none")

# File -> mutant -> whether a vector shows it.  `tests/barriers` has the mutants of barriers.
TOLD = {
    "data/vectors/ordering": dict.fromkeys(ORDERING, True),
    "data/vectors/final_checkpoint": {
        name: True
        for name, mutant in lifecycle.MUTANTS.items()
        if mutant.slot == "lifecycle" and name not in LIFECYCLES_BY_OTHER_MEANS
    },
    "data/vectors/checkpoint_store": {
        name: name not in STORES_BY_OURS + STORES_BY_SCENARIOS for name in store.MUTANTS
    },
    OURS: dict.fromkeys(STORES_BY_OURS, True) | dict.fromkeys(STORES_BY_SCENARIOS, False),
}


def outcomes(file: str, mutant: str | None = None) -> list[VectorOutcome]:
    """Run the vectors of a file."""
    return list(run_file(TESTS / f"{file}.jsonl", mutant=mutant))


def vectors(file: str) -> list[dict[str, str]]:
    """Return the vectors of a file as they stand there."""
    lines = (TESTS / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(("file", "count"), COUNTS.items())
def test_every_vector_passes(file: str, count: int) -> None:
    """Each step gives everything that was recorded.

    Only vectors of ordering's other designs are skipped.
    """
    found = outcomes(file)
    assert [(each.name, each.mismatch) for each in found if each.mismatch is not None] == []
    others = [v["name"] for v in vectors(file) if v.get("profile", "spec") != "spec"]
    others += [v["name"] for v in vectors(file) if v.get("engine") == "ss"]
    assert {each.name for each in found if each.skipped is not None} == set(others)
    assert len(found) == count


@pytest.mark.parametrize(
    ("file", "mutant", "told"),
    [(file, name, told) for file, names in TOLD.items() for name, told in names.items()],
)
def test_a_mutant_fails_a_vector(file: str, mutant: str, told: bool) -> None:
    """A core without one safeguard disagrees with a vector, if it is one that a vector reaches."""
    assert any(each.mismatch is not None for each in outcomes(file, mutant)) is told


@pytest.mark.parametrize("mutant", ["upstream", "pr60886", "dataflow", "unscoped"])
def test_a_defective_design_reproduces_its_vectors(mutant: str) -> None:
    """A public design's mutant reproduces every vector that describes its defects."""
    ran = [each for each in outcomes("data/vectors/ordering", mutant) if each.skipped is None]
    assert ran
    assert [each.name for each in ran if each.mismatch is not None] == []


def test_the_reasons_are_those_of_flink() -> None:
    """Every failure reason is recorded once, so that none is missing and none is made up."""
    reasons = [vector.get("reason") for vector in vectors("data/recorded/coordinator")]
    assert sorted(r for r in reasons if r) == sorted(reason.value for reason in FailureReason)


@pytest.mark.parametrize(
    ("file", "mutant", "says"),
    [
        ("checkpoint_store", "no_such_mutant", "threshold_above"),
        ("barriers", "never_time_out", r'gate_local_lookup.*did you mean "never_times_out"'),
    ],
)
def test_an_unknown_mutant_is_the_users_error(file: str, mutant: str, says: str) -> None:
    """The message names those that there are, and the one that may be meant."""
    with pytest.raises(UserError, match=says):
        outcomes(f"data/vectors/{file}", mutant)
