"""What follows a failure of a job: Flink's restart strategies, with its names and defaults.

Durations of `restart-strategy.*` stand here without the name of the strategy, which is the `kind`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from ckptsim.models.recovery import restart
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import count, duration_ns, number, ratio

_RESTART = "Source: Apache Flink 1.20.3, RestartStrategyOptions"
_RATE = "Source: Apache Flink 1.20.3, restart-strategy.failure-rate."
_BACKOFF = "Source: Apache Flink 1.20.3, restart-strategy.exponential-delay."


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedDelay:
    """A job that fails is restarted after a delay from its latest completed checkpoint."""

    delay_ns: int = duration_ns(
        "1 s", maximum="1 h", says="from a failure to the next attempt", source=_RESTART
    )
    attempts: int | None = count(
        None,
        optional=True,
        maximum=1_000_000,
        unit="restarts",
        says="failures after which the job is restarted; absent: all",
        source="Source: Apache Flink restarts jobs with checkpoints without end unless told; "
        "restart-strategy.fixed-delay.attempts is 1",
    )

    @property
    def parameters(self) -> restart.RestartParameters:
        """Return the settings of the core."""
        return restart.FixedDelay(attempts=self.attempts, delay_ns=self.delay_ns)

    @property
    def longest_delay_ns(self) -> int:
        """Return the longest delay that may follow a failure."""
        return self.delay_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRate:
    """A job is restarted after a delay, unless too many failures fall into an interval."""

    max_failures_per_interval: int = count(
        1,
        minimum=1,
        maximum=1_000_000,
        unit="failures",
        says="failures in an interval after which the job is restarted",
        source=_RATE + "max-failures-per-interval",
    )
    interval_ns: int = duration_ns(
        "1 min",
        minimum=1,
        says="in which failures are counted",
        source=_RATE + "failure-rate-interval",
    )
    delay_ns: int = duration_ns(
        "1 s", maximum="1 h", says="from a failure to the next attempt", source=_RATE + "delay"
    )

    @property
    def parameters(self) -> restart.RestartParameters:
        """Return the settings of the core."""
        return restart.FailureRate(
            max_failures_per_interval=self.max_failures_per_interval,
            interval_ns=self.interval_ns,
            delay_ns=self.delay_ns,
        )

    @property
    def longest_delay_ns(self) -> int:
        """Return the longest delay that may follow a failure."""
        return self.delay_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialDelay:
    """A job is restarted after a delay that grows with every failure, in part by chance."""

    initial_backoff_ns: int = duration_ns(
        "1 s",
        minimum=1,
        maximum="1 h",
        says="the first delay, and the shortest",
        source=_BACKOFF + "initial-backoff",
    )
    max_backoff_ns: int = duration_ns(
        "1 min", minimum=1, maximum="1 d", says="the longest delay", source=_BACKOFF + "max-backoff"
    )
    backoff_multiplier: float = number(
        1.5,
        minimum=1.000001,
        maximum=1000.0,
        says="by which a delay grows from failure to failure",
        source=_BACKOFF + "backoff-multiplier",
    )
    reset_backoff_threshold_ns: int = duration_ns(
        "1 h",
        minimum=1,
        says="without a failure since a restart, after which the delay is the first one again",
        source=_BACKOFF + "reset-backoff-threshold",
    )
    jitter_factor: float = ratio(
        0.1,
        says="share of a delay that is added or taken off at most, by chance",
        source=_BACKOFF + "jitter-factor",
    )
    attempts: int | None = count(
        None,
        optional=True,
        minimum=1,
        maximum=1_000_000,
        unit="restarts",
        says="failures before the delay is reset after which the job is restarted; absent: all",
        source=_BACKOFF + "attempts-before-reset-backoff",
    )

    @property
    def parameters(self) -> restart.RestartParameters:
        """Return the settings of the core."""
        return restart.ExponentialDelay(
            initial_backoff_ns=self.initial_backoff_ns,
            max_backoff_ns=self.max_backoff_ns,
            backoff_multiplier=self.backoff_multiplier,
            reset_backoff_threshold_ns=self.reset_backoff_threshold_ns,
            jitter_factor=self.jitter_factor,
            attempts_before_reset=self.attempts,
        )

    @property
    def longest_delay_ns(self) -> int:
        """Return the longest delay that may follow a failure."""
        return self.max_backoff_ns

    def problems(self) -> list[Problem]:
        """Return what does not hold between the values."""
        if self.initial_backoff_ns <= self.max_backoff_ns:
            return []
        expected = f"at most max_backoff, {duration_text(self.max_backoff_ns)}"
        return [Problem("initial_backoff_ns", duration_text(self.initial_backoff_ns), expected)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRestart:
    """A job that fails has failed."""

    parameters: ClassVar[restart.RestartParameters] = restart.NoRestart()
    longest_delay_ns: ClassVar[int] = 0


RestartStrategy: TypeAlias = FixedDelay | FailureRate | ExponentialDelay | NoRestart

RESTART_STRATEGIES: Mapping[str, type] = {
    "fixed_delay": FixedDelay,
    "failure_rate": FailureRate,
    "exponential_delay": ExponentialDelay,
    "none": NoRestart,
}
