"""How the tasks of a job end, whether the user stops it, and what follows a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

from ckptsim.scenarios.fields import choice, count, duration_ns, flag

_JOB = "assumption: part of the job"
_SMALL = "assumption: small enough to be hunted in milliseconds"
_RESTART = "Source: Apache Flink 1.20.3, RestartStrategyOptions"


class Protocol(StrEnum):
    """How tasks end: released Flink, the FLIP as written, or each task for itself."""

    FLINK = "flink"
    FLIP = "flip"
    NAIVE = "naive"


class StopKind(StrEnum):
    """How stop-with-savepoint ends the job."""

    DRAIN = "drain"
    NO_DRAIN = "no_drain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the tasks end, and whether the user stops the job."""

    protocol: Protocol = choice("flink", Protocol, says="whose rules tasks follow", source=_JOB)
    acknowledgements: bool = flag(
        True,
        says="a task waits until its EndOfData is acknowledged",
        source="Source: FLIP-147; off for comparison only",
    )
    stop_at_ns: int | None = duration_ns(
        None, says="instant of a stop-with-savepoint", source=_JOB, optional=True
    )
    stop_kind: StopKind = choice(
        "drain", StopKind, says="whether the stop drains the job", source=_JOB
    )
    horizon_ns: int = duration_ns(
        "10 min",
        minimum="1 us",
        says="when a job with an endless source is stopped with drain, on records",
        source=_SMALL,
    )


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

    def restarts_after(self, failures: int) -> bool:
        """Say whether the job is restarted after so many failures."""
        return self.attempts is None or failures <= self.attempts


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRestart:
    """A job that fails has failed."""

    delay_ns: ClassVar[int] = 0

    def restarts_after(self, _failures: int) -> bool:
        """Say whether the job is restarted: never."""
        return False


RestartStrategy: TypeAlias = FixedDelay | NoRestart

RESTART_STRATEGIES: Mapping[str, type] = {"fixed_delay": FixedDelay, "none": NoRestart}
