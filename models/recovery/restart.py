"""Restart strategies: whether a failed job is restarted, and after which delay.

Four strategies share one door.  A strategy learns of every failure with its instant. It counts them
and answers with a delay or with the end of the job.

* `NoRestart`: every failure ends the job.
* `FixedDelay`: so many restarts, always after the same delay.
* `FailureRate`: restarts as long as no more than so many failures fall into any interval.
* `ExponentialDelay`: the delay grows by a factor with every failure, up to a largest one. A share
  of it is random, so that jobs that failed together do not come back together. After a time without
  a failure it is as at the beginning.  A failure before the planned restart joins the attempt that
  is
  planned: the delay does not grow, and the instant of the restart stays.

Promised: a delay is never negative. With exponential delay it never exceeds the largest one, and
the job ends only if failures follow each other within the threshold.  Not promised: a delay begins
when the strategy learns of the failure, so a late detection comes on top.

Source: Apache Flink 1.20.3, RestartStrategyOptions, FixedDelayRestartBackoffTimeStrategy,
FailureRateRestartBackoffTimeStrategy, ExponentialDelayRestartBackoffTimeStrategy, ExecutionFailure-
Handler (a strategy first learns of the failure, then says whether the job may restart).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from ckptsim.models.core import ProtocolError

SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
_FOREVER_NS = 1 << 63


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRestart:
    """`restart-strategy.type: none`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedDelay:
    """`restart-strategy.fixed-delay.attempts` and `.delay`. attempts: None for any number."""

    attempts: int | None = 1
    delay_ns: int = SECOND_NS


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRate:
    """`restart-strategy.failure-rate`: `max-failures-per-interval`, the interval and the delay."""

    max_failures_per_interval: int = 1
    interval_ns: int = MINUTE_NS
    delay_ns: int = SECOND_NS


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialDelay:
    """`restart-strategy.exponential-delay.*`. attempts_before_reset: None for any number.

    jitter_factor: the share of a delay that is added or taken off at most.
    """

    initial_backoff_ns: int = SECOND_NS
    max_backoff_ns: int = MINUTE_NS
    backoff_multiplier: float = 1.5
    reset_backoff_threshold_ns: int = 60 * MINUTE_NS
    jitter_factor: float = 0.1
    attempts_before_reset: int | None = None


RestartParameters: TypeAlias = NoRestart | FixedDelay | FailureRate | ExponentialDelay


@dataclass(frozen=True, slots=True)
class FailureNoticed:
    """The job manager knows of a failure.

    jitter: where in the range of the jitter the delay lies, from 0 (all taken off) to below 1 (all
    added). The host draws it.  recoverable: False for an error that a restart cannot mend.
    """

    now_ns: int
    jitter: float = 0.5
    recoverable: bool = True


@dataclass(frozen=True, slots=True)
class RestartAfter:
    """Restart the job after a delay. joined: the attempt was planned already."""

    delay_ns: int
    joined: bool = False


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Restart no more: the job has failed."""

    reason: str


RestartEffect: TypeAlias = RestartAfter | GiveUp


class RestartStrategy:
    """Decides on every failure of one job.

    failures: how many it has counted, joined ones left out.
    """

    __slots__ = ("_attempts", "_gave_up", "_parameters", "_recent", "_restart_ns", "failures")

    def __init__(self, parameters: RestartParameters) -> None:
        _check(parameters)
        self._parameters = parameters
        self.failures = 0
        self._attempts = 0  # since the latest reset of the backoff
        self._restart_ns: int | None = None  # when the latest planned restart is due
        self._recent: deque[int] = deque()  # instants of failures, one more than are allowed
        self._gave_up = False

    def step(self, event: FailureNoticed) -> list[RestartEffect]:
        """Take a failure and return what follows.

        Raises ProtocolError for a jitter out of range and for a failure after the job was aborted.
        """
        if not 0 <= event.jitter < 1:
            raise ProtocolError("bad_jitter", state="0 <= jitter < 1", event=event)
        if self._gave_up:
            raise ProtocolError("gave_up", state="the job has failed for good", event=event)
        answer = self._decide(event)
        self._gave_up = isinstance(answer, GiveUp)
        return [answer]

    def _decide(self, event: FailureNoticed) -> RestartEffect:
        if not event.recoverable:
            self.failures += 1
            return GiveUp("the error cannot be recovered from")
        match self._parameters:
            case NoRestart():
                self.failures += 1
                return GiveUp("no restart strategy")
            case FixedDelay() as fixed:
                self.failures += 1
                if fixed.attempts is not None and self.failures > fixed.attempts:
                    return GiveUp(f"restarted {fixed.attempts} times")
                return RestartAfter(fixed.delay_ns)
            case FailureRate() as rate:
                return self._by_rate(rate, event.now_ns)
            case ExponentialDelay() as backoff:
                return self._by_backoff(backoff, event)
            case _ as never:
                assert_never(never)

    def _by_rate(self, rate: FailureRate, now_ns: int) -> RestartEffect:
        self.failures += 1
        # As many as are allowed and one more: with that many, the oldest one must have left the
        # interval.  The new failure is counted before the question is asked.
        if len(self._recent) > rate.max_failures_per_interval:
            self._recent.popleft()
        self._recent.append(now_ns)
        full = len(self._recent) > rate.max_failures_per_interval
        if full and now_ns - self._recent[0] <= rate.interval_ns:
            return GiveUp(f"more than {rate.max_failures_per_interval} failures in the interval")
        return RestartAfter(rate.delay_ns)

    def _by_backoff(self, backoff: ExponentialDelay, event: FailureNoticed) -> RestartEffect:
        now_ns, planned_ns = event.now_ns, self._restart_ns
        if planned_ns is not None and now_ns <= planned_ns:
            return RestartAfter(planned_ns - now_ns, joined=True)
        if planned_ns is not None and now_ns - planned_ns >= backoff.reset_backoff_threshold_ns:
            self._attempts = 0
        delay_ns = _backoff_ns(backoff, self._attempts, event.jitter)
        self._restart_ns = now_ns + delay_ns
        self._attempts += 1
        self.failures += 1
        allowed = backoff.attempts_before_reset
        if allowed is not None and self._attempts > allowed:
            return GiveUp(f"restarted {allowed} times without a longer time between two failures")
        return RestartAfter(delay_ns)


def _backoff_ns(backoff: ExponentialDelay, attempts: int, jitter: float) -> int:
    """Return the delay after so many attempts.

    The product is made factor by factor: a power of a float may differ in its last digit between
    machines.  It grows on after the largest delay, as the jitter is a share of the product and so
    may bring it back below. Only what no clock can hold ends it.
    """
    product = float(backoff.initial_backoff_ns)
    for _ in range(attempts):
        if product >= _FOREVER_NS:
            break
        product *= backoff.backoff_multiplier
    base_ns = int(product)
    reach_ns = int(base_ns * backoff.jitter_factor)
    offset_ns = int(jitter * (2 * reach_ns + 1)) - reach_ns
    return max(backoff.initial_backoff_ns, min(base_ns + offset_ns, backoff.max_backoff_ns))


def _check(parameters: RestartParameters) -> None:
    problem = _problem(parameters)
    if problem is not None:
        raise ProtocolError("bad_parameters", state=problem)


def _problem(parameters: RestartParameters) -> str | None:
    """Return what the real strategy refuses too."""
    match parameters:
        case NoRestart():
            return None
        case FixedDelay():
            wrong = parameters.delay_ns < 0 or (parameters.attempts or 0) < 0
            return "attempts and delay must not be negative" if wrong else None
        case FailureRate():
            if parameters.max_failures_per_interval < 1 or parameters.interval_ns < 1:
                return "at least one failure per interval, and an interval above 0"
            return "the delay must not be negative" if parameters.delay_ns < 0 else None
        case ExponentialDelay():
            return _backoff_problem(parameters)
        case _ as never:
            assert_never(never)


def _backoff_problem(backoff: ExponentialDelay) -> str | None:
    if not 1 <= backoff.initial_backoff_ns <= backoff.max_backoff_ns:
        return "the first delay must be above 0 and no more than the largest"
    if backoff.backoff_multiplier <= 1:
        return "the multiplier must be above 1"
    if not 0 <= backoff.jitter_factor <= 1:
        return "the jitter factor must be from 0 to 1"
    if backoff.reset_backoff_threshold_ns < 1:
        return "the threshold must be above 0"
    if backoff.attempts_before_reset is not None and backoff.attempts_before_reset < 1:
        return "at least one attempt"
    return None
