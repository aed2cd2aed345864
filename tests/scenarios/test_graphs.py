"""Graphs of names."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ckptsim.scenarios.graphs import cycle, repeated


def test_repeated_names_are_found_with_their_index() -> None:
    """Each occurrence after the first is found."""
    assert repeated(["a", "b", "a", "c", "a"]) == [(2, "a"), (4, "a")]


def test_a_cycle_is_told_in_its_direction() -> None:
    """A cycle is listed from before to after, ending where it began. Loops are cycles."""
    assert cycle({"a": ["c"], "b": ["a"], "c": ["b"]}) == ["b", "c", "a", "b"]
    assert cycle({"a": ["a"]}) == ["a", "a"]
    assert cycle({"a": [], "b": ["a", "x"], "c": ["a", "b"]}) == []


def test_a_long_path_is_no_cycle() -> None:
    """Depth is no obstacle: a path of many names is walked without recursion."""
    before = {str(i): [str(i + 1)] for i in range(20_000)}
    assert cycle(before) == []
    assert len(cycle(before | {"20000": ["0"]})) == 20_002


@given(edges=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14))
def test_a_cycle_is_found_exactly_when_names_cannot_be_ordered(
    edges: list[tuple[int, int]],
) -> None:
    """A cycle is found if and only if taking names without predecessors gets stuck."""
    before: dict[str, list[str]] = {str(i): [] for i in range(7)}
    for first, second in edges:
        before[str(second)].append(str(first))
    left = {name: set(earlier) for name, earlier in before.items()}
    while ready := [name for name, earlier in left.items() if not earlier]:
        for name in ready:
            del left[name]
        left = {name: earlier - set(ready) for name, earlier in left.items()}
    found = cycle(before)
    assert bool(found) == bool(left)
    for earlier, later in pairwise(found):
        assert earlier in before[later]
