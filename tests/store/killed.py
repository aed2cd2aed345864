"""Which scenario notifies each mutant of the store from the right one."""

from __future__ import annotations

# Mutant -> scenario that shows its fault, and the properties that fail then.
KILLED_BY: dict[str, tuple[str, ...]] = {
    "version_not_in_key": ("s14_versions_and_views_apart", "other_partitions_untouched"),
    "view_not_in_key": ("s14_versions_and_views_apart", "other_partitions_untouched"),
    "checkpoint_first": ("s01_crash_between_data_first", "no_checkpoint_ahead_of_data"),
    "colocated_not_atomic": ("colocated_crashes", "rows_and_checkpoint_agree"),
    "aliases_blobs": ("s01_crash_between_data_first", "callers_cannot_reach_in"),
    "deletes_all_partitions": ("s08_rebootstrap_wiped", "other_partitions_untouched"),
    "drops_all_versions": ("s14_versions_and_views_apart", "other_partitions_untouched"),
    "group_offset_off_by_one": ("group_outage", "checkpoint_reads_back"),
    "ignores_null": ("built_in_fallback", "fallback_uses_one_store"),
    "advances_before_write": ("errored_partition", "errored_partition_is_frozen"),
    "checkpoints_errored_replica": ("s03_failed_write_then_stop", "errored_partition_is_frozen"),
    "advances_and_checkpoints_errored": ("s03_failed_write_then_stop", "content_converges"),
    "never_wipes": ("s08_rebootstrap_wiped", "reset_wipes_first"),
    "redirect_leaks_deletes": ("s08_rebootstrap_wiped", "content_converges"),
    "keeps_no_dictionary": ("dictionary_outage", "version_state_agrees"),
    "counter_reset_by_failure": ("group_outage", "outage_only_delays"),
    "end_of_push_not_kept": (
        "s10_end_of_push_in_checkpoint",
        "checkpoint_is_of_one_instant",
        "input_is_caught_up",
    ),
    "rewinds_on_stop": ("s03_failed_write_then_stop", "checkpoint_never_goes_back"),
    "no_sync_on_stop": ("s05_low_traffic_stopped", "rework_is_bounded"),
    "one_error_stops_all": ("errored_partition", "errored_partition_blocks_nobody"),
    "forgets_last_checkpoint": ("external_crashes", "acknowledged_sync_survives"),
    "flushes_no_deletes": ("external_crashes", "data_is_a_prefix"),
    "mirrors_deleted": ("mirror_with_deletes", "durable_rows_are_the_content"),
    "wipes_before_clearing": ("s07_crash_while_resetting", "content_converges"),
    "reuses_replica": ("s13_reopened_partition", "content_converges"),
    "hangs_on_recovery": ("recovery_fails_once", "recovery_unpauses"),
    "goes_on_beyond_the_log": ("s11_log_lost_its_tail", "content_converges"),
    "forgets_one_slot": (
        "store_switched_and_back",
        "no_checkpoint_ahead_of_data",
        "content_converges",
    ),
    "takes_unreadable_for_none": (
        "newer_release_rolled_back",
        "content_converges",
        "acknowledged_sync_survives",
    ),
    "merges_version_state": ("transfer_from_a_peer", "version_state_agrees"),
    "no_control_sync": ("external_crashes", "syncs_have_a_cause"),
    "counter_not_reset": ("external_crashes", "syncs_have_a_cause"),
    "swaps_early": ("s14_versions_and_views_apart", "swap_only_to_complete_versions"),
    "keeps_dropped_rows": ("s14_versions_and_views_apart", "dropped_versions_leave_nothing"),
}
# Safeguards that the world has no use for: the vectors show what their lack does.
SHOWN_BY_VECTORS = {
    "skips_tamper_check",
    "no_size_limit",
    "syncs_on_segments",
    "threshold_above",
}
