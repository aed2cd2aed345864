"""The ordering core against the conformance vectors, and the twins that they must tell from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptsim.sim.conform.runner import VectorOutcome, run_file
from ckptsim.sim.twins.ordering import TWINS

VECTORS = Path(__file__).parents[1] / "data/vectors/ordering.jsonl"

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


def outcomes(twin: str | None = None) -> list[VectorOutcome]:
    return list(run_file(VECTORS, twin=twin))


def failed(twin: str | None = None) -> list[str]:
    return [outcome.name for outcome in outcomes(twin) if outcome.mismatch is not None]


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


@pytest.mark.parametrize("twin", TOLD_BY_VECTORS)
def test_a_mutant_fails_a_vector(twin: str) -> None:
    """Each mutant is told from the right core by at least one vector of profile `spec`."""
    assert failed(twin)


@pytest.mark.parametrize("twin", ["upstream", "pr60886", "dataflow", "unscoped"])
def test_a_defective_design_reproduces_its_vectors(twin: str) -> None:
    """A public design's twin reproduces every vector that describes its defects."""
    ran = [outcome for outcome in outcomes(twin) if outcome.skipped is None]
    assert ran
    assert failed(twin) == []


def test_every_twin_says_in_one_sentence_what_is_wrong() -> None:
    """The registry tells each twin's fault in one sentence."""
    for name, twin in TWINS.items():
        assert twin.says.endswith("."), name
        assert twin.says.count(". ") == 0, name
