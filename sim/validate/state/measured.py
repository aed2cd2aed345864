"""A measured run of state, storage or recovery: one JSON object a line, with its configuration.

A prediction takes from the measurement only what Flink draws at random or an operator decided: the
phase of the periodic trigger, and how long after a checkpoint the failure struck.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ckptsim.sim.validate.fields import Field

KINDS = ("keyed", "forward", "flat")
BACKENDS = ("hashmap", "rocksdb")

STEADY = (
    "end_to_end_ms",
    "sync_ms",
    "async_ms",
    "state_bytes",
    "checkpointed_bytes_min",
    "checkpointed_bytes_mean",
    "files_created",
    "trigger_gap_ms",
)
RECOVERY = (
    "running_again_after_ms",
    "restore_ms",
    "restore_read_bytes",
    "records_again",
    "record_age_back_after_ms",
    "tasks_restarted",
)

_CONFIG = (
    Field("kind", "text", required=True, words=KINDS),
    Field("backend", "text", required=True, words=BACKENDS),
    Field("parallelism", "whole", required=True, minimum=1),
    Field("keys", "whole", required=True, minimum=1),
    Field("value_bytes", "whole", required=True, minimum=0),
    Field("interval_ms", "number", required=True, minimum=1),
    Field("min_pause_ms", "number", minimum=0),
    Field("steady_ms", "number", required=True, minimum=1),
    Field("records_per_s", "number", minimum=0, above=True),
    Field("service_us", "number", minimum=0),
    Field("hot_share", "number", minimum=0),
    Field("hot_keys", "whole", minimum=0),
    Field("flat_out", "number", minimum=0),
    Field("payload", "whole", minimum=0),
    Field("restart_delay_ms", "number", minimum=0),
    Field("operator_state_bytes_per_subtask", "number", minimum=0),
    Field("failed_after_completion_of_restored_checkpoint_ms", "number", minimum=0),
    Field("limits", "object"),
    Field("cluster", "object"),
    Field("failures", "list"),
)
_CHECKPOINT = (Field("trigger_ms", "number"), Field("phase", "text"))
LINE = (
    Field("run_id", "text", required=True),
    Field("cell", "text"),
    Field("family", "text"),
    Field("config", "object", required=True, inside=_CONFIG),
    Field("jobs_before_in_this_cluster", "whole", minimum=0),
    Field("checkpoints", "list", inside=_CHECKPOINT),
    Field("steady", "object"),
    Field("recovery", "object"),
)
_WARM = 20  # an assumption for a line without the number of jobs before it


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRun:
    """One line.

    phase_ms: an instant of the periodic trigger, None where none is known.  jobs_before: in the
    same processes.
    """

    run_id: str
    cell_id: str
    family: str
    config: Mapping[str, Any]
    phase_ms: float | None
    jobs_before: int
    steady: Mapping[str, Any]
    recovery: Mapping[str, Any]


def is_state_run(entry: object) -> bool:
    """Return whether a line is a run of state or storage: its configuration names a backend."""
    config = entry.get("config") if isinstance(entry, Mapping) else None
    return isinstance(config, Mapping) and "backend" in config


def run_of(entry: Mapping[str, Any]) -> StateRun:
    """Return a line that has no problems as a run."""
    jobs_before = entry.get("jobs_before_in_this_cluster")
    steady = [
        one["trigger_ms"]
        for one in entry.get("checkpoints") or ()
        if one.get("phase") == "first_steady"
    ]
    return StateRun(
        run_id=entry["run_id"],
        cell_id=entry.get("cell") or entry["run_id"],
        family=entry.get("family") or "-",
        config=entry["config"],
        jobs_before=_WARM if jobs_before is None else int(jobs_before),
        phase_ms=float(steady[0]) if steady else None,
        steady=entry.get("steady") or {},
        recovery=entry.get("recovery") or {},
    )
