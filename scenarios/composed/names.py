"""The properties and the rare situations of a composed pipeline, by name."""

from __future__ import annotations

from ckptsim.scenarios.job.names import ALL_GOALS, ALL_PROPERTIES
from ckptsim.scenarios.sync import GOALS as SYNC_GOALS
from ckptsim.scenarios.sync import PROPERTIES as SYNC_PROPERTIES

OWN_PROPERTIES: dict[str, str] = {
    "no_checkpoint_ahead_of_data": (
        "what a sink's checkpoint in the store speaks of is durable there when an attempt begins"
    ),
    "checkpoint_never_goes_back": (
        "no write and no crash puts an older checkpoint of a sink in the place of a newer one"
    ),
    "reported_records_are_durable": "only records that are durable in the store are reported",
    "exactly_once_output": "the store has each record once, and no commit repeats what it covers",
    "exactly_once_state": "at the end the state of each stage has each record once",
}

# What a pipeline says of a property goes before what a job says of it.
PROPERTIES = SYNC_PROPERTIES | OWN_PROPERTIES | (ALL_PROPERTIES | OWN_PROPERTIES)

OWN_GOALS: tuple[str, ...] = (
    "crashed_between_data_and_checkpoint",
    "committed_again",
    "committed_before_the_crash",
    "in_flight_records_restored",
    "redelivered_record_dropped",
    "redelivered_record_still_under_way",
    "commits_reported_out_of_order",
    "commit_refused",
    "several_transactions_in_one_commit",
    "restored_after_end_of_data",
    "snapshot_during_commit",
)

_NOT_HERE = (
    "restarted",
    "restarts_used_up",
    "transaction_timed_out",
    "failed_after_stop_savepoint",
    "stopped_under_backlog_drain",
    "stopped_under_backlog_no_drain",
    "upload_failed",
    "uploads_reordered",
    "rejected_records",
    "interval_counts_differ",
    "counts_differ",
    "state_rejected",
)

GOALS: tuple[str, ...] = (
    *OWN_GOALS,
    *(name for name in (*SYNC_GOALS, *ALL_GOALS) if name not in _NOT_HERE),
)
