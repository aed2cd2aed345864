"""Each published invariant is a property of jobs, and each property stands for something."""

from ckptsim.scenarios.job.names import ALL_PROPERTIES
from tests.job.properties.invariants import BARRIERS, DOCUMENT, ENDS, OURS, document

ROWS = [*BARRIERS.values(), *ENDS.values()]


def test_no_invariant_is_left_out() -> None:
    """S1 to S23, L1 to L7 of barriers, and 1 to 23 of the ends of tasks."""
    safety = [f"S{number}" for number in range(1, 24)]
    liveness = [f"L{number}" for number in range(1, 8)]
    assert list(BARRIERS) == [*safety, *liveness]
    assert list(ENDS) == [str(number) for number in range(1, 24)]


def test_every_invariant_is_a_property() -> None:
    """Each has at least one, and the names are registered."""
    for row in ROWS:
        assert row.properties
        assert set(row.properties) <= set(ALL_PROPERTIES)


def test_every_property_stands_for_something() -> None:
    """No property is registered that no invariant asks for, unless it is said what it is for."""
    named = {name for row in ROWS for name in row.properties}
    assert sorted(named | set(OURS)) == sorted(ALL_PROPERTIES)
    assert not named & set(OURS)


def test_the_document_is_what_the_table_gives() -> None:
    """docs/invariants.md holds what its own command would write now."""
    assert DOCUMENT.read_text(encoding="utf-8") == document()
