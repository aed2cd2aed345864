"""The metrics of a run: what each one is, in which unit, and which way is better.

A plan names those that answer its question; result tables and reports use the same names.
`FIGURES` are the metrics that a link computes by itself; the others follow from the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Measure(StrEnum):
    """What a metric measures: the base unit of its values is that of the result tables."""

    TIME = "ns"
    SIZE = "bytes"
    SHARE = "share"  # 0 to 1, written as a percentage
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One value of a run.

    says: what it is, without its unit; less_is_better: None where neither way is better by itself.
    of_whole: a part of a whole, so neither below 0 nor above 1.
    """

    says: str
    measure: Measure
    less_is_better: bool | None = True
    of_whole: bool = False


FIGURES: Mapping[str, Metric] = {
    "undone_per_crash": Metric(says="records undone by a crash", measure=Measure.COUNT),
    "lost_per_crash": Metric(says="records lost by a crash", measure=Measure.COUNT),
    "forced_checkpoints": Metric(says="checkpoints that a message forced", measure=Measure.COUNT),
    "discarded_checkpoints": Metric(
        says="stored checkpoints that a restart went back behind", measure=Measure.COUNT
    ),
    "logged_messages": Metric(says="messages written to logs", measure=Measure.COUNT),
    "sync_share": Metric(
        says="share of the working time that durability takes", measure=Measure.SHARE
    ),
    "lost_share": Metric(
        says="working time lost to syncs and crashes, per useful time", measure=Measure.SHARE
    ),
    "write_amplification": Metric(
        says="in-flight buffers written per buffer sent", measure=Measure.COUNT
    ),
    "files_opened": Metric(says="files of channel state opened per restore", measure=Measure.COUNT),
    "pieces_read": Metric(
        says="reads of pieces of channel state per restore", measure=Measure.COUNT
    ),
    "handles": Metric(
        says="handles of in-flight data per completed checkpoint", measure=Measure.COUNT
    ),
    "records_missed": Metric(
        says="records missed by sources with replayable = false while they were down or held up",
        measure=Measure.COUNT,
    ),
    "pending_states": Metric(says="most states pending at once", measure=Measure.COUNT),
    "pending_bytes": Metric(says="most bytes of pending states at once", measure=Measure.SIZE),
    "pending_age_ns": Metric(says="longest time that a state was pending", measure=Measure.TIME),
    "wrong_acknowledgements": Metric(
        says="states returned before all their records were durable", measure=Measure.COUNT
    ),
    "worked_off_ns": Metric(
        says="time from a failure until its backlog is worked off", measure=Measure.TIME
    ),
    "undetected_ns": Metric(
        says="time until a task manager lost in silence is known to be", measure=Measure.TIME
    ),
    "broken_share": Metric(
        says="share of runs that break a property", measure=Measure.SHARE, of_whole=True
    ),
}

METRICS: Mapping[str, Metric] = {
    "ended_ns": Metric(says="duration of the run", measure=Measure.TIME),
    "completed_share": Metric(
        says="share of runs that complete",
        measure=Measure.SHARE,
        less_is_better=False,
        of_whole=True,
    ),
    "finishing_ns": Metric(says="time to finish after the end of the input", measure=Measure.TIME),
    "finishing_checkpoints": Metric(
        says="checkpoints triggered after the end of the input", measure=Measure.COUNT
    ),
    "first_closed_ns": Metric(
        says="instant at which the first subtask closes", measure=Measure.TIME
    ),
    "median_closed_ns": Metric(
        says="median instant at which a subtask closes", measure=Measure.TIME
    ),
    "median_latency_ns": Metric(says="median checkpoint duration of a run", measure=Measure.TIME),
    "p95_latency_ns": Metric(
        says="95th percentile of a run's checkpoint durations", measure=Measure.TIME
    ),
    "longest_latency_ns": Metric(says="longest checkpoint of a run", measure=Measure.TIME),
    "start_delay_ns": Metric(
        says="median time until a checkpoint's last first barrier", measure=Measure.TIME
    ),
    "persisted_bytes": Metric(says="data persisted per checkpoint", measure=Measure.SIZE),
    "checkpoints_completed": Metric(
        says="checkpoints completed", measure=Measure.COUNT, less_is_better=None
    ),
    "checkpoints_failed": Metric(says="checkpoints failed", measure=Measure.COUNT),
    "failed_checkpoint_share": Metric(
        says="share of checkpoints that fail", measure=Measure.SHARE, of_whole=True
    ),
    "records_committed": Metric(
        says="records committed", measure=Measure.COUNT, less_is_better=None
    ),
    "records_produced": Metric(
        says="records read from the source", measure=Measure.COUNT, less_is_better=None
    ),
    "recovery_ns": Metric(says="time spent down and restarting", measure=Measure.TIME),
    "records_reprocessed": Metric(says="records done again after failures", measure=Measure.COUNT),
    "downtime_ns": Metric(says="time from a failure to the first record", measure=Measure.TIME),
    "catch_up_ns": Metric(
        says="time from a failure until caught up, or the end of the run", measure=Measure.TIME
    ),
    "caught_up_share": Metric(
        says="share of failures that a job catches up with",
        measure=Measure.SHARE,
        less_is_better=False,
        of_whole=True,
    ),
    "peak_latency_ns": Metric(says="largest latency of a record", measure=Measure.TIME),
    "recovery_detected_ns": Metric(says="time until a failure is known", measure=Measure.TIME),
    "recovery_restart_ns": Metric(
        says="time from there until tasks are cancelled and the delay is over", measure=Measure.TIME
    ),
    "recovery_read_ns": Metric(
        says="time from there until tasks have read their state", measure=Measure.TIME
    ),
    "recovery_first_record_ns": Metric(
        says="time from there to the first record", measure=Measure.TIME
    ),
    "recovery_catch_up_ns": Metric(
        says="time from the first record until caught up", measure=Measure.TIME
    ),
    **FIGURES,
}
