"""Interval arithmetic against sets of single positions."""

from hypothesis import given
from hypothesis import strategies as st

from ckptsim.sim.sync.intervals import IntervalSet, shown, size

PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12)


def _plain(pairs: list[tuple[int, int]]) -> set[int]:
    return {position for low, high in pairs for position in range(low, high)}


@given(PAIRS, st.integers(0, 40), st.integers(0, 40))
def test_interval_set_agrees_with_a_set_of_positions(
    pairs: list[tuple[int, int]], low: int, high: int
) -> None:
    """Membership, gaps and counts are those of a plain set, in whatever order intervals came."""
    plain = _plain(pairs)
    kept = IntervalSet(pairs)
    assert _plain(list(kept.intervals())) == plain
    assert kept.count() == size(kept.intervals()) == len(plain)
    assert kept.covers(low, high) == set(range(low, high)).issubset(plain)
    assert _plain(list(kept.missing(low, high))) == set(range(low, high)) - plain


@given(PAIRS)
def test_intervals_are_disjoint_and_not_adjacent(pairs: list[tuple[int, int]]) -> None:
    """The normal form is unique: ascending, with a gap between any two intervals."""
    flat = [bound for pair in IntervalSet(pairs).intervals() for bound in pair]
    assert flat == sorted(set(flat))


def test_positions_are_shown_with_both_ends_included() -> None:
    """A person reads the positions that are meant, not half-open bounds."""
    assert shown(((0, 50), (100, 101))) == "0-49, 100-100"
    assert shown(()) == "none"
