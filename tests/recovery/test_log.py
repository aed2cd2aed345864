"""The log of continuous spilling: what is kept, what a checkpoint holds, what is replayed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery.persistence import (
    ChannelLog,
    LogSlice,
    ReplayRule,
    first_needed,
    replayed,
)

RULES = (ReplayRule.FILE_INDEX, ReplayRule.TOLD_AT_SNAPSHOT, ReplayRule.TOLD_AT_RECOVERY)


def logged(*sizes: int) -> ChannelLog[str]:
    """Return a log of buffers a, b, c and so on with these sizes."""
    log: ChannelLog[str] = ChannelLog()
    for place, size in enumerate(sizes):
        log.append(chr(ord("a") + place), size)
    return log


def names(rule: ReplayRule, kept: LogSlice[str], read: int | None, size: int = 32) -> str:
    """Return what is replayed, as a word."""
    return "".join(one.data for one in replayed(rule, kept, read=read, buffer_size=size))


def test_a_log_numbers_its_buffers_and_adds_up_their_bytes() -> None:
    """Numbers begin at 1, and stay when the log is cut in front."""
    log = logged(32, 8, 32)
    assert (log.count, log.size, len(log)) == (3, 72, 3)
    assert log.truncate(3) == 2
    assert [(one.number, one.data, one.ends_at) for one in log.up_to(3).buffers] == [(3, "c", 72)]
    assert log.append("d", 1) == 4


def test_a_checkpoint_holds_what_is_in_front_of_its_barrier() -> None:
    """What is logged behind the barrier belongs to the next checkpoint."""
    assert "".join(one.data for one in logged(1, 1, 1).up_to(2).buffers) == "ab"


@pytest.mark.parametrize("rule", RULES)
def test_what_the_receiver_has_read_is_not_replayed(rule: ReplayRule) -> None:
    """Each rule that knows the count replays the rest, whatever the sizes of buffers."""
    assert names(rule, logged(32, 4, 7, 32).up_to(4, read=2), 2) == "cd"


def test_without_an_offset_all_that_is_kept_is_replayed() -> None:
    """What the receiver has processed comes a second time."""
    assert names(ReplayRule.LOG_START, logged(32, 32, 32).up_to(3), 2) == "abc"


def test_an_offset_from_sizes_is_right_for_full_buffers_alone() -> None:
    """With buffers that are not full it lies too far behind: buffers are lost."""
    assert names(ReplayRule.BUFFER_SIZES, logged(32, 32, 32, 32).up_to(4), 2) == "cd"
    assert names(ReplayRule.BUFFER_SIZES, logged(32, 4, 4, 32, 32).up_to(5), 2) == "de"
    assert names(ReplayRule.BUFFER_SIZES, logged(4, 4, 4, 4).up_to(4), 2) == ""


def test_a_place_that_nobody_tells_is_the_start() -> None:
    """Of a channel that is no more nobody knows how far it was read."""
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
    """A buffer has bytes, and a barrier stands no farther than the log has come."""
    with pytest.raises(ProtocolError, match="empty_buffer"):
        logged(0)
    with pytest.raises(ProtocolError, match="ahead_of_log"):
        logged(1).up_to(2)
