"""Which subtask gets which list state and which broadcast state after a restore."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.coordinator.plan import FinishedState, Vertex, finalize
from ckptsim.models.recovery import broadcast, split


@pytest.mark.parametrize(
    ("elements", "parallelism", "expected"),
    [
        ([["a"], ["b"]], 2, [("a",), ("b",)]),
        ([["a"], []], 2, [("a",), ()]),  # the second had finished: it keeps nothing
        ([["a"], ["b"], ["c"]], 2, [("a", "b"), ("c",)]),
        ([["a"], ["b"]], 3, [("a",), ("b",), ()]),
        ([["a"], [], ["b"], ["c"], ["d"]], 3, [("a", "b"), ("c",), ("d",)]),
        ([[]], 2, [(), ()]),
    ],
)
def test_list_state_is_dealt_out_in_even_blocks(
    elements: list[list[str]], parallelism: int, expected: list[tuple[str, ...]]
) -> None:
    """With as many subtasks as before each keeps its own."""
    assert split(elements, parallelism) == expected


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 9))
def test_every_element_falls_to_one_subtask(sizes: list[int], parallelism: int) -> None:
    """In the old order. Shares differ by one at most where the parallelism has changed."""
    numbers = iter(range(100))
    old = [[next(numbers) for _ in range(size)] for size in sizes]
    found = split(old, parallelism)
    assert len(found) == parallelism
    assert [e for own in found for e in own] == [e for own in old for e in own]
    if parallelism != len(old):
        shares = [len(own) for own in found]
        assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(
    ("states", "parallelism", "expected"),
    [
        (["a", "b"], 2, [("a",), ("b",)]),  # all are there: no one reads another's
        ([None, "b"], 2, [("b",), ("b", "b")]),
        ([None, "b", "c"], 3, [("b",), ("b", "c"), ("c", "b")]),
        (["a", None, None], 3, [("a", "a"), ("a",), ("a",)]),
        ([None, None], 2, [(), ()]),  # they kept none, or it was never written
        (["a", "b"], 3, [("a",), ("b",), ("a",)]),
        (["a", "b", "c"], 2, [("a",), ("b",)]),
        ([None, "b", "c"], 2, [("b",), ("c",)]),
    ],
)
def test_broadcast_state_comes_from_those_that_hold_it(
    states: list[str | None], parallelism: int, expected: list[tuple[str, ...]]
) -> None:
    """In turn, on top of a subtask's own, where as many subtasks as before miss some."""
    assert broadcast(states, parallelism) == expected


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 9))
def test_nobody_goes_without_broadcast_state(held: list[bool], parallelism: int) -> None:
    """If one subtask holds it every new one reads it, and its own first where it has one."""
    states = [index if there else None for index, there in enumerate(held)]
    found = broadcast(states, parallelism)
    assert all(found) == any(held)
    if parallelism == len(held):
        own = [(index, read) for index, read in enumerate(found) if held[index]]
        assert all(read[0] == index for index, read in own)


@pytest.mark.parametrize("finished", [frozenset(), frozenset({0}), frozenset({0, 1})])
def test_state_that_is_no_union_gives_no_checkpoint_up(finished: frozenset[int]) -> None:
    """However much of the vertex has finished. With union state the part that has is refused."""
    vertex = Vertex(name="v", parallelism=2, finished=finished)
    states = (FinishedState.RUNNING, FinishedState.PARTIAL, FinishedState.FULL)
    assert finalize([vertex]) == {"v": states[len(finished)]}
