"""Restart strategies: which failures are followed by a restart, and after which delay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery import restart

S = 1_000_000_000


def delays(
    parameters: restart.RestartParameters, *instants: int, jitter: float = 0.5
) -> list[int | None]:
    """Return the delay after each failure, None where the job was aborted."""
    strategy, found = restart.RestartStrategy(parameters), []
    for now_ns in instants:
        (answer,) = strategy.step(restart.FailureNoticed(now_ns, jitter))
        found.append(answer.delay_ns if isinstance(answer, restart.RestartAfter) else None)
    return found


def test_without_a_strategy_the_first_failure_is_the_last() -> None:
    """`none` gives up at once, and nothing follows."""
    strategy = restart.RestartStrategy(restart.NoRestart())
    assert strategy.step(restart.FailureNoticed(0)) == [restart.GiveUp("no restart strategy")]
    with pytest.raises(ProtocolError, match="gave_up"):
        strategy.step(restart.FailureNoticed(1))


def test_fixed_delay_counts_its_attempts() -> None:
    """The default restarts once. None restarts for ever."""
    assert delays(restart.FixedDelay(), 0, 5 * S) == [S, None]
    assert delays(restart.FixedDelay(attempts=3, delay_ns=7), 1, 2, 3, 4) == [7, 7, 7, None]
    assert delays(restart.FixedDelay(attempts=0), 1) == [None]
    assert delays(restart.FixedDelay(attempts=None), *range(200)) == [S] * 200


def test_failure_rate_looks_back_one_interval() -> None:
    """One failure more than allowed ends the job unless the oldest lies before the interval."""
    rate = restart.FailureRate(max_failures_per_interval=2, interval_ns=10, delay_ns=1)
    assert delays(rate, 0, 5, 10) == [1, 1, None]
    assert delays(rate, 0, 5, 11, 16, 22) == [1, 1, 1, 1, 1]
    assert delays(rate, 0, 5, 11, 15) == [1, 1, 1, None]


def test_exponential_delay_grows_to_its_largest() -> None:
    """Each failure after the planned restart multiplies the delay. Jitter is off in the middle."""
    backoff = restart.ExponentialDelay(
        initial_backoff_ns=100, max_backoff_ns=400, backoff_multiplier=2.0, jitter_factor=0.0
    )
    assert delays(backoff, 0, 1000, 2000, 3000, 4000) == [100, 200, 400, 400, 400]


def test_exponential_delay_forgets_after_the_threshold() -> None:
    """The threshold counts from the planned restart, and a failure at its end finds the reset."""
    backoff = restart.ExponentialDelay(
        initial_backoff_ns=100,
        max_backoff_ns=1000,
        backoff_multiplier=3.0,
        jitter_factor=0.0,
        reset_backoff_threshold_ns=50,
    )
    assert delays(backoff, 0, 149) == [100, 300]
    assert delays(backoff, 0, 150) == [100, 100]


def test_a_failure_before_the_restart_joins_it() -> None:
    """The instant of the restart stays, the delay does not grow, and no attempt is counted."""
    backoff = restart.ExponentialDelay(
        initial_backoff_ns=100, max_backoff_ns=1000, backoff_multiplier=2.0, jitter_factor=0.0
    )
    strategy = restart.RestartStrategy(backoff)
    strategy.step(restart.FailureNoticed(0))
    assert strategy.step(restart.FailureNoticed(30)) == [restart.RestartAfter(70, joined=True)]
    assert strategy.step(restart.FailureNoticed(100)) == [restart.RestartAfter(0, joined=True)]
    assert strategy.failures == 1
    assert strategy.step(restart.FailureNoticed(101)) == [restart.RestartAfter(200)]


def test_attempts_count_until_the_backoff_is_reset() -> None:
    """Failures that follow each other end the job. After a reset counting begins anew."""
    backoff = restart.ExponentialDelay(
        initial_backoff_ns=10,
        max_backoff_ns=10,
        jitter_factor=0.0,
        attempts_before_reset=2,
        reset_backoff_threshold_ns=1000,
    )
    assert delays(backoff, 0, 100, 200) == [10, 10, None]
    assert delays(backoff, 0, 100, 2000, 2100) == [10, 10, 10, 10]


@given(
    attempts=st.integers(1, 60),
    jitter=st.floats(0, 1, exclude_max=True),
    factor=st.floats(0, 1),
    multiplier=st.floats(1.001, 10),
)
def test_a_backoff_stays_between_its_bounds(
    attempts: int, jitter: float, factor: float, multiplier: float
) -> None:
    """No jitter and no number of failures leads out of the first and the largest delay."""
    backoff = restart.ExponentialDelay(jitter_factor=factor, backoff_multiplier=multiplier)
    far = [index * 61 * S + index for index in range(attempts)]
    for delay in delays(backoff, *far, jitter=jitter):
        assert delay is not None
        assert backoff.initial_backoff_ns <= delay <= backoff.max_backoff_ns


def test_jitter_reaches_both_ends_of_its_range() -> None:
    """The least draw takes the whole share off, the largest adds it."""
    backoff = restart.ExponentialDelay(
        initial_backoff_ns=100, max_backoff_ns=1000, backoff_multiplier=4.0, jitter_factor=0.25
    )
    assert delays(backoff, 0, 2000, jitter=0.0) == [100, 300]
    assert delays(backoff, 0, 2000, jitter=0.999999) == [125, 500]


def test_an_error_that_cannot_be_mended_ends_the_job() -> None:
    """Whatever the strategy, it is not asked."""
    strategy = restart.RestartStrategy(restart.FixedDelay(attempts=None))
    (answer,) = strategy.step(restart.FailureNoticed(0, recoverable=False))
    assert isinstance(answer, restart.GiveUp)


@pytest.mark.parametrize(
    "parameters",
    [
        restart.FixedDelay(delay_ns=-1),
        restart.FixedDelay(attempts=-1),
        restart.FailureRate(max_failures_per_interval=0),
        restart.FailureRate(interval_ns=0),
        restart.FailureRate(delay_ns=-1),
        restart.ExponentialDelay(initial_backoff_ns=0),
        restart.ExponentialDelay(max_backoff_ns=1),
        restart.ExponentialDelay(backoff_multiplier=1.0),
        restart.ExponentialDelay(jitter_factor=1.5),
        restart.ExponentialDelay(reset_backoff_threshold_ns=0),
        restart.ExponentialDelay(attempts_before_reset=0),
    ],
)
def test_what_flink_refuses_is_refused(parameters: restart.RestartParameters) -> None:
    """A strategy is not made from settings that the real one does not accept."""
    with pytest.raises(ProtocolError, match="bad_parameters"):
        restart.RestartStrategy(parameters)


def test_a_jitter_out_of_range_is_refused() -> None:
    """The host draws from 0 to below 1, and nothing is counted if it does not."""
    strategy = restart.RestartStrategy(restart.FixedDelay())
    with pytest.raises(ProtocolError, match="bad_jitter"):
        strategy.step(restart.FailureNoticed(0, jitter=1.0))
    assert strategy.failures == 0
