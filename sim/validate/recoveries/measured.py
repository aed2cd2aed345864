"""Read measured recoveries: runs of jobs that were made to fail and came back.

What may be taken from a run to predict it is in `MeasuredRecovery` as `given`: nothing else of a
recovery reaches the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.measured_fields import Field, config_problems, object_problems, shown

RESUBMITTED = "cancel"

_LINE = (
    Field("run_id", "text", required=True),
    Field("cell_id", "text"),
    Field("family", "text"),
    Field("config", "object", required=True),
    Field("recoveries", "list", required=True),
)
_RECOVERY = (
    Field("at_ms", "number", required=True, minimum=0),
    Field("until_ms", "number", required=True, minimum=0),
    Field("kind", "text", required=True),
    Field("restored_checkpoint", "object"),
    Field("downtime_ms", "number", minimum=0),
    Field("reprocessed_records", "number"),
    Field("peak_latency_ms", "number", minimum=0),
    Field("catch_up_duration_ms", "number", minimum=0),
)
_RESTORED = (
    Field("id", "whole", required=True, minimum=1),
    Field("trigger_ms", "number", required=True, minimum=0),
)
_CONFIG = (
    Field("restart", "object"),
    Field("failure", "object", required=True),
    Field("rescale_to", "whole", minimum=1),
)
_RESTART = (
    Field("strategy", "text"),
    Field("delay_ms", "number", minimum=0),
)
_FAILURE = (Field("kind", "text", required=True),)
FAILURES = ("exception_in_subtask_0_of_last_operator", "task_manager_lost", "cancel_and_resubmit")


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


def problems_of(entry: Mapping[str, Any]) -> list[Problem]:
    """Return what keeps a line from being read."""
    found = object_problems(entry, _LINE, "")
    if found:
        return found
    config = entry["config"]
    found += config_problems(config, "config") + object_problems(config, _CONFIG, "config")
    found += object_problems(config.get("restart") or {}, _RESTART, "config.restart")
    failure = config.get("failure")
    if isinstance(failure, Mapping):
        found += object_problems(failure, _FAILURE, "config.failure")
        if failure.get("kind") == FAILURES[-1] and config.get("rescale_to") is None:
            found.append(Problem("config.rescale_to", "null", "a whole number of at least 1"))
        if failure.get("kind") not in FAILURES:
            kind = shown(failure.get("kind"))
            found.append(Problem("config.failure.kind", kind, f"one of {', '.join(FAILURES)}"))
    if not entry["recoveries"]:
        found.append(Problem("recoveries", "[]", "at least one"))
    last_ms = 0.0
    for index, recovery in enumerate(entry["recoveries"]):
        place = f"recoveries[{index}]"
        wrong = object_problems(recovery, _RECOVERY, place)
        restored = (recovery.get("restored_checkpoint") or {}) if not wrong else {}
        if restored:
            wrong += object_problems(restored, _RESTORED, f"{place}.restored_checkpoint")
        if not wrong and not last_ms <= recovery["at_ms"] < recovery["until_ms"]:
            says = f"from {recovery['at_ms']} to {recovery['until_ms']}"
            wrong.append(Problem(place, says, f"from {last_ms:g} or later to a later instant"))
        found += wrong
        last_ms = last_ms if wrong else recovery["until_ms"]
    return found


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
