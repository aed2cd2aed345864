"""The rare situations and the properties of jobs, by name, as each data plane knows them."""

from __future__ import annotations

from collections.abc import Mapping

from ckptsim.scenarios.job.graph.planes import Plane

_RECORDS_GOALS = (
    "barrier_overtook_records",
    "completed_between_end_of_data_and_acknowledgement",
    "completed_after_lost_notification",
    "closed_on_second_of_three_final_checkpoints",
    "ended_with_mixed_stop_modes",
    "closed_on_repeated_completion",
    "declined_because_closing",
    "declined_because_unknown",
    "declined_because_not_ready",
    "restored_fully_finished",
    "restored_partly_finished",
    "restore_refused",
    "restored_rescaled",
    "record_filtered",
    "declined_during_recovery",
    "offset_lost",
    "stopped_under_backlog_drain",
    "stopped_under_backlog_no_drain",
    "timed_out_in_input",
    "timed_out_in_output",
    "cancelled_by_announcement_only",
    "subsumed",
    "expired",
    "credit_starved",
    "channel_state_failed",
    "restarted",
    "restarts_used_up",
    "left_to_the_external_system",
    "transaction_timed_out",
    "triggered_by_remote_call_below_finished",
    "immediate_final_checkpoint",
    "failed_after_stop_savepoint",
)

_BUFFERS_GOALS = (
    "overtook_buffers",
    "overtook_ten_buffers",
    "timed_out_in_input",
    "timed_out_in_output",
    "cancelled_by_announcement_only",
    "subsumed",
    "credit_starvation",
    "overdraft_used",
    "debloat_changed_size",
    "back_pressured",
    "end_of_data",
    "expired",
    "declined",
    "state_failed",
    "channel_state_failed",
    "late_acknowledgement",
    "triggered_by_remote_call_below_finished",
    "savepoint_completed",
    "left_to_the_external_system",
    "transaction_timed_out",
    "stopped_under_backlog_drain",
    "stopped_under_backlog_no_drain",
    "restored_fully_finished",
    "restored_partly_finished",
    "restore_refused",
    "restored_rescaled",
    "record_filtered",
    "restarted",
    "restarts_used_up",
    "immediate_final_checkpoint",
    "failed_after_stop_savepoint",
)

# Properties that hold on both planes; then what only one of them can have.
_PROPERTIES = (
    "consistent_cut",
    "restored_checkpoint_is_a_cut",
    "exactly_once_output",
    "exactly_once_state",
    "at_least_once_output",
    "no_commit_before_completion",
    "transaction_ends_once",
    "aborted_transactions_are_empty_at_close",
    "no_transaction_lingers",
    "final_checkpoint_is_asked_for",
    "end_marks_in_order",
    "no_drain_ends_nothing",
    "acknowledged_once_when_polled",
    "closes_when_all_is_over",
    "end_of_partition_leaves_at_once",
    "old_notifications_change_nothing",
    "restore_is_closed_under_predecessors",
    "finished_task_leaves_no_records",
    "plan_reaches_every_running_task",
    "completed_ids_increase",
    "union_state_ends_together",
    "job_ends",
    "at_least_once_state",
    "no_channel_stays_blocked",
    "senders_are_resumed_once",
    "blocked_senders_send_nothing",
    "order_is_kept",
    "persisted_lies_before_the_barrier",
    "persisted_ids_increase",
    "output_state_is_settled",
    "input_starts_and_stops_in_turn",
    "nothing_read_between_barrier_and_trigger",
    "unaligned_barriers_are_taken_next",
    "time_out_ends_alignment",
    "needed_barriers_stay_fixed",
    "triggered_and_aborted_once",
    "triggered_ids_increase",
    "given_up_for_a_cause",
    "triggers_are_passed_on",
    "tasks_fail_for_a_cause",
    "single_channel_keeps_the_clock",
    "closed_tasks_leave_nothing_queued",
    "alignment_figures_are_sane",
    "files_fail_for_a_cause",
    "writes_are_answered_once",
    "aligned_holds_nothing_in_flight",
    "ordered_edges_hold_nothing_in_flight",
    "unaligned_flag_is_true",
    "reported_bytes_are_true",
    "pending_within_limit",
    "ended_checkpoints_stay_ended",
    "savepoints_are_not_subsumed",
    "notified_after_completion",
    "notified_once",
    "cores_agree_with_their_world",
    "periodic_triggers_go_on",
    "checkpoint_ends_in_time",
)

_RECORDS_PROPERTIES = (
    "in_flight_data_is_assigned",
    "records_come_out_whole",
    "keyed_records_reach_their_subtask",
    "restored_checkpoint_gives_the_same_output",
    "stop_ends",
)

# Data have no identity there, but take up memory.
_BUFFERS_PROPERTIES = (
    "every_record_is_somewhere",
    "pools_stay_within_bounds",
    "credits_stay_within_bounds",
)

GOALS: Mapping[Plane, tuple[str, ...]] = {
    Plane.RECORDS: _RECORDS_GOALS,
    Plane.BUFFERS: _BUFFERS_GOALS,
}
PROPERTIES: Mapping[Plane, tuple[str, ...]] = {
    Plane.RECORDS: _PROPERTIES + _RECORDS_PROPERTIES,
    Plane.BUFFERS: _PROPERTIES + _BUFFERS_PROPERTIES,
}

ALL_GOALS = tuple(dict.fromkeys(goal for goals in GOALS.values() for goal in goals))
ALL_PROPERTIES = tuple(dict.fromkeys(name for names in PROPERTIES.values() for name in names))
