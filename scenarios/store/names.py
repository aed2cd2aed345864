"""Names that a scenario of a checkpoint store may ask for: properties, and rare situations."""

from __future__ import annotations

PROPERTIES: dict[str, str] = {
    "no_checkpoint_ahead_of_data": "no durable checkpoint covers records that are not durable",
    "rows_and_checkpoint_agree": "co-located rows always agree with the checkpoint",
    "data_is_a_prefix": "flushed in order, the rows after a crash equal a prefix of the log",
    "content_converges": "after catching up the rows equal the whole log",
    "other_partitions_untouched": "an operation on a partition changes no other one",
    "checkpoint_reads_back": "a get returns exactly the bytes of the last set",
    "callers_cannot_reach_in": "changing an argument or a result changes no stored value",
    "fallback_uses_one_store": "the checkpoint store that is not in use gets no checkpoint",
    "checkpoint_never_goes_back": "within one incarnation the durable position does not decrease",
    "errored_partition_is_frozen": "after a failed write neither position nor checkpoint moves",
    "checkpoint_is_of_one_instant": "position, end of push and producers of a checkpoint agree",
    "swap_only_to_complete_versions": "a version becomes current only when its push has ended",
    "reset_wipes_first": "a restart from scratch after a reset finds no rows",
    "version_state_agrees": "the regenerated version state equals the start of push",
    "acknowledged_sync_survives": "a crash keeps all data of a completed sync",
    "loss_is_noticed": "a start detects data that is gone or does not fit its checkpoint",
    "syncs_have_a_cause": "a sync begins when it is due, and after every control entry",
    "dropped_versions_leave_nothing": "a dropped version leaves no data",
    "durable_rows_are_the_content": "a sync makes the applied records durable, in mirrors too",
    "rework_is_bounded": "one crash repeats at most one interval",
    "input_is_caught_up": "finite input is processed after finitely many faults",
    "errored_partition_blocks_nobody": "partitions continue while another one is errored",
    "outage_only_delays": "a failed commit moves no checkpoint and resets no counter",
    "recovery_unpauses": "after the recovery of all partitions consumption continues",
}

# I for safety, L for liveness. The order of the properties is theirs.
INVARIANTS: dict[str, str] = dict(
    zip(
        (*(f"I{number}" for number in range(1, 20)), *(f"L{number}" for number in range(1, 6))),
        PROPERTIES,
        strict=True,
    )
)

# Counted, so that a green run is known to have met them.
GOALS: tuple[str, ...] = (
    "crashed",
    "crashed_between_effects",
    "crashed_between_steps",
    "crashed_in_reset",
    "crashed_within_sync",
    "crashed_within_write",
    "data_ahead_of_checkpoint",
    "records_reprocessed",
    "partition_errored",
    "partition_reopened",
    "commit_failed",
    "sync_by_bytes",
    "sync_by_control",
    "sync_by_time",
    "sync_on_stop",
    "corrupt_checkpoint",
    "unreadable_checkpoint",
    "records_taken_in_sync",
    "store_switched",
    "checkpoint_ahead_of_log",
    "integrity_restart",
    "identity_restart",
    "rebootstrapped",
    "offset_expired",
    "started_at_latest",
    "mirror_replayed",
    "deleted_key_resurrected",
    "log_compacted",
    "source_switched",
    "record_applied_after_switch",
    "taken_over",
    "late_write_accepted",
    "late_write_refused",
    "version_swapped",
    "version_dropped",
    "versions_disagree",
    "dictionary_fetched",
    "dictionary_unavailable",
    "recovery_failed",
    "watchdog_fired",
    "completion_reported_twice",
)
