"""How the tasks of a job end, and whether the user stops it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.fields import choice, duration_ns, flag
from ckptsim.scenarios.limits import not_on_buffers

_JOB = "assumption: part of the job"
_SMALL = "assumption: small enough to be hunted in milliseconds"


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

    SOURCE = _JOB

    protocol: Protocol = choice("flink", Protocol, says="rules of tasks: design or released system")
    acknowledgements: bool = flag(
        True,
        says="a task waits until its EndOfData is acknowledged",
        source="Source: FLIP-147; off for comparison only",
    )
    stop_at_ns: int | None = duration_ns(
        None, says="instant of a stop-with-savepoint", optional=True
    )
    stop_kind: StopKind = choice("drain", StopKind, says="whether the stop drains the job")
    horizon_ns: int = duration_ns(
        "10 min",
        minimum="1 us",
        says="when a job with an endless source is stopped with drain, on records",
        source=_SMALL,
        limits=not_on_buffers("a run ends at `duration`"),
    )
