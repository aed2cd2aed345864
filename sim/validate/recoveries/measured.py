"""Read measured recoveries: runs of jobs that were made to fail and came back.

What may be taken from a run to predict it is in `MeasuredRecovery` as `given`: nothing else of a
recovery reaches the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ckptsim.scenarios.errors import Problem
from ckptsim.sim.validate.fields import CONFIG, Field

RESUBMITTED = "cancel"

FAILURES = ("exception_in_subtask_0_of_last_operator", "task_manager_lost", "cancel_and_resubmit")

_RESTORED = (
    Field("id", "whole", required=True, minimum=1),
    Field("trigger_ms", "number", required=True, minimum=0),
)
_RECOVERY = (
    Field("at_ms", "number", required=True, minimum=0),
    Field("until_ms", "number", required=True, minimum=0),
    Field("kind", "text", required=True),
    Field("restored_checkpoint", "object", inside=_RESTORED),
    Field("downtime_ms", "number", minimum=0),
    Field("reprocessed_records", "number"),
    Field("peak_latency_ms", "number", minimum=0),
    Field("catch_up_duration_ms", "number", minimum=0),
)
_RESTART = (Field("strategy", "text"), Field("delay_ms", "number", minimum=0))
_FAILURE = (Field("kind", "text", required=True, words=FAILURES),)
_CONFIG = (
    *CONFIG,
    Field("restart", "object", inside=_RESTART),
    Field("failure", "object", required=True, inside=_FAILURE),
    Field("rescale_to", "whole", minimum=1),
)
LINE = (
    Field("run_id", "text", required=True),
    Field("cell_id", "text"),
    Field("family", "text"),
    Field("config", "object", required=True, inside=_CONFIG),
    Field("recoveries", "list", required=True, inside=_RECOVERY),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a prediction is notified of one failure. Instants in ms since the first record fell due.

    until_ms: the next failure, or the end of the run.  restored: number and trigger of the
    checkpoint that was restored, None for the job's beginning.  downtime_ms: of a resubmission,
    which a client times. None for a restart.
    """

    at_ms: float
    until_ms: float
    restored: tuple[int, float] | None
    downtime_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one recovery took, measured or predicted. None where it does not apply or come."""

    downtime_ms: float | None
    reprocessed_records: float | None
    peak_latency_ms: float | None
    catch_up_duration_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRecovery:
    """One failure of a run and what it took to recover."""

    given: Given
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryRun:
    """One line."""

    run_id: str
    cell_id: str
    family: str
    config: Mapping[str, Any]
    recoveries: tuple[MeasuredRecovery, ...]


def is_recovery_run(entry: object) -> bool:
    """Return whether a line has recoveries, so that these are predicted."""
    return isinstance(entry, Mapping) and "recoveries" in entry


def more_problems(entry: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of a line, as the schema has them."""
    config = entry["config"]
    if config["failure"]["kind"] == FAILURES[-1] and config.get("rescale_to") is None:
        yield Problem("config.rescale_to", "null", "a whole number of at least 1")
    last_ms = 0.0
    for index, recovery in enumerate(entry["recoveries"]):
        if not last_ms <= recovery["at_ms"] < recovery["until_ms"]:
            says = f"from {recovery['at_ms']} to {recovery['until_ms']}"
            expected = f"from {last_ms:g} or later to a later instant"
            yield Problem(f"recoveries[{index}]", says, expected)
        last_ms = recovery["until_ms"]


def run_of(entry: Mapping[str, Any]) -> RecoveryRun:
    """Return a line that has no problems as a run."""
    return RecoveryRun(
        run_id=entry["run_id"],
        cell_id=entry.get("cell_id") or entry["run_id"],
        family=entry.get("family") or "-",
        config=entry["config"],
        recoveries=tuple(_recovery(one) for one in entry["recoveries"]),
    )


def _recovery(entry: Mapping[str, Any]) -> MeasuredRecovery:
    restored = entry.get("restored_checkpoint")
    return MeasuredRecovery(
        given=Given(
            at_ms=entry["at_ms"],
            until_ms=entry["until_ms"],
            restored=None if not restored else (int(restored["id"]), restored["trigger_ms"]),
            downtime_ms=entry.get("downtime_ms") if entry["kind"] == RESUBMITTED else None,
        ),
        figures=Figures(
            downtime_ms=entry.get("downtime_ms"),
            reprocessed_records=entry.get("reprocessed_records"),
            peak_latency_ms=entry.get("peak_latency_ms"),
            catch_up_duration_ms=entry.get("catch_up_duration_ms"),
        ),
    )
