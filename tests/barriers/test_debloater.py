"""The buffer debloater, and the defaults that the cores share with Flink."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.barriers.channel_state import MAX_SUBTASKS_PER_FILE
from ckptsim.models.coordinator import BufferDebloater, CoordinatorParameters, DebloatParameters


def test_defaults_are_those_of_flink() -> None:
    """What a job gets that sets nothing."""
    assert DebloatParameters() == DebloatParameters(
        target_ms=1000, max_bytes=32_768, min_bytes=256, threshold_percent=25, samples=20
    )
    assert CoordinatorParameters() == CoordinatorParameters(
        interval_ns=None,
        timeout_ns=600 * 10**9,
        min_pause_ns=0,
        max_concurrent=1,
        tolerable_failures=0,
        retained=1,
        exactly_once=True,
        unaligned=False,
        alignment_timeout_ns=0,
    )
    assert MAX_SUBTASKS_PER_FILE == 5


def test_a_slow_task_shrinks_its_buffers_step_by_step() -> None:
    """Small steps are not announced. Then the size is, and the time to consume falls with it."""
    debloater = BufferDebloater(DebloatParameters(target_ms=1000, samples=1))
    assert debloater.update(10_000, 10) == 1000
    assert debloater.announced_bytes == 1000
    assert debloater.consume_ms == 1000
    assert debloater.update(11_000, 10) is None
    assert debloater.smoothed_bytes == 1100
    assert debloater.announced_bytes == 1000


def test_growth_is_bounded_by_doubling() -> None:
    """From the smallest size upwards every update at most doubles it, and bounds are announced."""
    debloater = BufferDebloater(DebloatParameters(samples=1))
    assert debloater.update(0, 0) == 256
    assert debloater.update(10**9, 1) == 512
    assert debloater.update(10**9, 1) == 1024


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 100)), max_size=40),
    st.integers(1, 50),
)
def test_sizes_stay_within_bounds(measured: list[tuple[int, int]], samples: int) -> None:
    """Whatever is measured, all that is announced lies between the bounds and is remembered."""
    debloater = BufferDebloater(DebloatParameters(samples=samples))
    for throughput, in_use in measured:
        announced = debloater.update(throughput, in_use)
        assert 256 <= debloater.smoothed_bytes <= 32_768
        assert announced is None or announced == debloater.announced_bytes
        assert debloater.consume_ms >= 0


def test_smoothing_needs_a_value() -> None:
    """A size is smoothed over at least one value. Fewer would divide by zero."""
    with pytest.raises(ValueError, match="samples: found -1, expected at least 1"):
        DebloatParameters(samples=-1)
