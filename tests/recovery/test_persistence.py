"""Ways to persist data in flight: the kept data, what a checkpoint holds, all that is replayed.

The log of continuous spilling, ordered edges, exchanges that may be rescaled, credit below zero,
indices over a restart, a log service, and reads of files.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery import DISTRIBUTIONS, Exchange, Mapper, Partitioner, mapping_of
from ckptsim.models.recovery.persistence import (
    ChannelLog,
    Files,
    LentCredit,
    LogPosition,
    LogService,
    LogSlice,
    OrderedEdges,
    ReplayRule,
    RescalingScope,
    SubtaskIndices,
    Succession,
    distribution_of,
    first_needed,
    may_rescale,
    replayed,
    succession,
)
from ckptsim.models.recovery.persistence.ordered import FORCIBLE
from ckptsim.models.recovery.persistence.reads import Handle

RULES = (ReplayRule.FILE_INDEX, ReplayRule.TOLD_AT_SNAPSHOT, ReplayRule.TOLD_AT_RECOVERY)


def logged(*sizes: int) -> ChannelLog[str]:
    """Return a log of buffers a, b, c and so on with these sizes."""
    log: ChannelLog[str] = ChannelLog()
    for place, size in enumerate(sizes):
        log.append(chr(ord("a") + place), size)
    return log


def names(rule: ReplayRule, kept: LogSlice[str], read: int | None, size: int = 32) -> str:
    """Return everything that is replayed, as a word."""
    return "".join(one.data for one in replayed(rule, kept, read=read, buffer_size=size))


def test_a_log_numbers_its_buffers_and_adds_up_their_bytes() -> None:
    """Numbers begin at 1, and stay when the log is cut in front."""
    log = logged(32, 8, 32)
    assert (log.count, log.size, len(log)) == (3, 72, 3)
    assert log.truncate(3) == 2
    assert [(one.number, one.data, one.ends_at) for one in log.up_to(3).buffers] == [(3, "c", 72)]
    assert log.append("d", 1) == 4


def test_a_checkpoint_holds_what_is_in_front_of_its_barrier() -> None:
    """Everything that is logged after the barrier belongs to the next checkpoint."""
    assert "".join(one.data for one in logged(1, 1, 1).up_to(2).buffers) == "ab"


@pytest.mark.parametrize("rule", RULES)
def test_what_the_receiver_has_read_is_not_replayed(rule: ReplayRule) -> None:
    """Each rule that knows the count replays the rest, whatever the sizes of buffers."""
    assert names(rule, logged(32, 4, 7, 32).up_to(4, read=2), 2) == "cd"


def test_without_an_offset_all_that_is_kept_is_replayed() -> None:
    """What the receiver has processed comes a second time."""
    assert names(ReplayRule.LOG_START, logged(32, 32, 32).up_to(3), 2) == "abc"


def test_an_offset_from_sizes_is_right_for_full_buffers_alone() -> None:
    """With buffers that are not full it lies too far after: buffers are lost."""
    assert names(ReplayRule.BUFFER_SIZES, logged(32, 32, 32, 32).up_to(4), 2) == "cd"
    assert names(ReplayRule.BUFFER_SIZES, logged(32, 4, 4, 32, 32).up_to(5), 2) == "de"
    assert names(ReplayRule.BUFFER_SIZES, logged(4, 4, 4, 4).up_to(4), 2) == ""


def test_a_place_that_nobody_tells_is_the_start() -> None:
    """Of a channel that is no more no one knows how far it was read."""
    assert names(ReplayRule.TOLD_AT_RECOVERY, logged(32, 32).up_to(2), None) == "ab"


@given(st.lists(st.integers(0, 5), max_size=8), st.integers(1, 4), st.data())
def test_the_cut_of_a_log_never_takes_what_a_checkpoint_needs(
    bursts: list[int], credit: int, data: st.DataObject
) -> None:
    """A receiver that lags by its credit at most finds all that it has not read."""
    log: ChannelLog[int] = ChannelLog()
    sent_before = read = 0
    for burst in bursts:
        for _ in range(burst):
            log.append(log.count, 1)
        sent = data.draw(st.integers(max(sent_before, log.count - 3), log.count))
        read = data.draw(st.integers(max(read, min(sent_before - credit, sent)), sent))
        log.truncate(first_needed(sent_before=sent_before, credit=credit, read=None))
        kept = log.up_to(log.count)
        found = replayed(ReplayRule.FILE_INDEX, kept, read=read, buffer_size=1)
        assert [one.number for one in found] == list(range(read + 1, log.count + 1))
        sent_before = sent


def test_a_told_offset_cuts_the_log_exactly() -> None:
    """The sender knows what the receiver has read, so it keeps nothing else."""
    assert first_needed(sent_before=9, credit=4, read=7) == 8
    assert first_needed(sent_before=9, credit=4, read=None) == 6
    assert first_needed(sent_before=2, credit=4, read=None) == 1


def test_what_no_log_can_hold_is_refused() -> None:
    """A buffer has bytes, and a barrier is no farther than the log has come."""
    with pytest.raises(ProtocolError, match="empty_buffer"):
        logged(0)
    with pytest.raises(ProtocolError, match="ahead_of_log"):
        logged(1).up_to(2)


@pytest.mark.parametrize("partitioner", Partitioner)
@pytest.mark.parametrize("rule", OrderedEdges)
def test_other_edges_are_what_they_were(partitioner: Partitioner, rule: OrderedEdges) -> None:
    """Only pointwise and broadcast edges mean something else, and not while they are aligned."""
    found = distribution_of(partitioner, rule, has_units=True, moves=True)
    same = rule is OrderedEdges.ALIGNED or partitioner not in FORCIBLE
    assert (found == DISTRIBUTIONS[partitioner]) is same


def test_forced_edges_are_dealt_out() -> None:
    """Each old subtask goes to one new one, as on a rebalanced edge, whatever it had."""
    for partitioner in FORCIBLE:
        found = distribution_of(partitioner, OrderedEdges.FORCED, has_units=True, moves=True)
        assert found == DISTRIBUTIONS[Partitioner.REBALANCE]


def test_units_go_with_their_owner() -> None:
    """All new subtasks read all old channels of a forwarded edge that has units, and filter."""
    rule = OrderedEdges.REASSIGNED
    found = distribution_of(Partitioner.FORWARD, rule, has_units=True, moves=True)
    assert (found.upstream, found.downstream) == (Mapper.FULL, Mapper.FULL)
    for units, moves in ((False, True), (True, False)):  # whole subtasks, or nothing to be done
        other = distribution_of(Partitioner.FORWARD, rule, has_units=units, moves=moves)
        assert other == DISTRIBUTIONS[Partitioner.REBALANCE]


def test_copies_go_with_the_state_that_they_are_for() -> None:
    """A new subtask takes one old one's copies: the source of broadcast state."""
    found = distribution_of(
        Partitioner.BROADCAST, OrderedEdges.REASSIGNED, has_units=False, moves=True
    )
    assert found.downstream is not None
    assert mapping_of(found.downstream, old=2, new=5) == ((0,), (1,), (0,), (1,), (0,))
    assert mapping_of(found.downstream, old=3, new=2) == ((0,), (1,))


def exchange(partitioner: Partitioner, new: int, *, in_flight: bool = True) -> Exchange:
    """Return an exchange of two senders and two receivers with receivers that are rescaled."""
    distribution = DISTRIBUTIONS[partitioner]
    return Exchange(distribution=distribution, old=(2, 2), new=(2, new), in_flight=in_flight)


KEYED, OTHER = exchange(Partitioner.KEY_GROUP, 3), exchange(Partitioner.REBALANCE, 3)
STAYS = exchange(Partitioner.REBALANCE, 2)
EMPTY = exchange(Partitioner.REBALANCE, 3, in_flight=False)


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        (RescalingScope.REFUSED, [True, True, False, False]),
        (RescalingScope.KEYED, [True, True, True, False]),
        (RescalingScope.ALLOWED, [True, True, True, True]),
    ],
)
def test_what_may_be_rescaled(scope: RescalingScope, allowed: list[bool]) -> None:
    """Everything that is not touched or holds nothing is free. The rest is as the scope says."""
    cases = [[STAYS], [EMPTY], [KEYED, STAYS, EMPTY], [KEYED, OTHER]]
    assert [may_rescale(scope, case) for case in cases] == allowed


def test_a_channel_that_begins_empty_has_all_its_room() -> None:
    """Nothing is lent, so room is the one of the pool, and credit what the receiver holds."""
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
    """Everything that was recovered can be more than both pools."""
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
    """What an older one points to is gone, anyone who retains it."""
    service = LogService()
    positions = [LogPosition(service, checkpoint) for checkpoint in (1, 2, 3)]
    assert all(position.is_kept for position in positions)
    service.completed(2)
    service.completed(1)  # a notification that comes late
    assert [position.is_kept for position in positions] == [False, True, True]


# Two senders and two receivers, all to all: a file per vertex, with outputs (sender, receiver) and
# inputs (receiver, sender).
SENDERS = [("output", 0, 0), ("output", 0, 1), ("output", 1, 0), ("output", 1, 1)]
RECEIVERS = [("input", 0, 0), ("input", 0, 1), ("input", 1, 0), ("input", 1, 1)]
FILES = Files([SENDERS, RECEIVERS])


def test_a_reader_that_goes_back_and_forth_asks_each_time() -> None:
    """Chunks after each other are one piece, and the same chunks in another order are more."""
    files = Files([["a", "b"], ["c"]])
    assert files.begins("abc") == [True, False, True]
    assert files.begins("acb") == [True, True, True]


def test_a_handle_names_the_file_and_the_place() -> None:
    """Everything that was not written has no handle."""
    assert FILES.handle(("output", 1, 0)) == Handle(0, 2)
    assert FILES.handle(("input", 0, 1)) == Handle(1, 1)
    assert FILES.handle(("input", 2, 0)) is None


def test_each_end_reads_its_own_in_one_piece() -> None:
    """Where both ends of a channel are handled by their tasks, each opens one file once."""
    assert FILES.reads(SENDERS[:2]) == FILES.reads(SENDERS[2:]) == (1, 1)
    assert FILES.reads(RECEIVERS[2:]) == (1, 1)


def test_a_receiver_of_both_ends_reads_a_small_piece_of_every_sender() -> None:
    """What its senders had for it lies apart, between what they had for others."""
    assert FILES.reads([*RECEIVERS[:2], ("output", 0, 0), ("output", 1, 0)]) == (2, 3)


@pytest.mark.parametrize("parallelism", [2, 4, 8])
def test_small_reads_grow_with_the_product_of_the_parallelisms(parallelism: int) -> None:
    """All senders share a file: n receivers of both ends make n pieces each, senders one each."""
    every = range(parallelism)
    files = Files([[(sender, receiver) for sender in every for receiver in every]])
    own = [files.reads([(sender, other) for other in every]) for sender in every]
    theirs = [files.reads([(sender, receiver) for sender in every]) for receiver in every]
    assert own == [(1, 1)] * parallelism
    assert theirs == [(1, parallelism)] * parallelism


def test_one_file_has_many_readers() -> None:
    """Several new subtasks can take over the same chunk, and each reads it."""
    chunk = ("input", 0, 0)
    assert [FILES.reads([chunk]) for _ in range(3)] == [(1, 1)] * 3
    assert FILES.reads([chunk, chunk]) == (1, 1)  # by one reader it is read once


def test_a_chunk_is_written_once() -> None:
    """Two places for one chunk are refused."""
    with pytest.raises(ProtocolError, match="written_twice"):
        Files([["a", "b"], ["a"]])
