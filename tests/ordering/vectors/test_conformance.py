"""The ordering core against the conformance vectors, and the mutants that they tell from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptsim.sim.conform.runner import VectorOutcome, run_file
from ckptsim.sim.mutants.ordering import MUTANTS

VECTORS = Path(__file__).parents[2] / "data/vectors/ordering.jsonl"

RECORDED = VECTORS.parents[1] / "recorded" / "ordering.jsonl"

# The mutants that the published vectors must tell from a right core.
TOLD_BY_VECTORS = (
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


def outcomes(mutant: str | None = None) -> list[VectorOutcome]:
    return list(run_file(VECTORS, mutant=mutant))


def failed(mutant: str | None = None) -> list[str]:
    return [outcome.name for outcome in outcomes(mutant) if outcome.mismatch is not None]


def test_every_vector_of_the_specification_passes() -> None:
    """All vectors of profile `spec` pass, but those of the other design, which are skipped."""
    vectors = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    wanted = {v["name"] for v in vectors if v["profile"] == "spec" and v["engine"] != "ss"}
    passed = {o.name for o in outcomes() if o.mismatch is None and o.skipped is None}
    assert failed() == []
    assert passed == wanted


def test_every_script_of_a_second_reading_passes() -> None:
    """Random scripts end as a model says that was written apart, from the rules alone."""
    found = list(run_file(RECORDED))
    assert len(found) == 60
    assert [o for o in found if o.mismatch is not None or o.skipped is not None] == []


@pytest.mark.parametrize("mutant", TOLD_BY_VECTORS)
def test_a_mutant_fails_a_vector(mutant: str) -> None:
    """Each mutant is told from the right core by at least one vector of profile `spec`."""
    assert failed(mutant)


@pytest.mark.parametrize("mutant", ["upstream", "pr60886", "dataflow", "unscoped"])
def test_a_defective_design_reproduces_its_vectors(mutant: str) -> None:
    """A public design's mutant reproduces every vector that describes its defects."""
    ran = [outcome for outcome in outcomes(mutant) if outcome.skipped is None]
    assert ran
    assert failed(mutant) == []


def test_every_mutant_says_in_one_sentence_what_is_wrong() -> None:
    """The registry tells each mutant's fault in one sentence."""
    for name, mutant in MUTANTS.items():
        assert mutant.says.endswith("."), name
        assert mutant.says.count(". ") == 0, name
