"""The valve of watermarks and statuses alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.lifecycle import FINAL_WATERMARK, NO_WATERMARK, WatermarkValve

Step = tuple[int, int | bool]
STEPS = st.lists(st.tuples(st.integers(0, 2), st.one_of(st.integers(0, 20), st.booleans())))


def valve(*steps: Step) -> WatermarkValve:
    """Return a valve of three channels after some steps: a status is a bool."""
    made = WatermarkValve(3)
    for step in steps:
        take(made, step)
    return made


def take(one: WatermarkValve, step: Step) -> None:
    """Let a valve take a step."""
    channel, said = step
    if isinstance(said, bool):
        one.take_status(channel, idle=said)
    else:
        one.take_watermark(channel, said)


def test_it_waits_for_every_channel() -> None:
    """There is no watermark before each channel has one, then it is the least of them."""
    assert valve((0, 5), (1, 7)).watermark == NO_WATERMARK
    assert valve((0, 5), (1, 7), (2, 6)).watermark == 5


def test_an_idle_channel_holds_nothing_back() -> None:
    """The others go on without it, and anyone who asks knows that they have."""
    found = valve((0, 5), (1, 7), (2, True))
    assert (found.watermark, found.idle, found.has_passed_idle) == (5, False, True)


def test_a_channel_that_comes_back_counts_once_it_has_caught_up() -> None:
    """What it says after the watermark moves nothing. From there on it is waited for."""
    behind = [(0, 5), (1, 7), (2, True), (2, False), (2, 3)]
    assert valve(*behind).watermark == 5
    assert valve(*behind, (0, 9)).watermark == 7
    assert valve(*behind, (2, 6), (0, 9)).watermark == 6


def test_the_last_one_to_go_idle_lets_event_time_reach_the_largest() -> None:
    """So it does if it had held the others back. A watermark of an idle channel says nothing."""
    found = valve((0, 5), (1, 9), (2, True), (1, True), (0, True))
    assert (found.watermark, found.idle) == (9, True)
    found.take_watermark(1, 20)
    assert found.watermark == 9


def test_a_final_watermark_is_waited_for_no_more() -> None:
    """A channel that has ended leaves the least to the others."""
    assert valve((0, FINAL_WATERMARK), (1, 7), (2, 6)).watermark == 6


@given(STEPS)
def test_it_never_goes_back_and_never_past_who_never_was_idle(steps: list[Step]) -> None:
    """The watermark rises, at most to the largest, and to the latest of who is never idle."""
    made, latest, paused = WatermarkValve(3), [NO_WATERMARK] * 3, {0: False, 1: False, 2: False}
    for step in steps:
        before, (channel, said) = made.watermark, step
        take(made, step)
        if isinstance(said, bool):
            paused[channel] = paused[channel] or said
        else:
            latest[channel] = max(latest[channel], said)
        assert before <= made.watermark <= max(latest)
        assert all(paused[one] or made.watermark <= latest[one] for one in range(3))
