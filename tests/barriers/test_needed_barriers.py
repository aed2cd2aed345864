"""The world's own account of what a task's checkpoints wait for."""

from __future__ import annotations

import pytest

from ckptsim.sim.job.oracle.waits import NeededBarriers


def needed(channels: int = 2, *, one_at_a_time: bool = True) -> NeededBarriers:
    """Return the account of a task that has just heard of checkpoint 1."""
    found = NeededBarriers(channels, one_at_a_time=one_at_a_time)
    found.opened(1)
    return found


def test_all_that_were_open_have_to_come() -> None:
    """A task that counts too early is reported which channels lack, one that is right nothing."""
    early, right = needed(3), needed(3)
    early.came(1, 1)
    assert early.complete(1) == "counts all barriers of 1, without channels 0, 2"
    for channel in range(3):
        assert right.kept_waiting() is None
        right.came(channel, 1)
    assert right.complete(1) is None
    assert right.kept_waiting() is None


def test_what_waits_though_all_have_come_is_named_once() -> None:
    """The last channel to come is the last moment at which a task may still wait."""
    found = needed()
    found.came(0, 1)
    found.ended(1)
    assert found.kept_waiting() == (1, "waits for 1, of which all channels have come")
    assert found.kept_waiting() is None


def test_a_channel_that_has_ended_is_needed_no_more() -> None:
    """It counts for open work, and is not asked for by what opens later."""
    found = needed()
    found.ended(0)
    found.opened(2)
    assert found.complete(2) == "counts all barriers of 2, without channel 1"


@pytest.mark.parametrize(("one_at_a_time", "waits"), [(True, None), (False, 1)])
def test_a_newer_checkpoint_ends_older_ones_unless_they_are_only_counted(
    one_at_a_time: bool, waits: int | None
) -> None:
    """A tracker has several in mind. Everything that is subsumed is not waited for."""
    found = needed(one_at_a_time=one_at_a_time)
    found.came(0, 1)
    found.opened(2)
    found.came(1, 1)
    kept = found.kept_waiting()
    assert (kept and kept[0]) == waits


def test_nothing_is_expected_of_what_is_over() -> None:
    """Aborted, complete, failed or older than a newer one: no channel is missed."""
    for end in (lambda f: f.over(1), lambda f: f.over(3), lambda f: f.failed()):
        found = needed()
        end(found)
        found.came(0, 1)
        found.came(1, 1)
        assert found.kept_waiting() is None
        assert found.complete(1) is None


def test_only_the_newest_fifty_are_kept() -> None:
    """A tracker drops the oldest without a word, so they are not asked about either."""
    found = NeededBarriers(1, one_at_a_time=False)
    for number in range(1, 52):
        found.opened(number)
    assert found.complete(1) is None
    assert found.complete(2) is not None
