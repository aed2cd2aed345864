"""Kinds of vertices, what a checkpoint may have of them, and how the rate of a source changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.fields import REQUIRED, duration_ns, number

_JOB = "assumption: part of the job"


class VertexKind(StrEnum):
    """What a vertex does."""

    SOURCE = "source"
    LEGACY = "legacy"  # a source with a thread of its own, beside the mailbox
    OPERATOR = "operator"
    SINK = "sink"


class StoppedBy(StrEnum):
    """What a stop-with-savepoint does to a legacy source."""

    CANCEL = "cancel"
    SUSPEND = "suspend"


class Recorded(StrEnum):
    """What the checkpoint that a job is started from says of a vertex."""

    NONE = "none"
    RUNNING = "running"
    PARTIAL = "partial"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange:
    """From an instant on a source emits at another rate, as in the course of a day."""

    at_ns: int = duration_ns(REQUIRED, says="from when on", source=_JOB)
    factor: float = number(
        REQUIRED, minimum=0.0, maximum=1000.0, says="times the source's rate", source=_JOB
    )
