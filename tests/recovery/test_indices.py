"""Indices of subtasks over a restart, and a log service of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery.persistence import (
    LogPosition,
    LogService,
    SubtaskIndices,
    Succession,
    succession,
)


def test_kept_indices_go_on_as_they_were() -> None:
    """Each subtask follows itself, whatever order there might have been."""
    assert succession(SubtaskIndices.KEPT, (0, 1, 2), (2, 0, 1)) == Succession((0, 1, 2), (0, 1, 2))


def test_permuted_indices_take_the_state_and_not_the_keys() -> None:
    """A subtask has the state of another one, and owns the keys of its index."""
    found = succession(SubtaskIndices.PERMUTED, (0, 1, 2), (2, 0, 1))
    assert found.takes == (2, 0, 1)
    assert [found.index_of(identity) for identity in range(3)] == [0, 1, 2]


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_carried_identities_find_their_state_again(first: list[int], second: list[int]) -> None:
    """After any number of restarts the subtask with an identity has the state of that identity."""
    one = succession(SubtaskIndices.CARRIED, range(4), first)
    two = succession(SubtaskIndices.CARRIED, one.identities, second)
    for identity in range(4):
        old = two.takes[two.index_of(identity)]
        assert one.takes[old] == identity


def test_an_order_that_leaves_somebody_out_is_refused() -> None:
    """Two subtasks cannot follow the same one."""
    with pytest.raises(ProtocolError, match="no_permutation"):
        succession(SubtaskIndices.PERMUTED, (0, 1), (1, 1))


def test_a_log_service_keeps_what_the_newest_complete_checkpoint_needs() -> None:
    """What an older one points to is gone, whoever retains it."""
    service = LogService()
    positions = [LogPosition(service, checkpoint) for checkpoint in (1, 2, 3)]
    assert all(position.is_kept for position in positions)
    service.completed(2)
    service.completed(1)  # a notification that comes late
    assert [position.is_kept for position in positions] == [False, True, True]
