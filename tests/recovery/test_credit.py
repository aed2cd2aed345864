"""Credit below zero: what a receiver begins with comes out of its sender's pool."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.recovery.persistence import LentCredit


def test_a_channel_that_begins_empty_has_all_its_room() -> None:
    """Nothing is lent, so room is that of the pool, and credit what the receiver holds."""
    channel = LentCredit(sender=4, receiver=2)
    assert (channel.credit, channel.lent, channel.may_send) == (2, 0, True)
    assert channel.has_room(3)
    assert not channel.has_room(4)


def test_a_receiver_that_begins_with_more_than_its_due_owes_the_rest() -> None:
    """The sender has no credit, and so much less room, until that much was processed."""
    channel = LentCredit(sender=4, receiver=2)
    channel.recover(5)
    assert (channel.credit, channel.lent, channel.may_send) == (-3, 5, False)
    assert channel.has_room(0)
    assert not channel.has_room(1)
    for _ in range(3):
        channel.give_back()
    assert channel.has_room(3)
    assert not channel.may_send
    channel.give_back()
    assert channel.may_send


def test_a_sender_may_be_left_without_any_room() -> None:
    """What was recovered can be more than both pools."""
    channel = LentCredit(sender=2, receiver=2)
    channel.recover(9)
    assert not channel.has_room(0)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 14), st.lists(st.integers(0, 2)))
def test_both_ends_hold_no_more_than_their_pools_or_what_was_recovered(
    sender: int, receiver: int, recovered: int, moves: list[int]
) -> None:
    """Whatever is put, sent and processed in whichever order."""
    channel = LentCredit(sender=sender, receiver=receiver)
    channel.recover(recovered)
    queued, there = 0, recovered
    for move in moves:
        if move == 0 and channel.has_room(queued):
            queued += 1
        elif move == 1 and queued and channel.may_send:
            channel.send()
            queued, there = queued - 1, there + 1
        elif move == 2 and there:
            channel.give_back()
            there -= 1
        assert queued + there <= max(sender + receiver, recovered)
