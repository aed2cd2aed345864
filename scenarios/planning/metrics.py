"""The metrics of a run: what each one is, in which unit, and which way is better.

A plan names those that answer its question. Result tables and reports use the same names. `FIGURES`
are the metrics that a link computes by itself. The others follow from the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial


class Measure(StrEnum):
    """What a metric measures: the base unit of its values is the one of the result tables."""

    TIME = "ns"
    SIZE = "bytes"
    SHARE = "share"  # 0 to 1, written as a percentage
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One value of a run.

    says: what it is, without its unit. less_is_better: None where neither way is better by itself.
    of_whole: a part of a whole, so neither below 0 nor above 1.
    """

    says: str
    measure: Measure
    less_is_better: bool | None = True
    of_whole: bool = False


_time = partial(Metric, measure=Measure.TIME)
_size = partial(Metric, measure=Measure.SIZE)
_share = partial(Metric, measure=Measure.SHARE)
_count = partial(Metric, measure=Measure.COUNT)

FIGURES: Mapping[str, Metric] = {
    "undone_per_crash": _count(says="records undone by a crash"),
    "lost_per_crash": _count(says="records lost by a crash"),
    "forced_checkpoints": _count(says="checkpoints that a message forced"),
    "discarded_checkpoints": _count(says="stored checkpoints that a restart went back past"),
    "logged_messages": _count(says="messages written to logs"),
    "sync_share": _share(says="share of the working time that durability takes"),
    "lost_share": _share(says="working time lost to syncs and crashes, per useful time"),
    "write_amplification": _count(says="in-flight buffers written per buffer sent"),
    "files_opened": _count(says="files of channel state opened per restore"),
    "pieces_read": _count(says="reads of pieces of channel state per restore"),
    "in_flight_back_ns": _time(
        says="time from a failure until data in flight has been read and taken again"
    ),
    "handles": _count(says="handles of in-flight data per completed checkpoint"),
    "records_missed": _count(
        says="records missed by sources with replayable = false while they were down or held up"
    ),
    "passed_over_ns": _time(
        says="time that was not simulated, because the job repeats itself", less_is_better=None
    ),
    "pending_states": _count(says="most states pending at once"),
    "pending_bytes": _size(says="most bytes of pending states at once"),
    "pending_age_ns": _time(says="longest time that a state was pending"),
    "wrong_acknowledgements": _count(says="states returned before all their records were durable"),
    "worked_off_ns": _time(says="time from a failure until its backlog is worked off"),
    "undetected_ns": _time(says="time until a task manager lost in silence is known to be"),
    "broken_share": _share(says="share of runs that break a property", of_whole=True),
}

METRICS: Mapping[str, Metric] = {
    "ended_ns": _time(says="duration of the run"),
    "completed_share": _share(
        says="share of runs that complete", less_is_better=False, of_whole=True
    ),
    "finishing_ns": _time(says="time to finish after the end of the input"),
    "finishing_checkpoints": _count(says="checkpoints triggered after the end of the input"),
    "first_closed_ns": _time(says="instant at which the first subtask closes"),
    "median_closed_ns": _time(says="median instant at which a subtask closes"),
    "median_latency_ns": _time(says="median checkpoint duration of a run"),
    "p95_latency_ns": _time(says="95th percentile of a run's checkpoint durations"),
    "longest_latency_ns": _time(says="longest checkpoint of a run"),
    "start_delay_ns": _time(says="median time until a checkpoint's last first barrier"),
    "persisted_bytes": _size(says="data persisted per checkpoint"),
    "checkpoints_completed": _count(says="checkpoints completed", less_is_better=None),
    "checkpoints_failed": _count(says="checkpoints failed"),
    "failed_checkpoint_share": _share(says="share of checkpoints that fail", of_whole=True),
    "records_committed": _count(says="records committed", less_is_better=None),
    "records_produced": _count(says="records read from the source", less_is_better=None),
    "recovery_ns": _time(says="time spent down and restarting"),
    "records_reprocessed": _count(says="records done again after failures"),
    "downtime_ns": _time(says="time from a failure to the first record"),
    "catch_up_ns": _time(says="time from a failure until caught up, or the end of the run"),
    "caught_up_share": _share(
        says="share of failures that a job catches up with", less_is_better=False, of_whole=True
    ),
    "peak_latency_ns": _time(says="largest latency of a record"),
    "recovery_detected_ns": _time(says="time until a failure is known"),
    "recovery_restart_ns": _time(
        says="time from there until tasks are cancelled and the delay is over"
    ),
    "recovery_read_ns": _time(says="time from there until tasks have read their state"),
    "recovery_first_record_ns": _time(says="time from there to the first record"),
    "recovery_catch_up_ns": _time(says="time from the first record until caught up"),
    **FIGURES,
}
