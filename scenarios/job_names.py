"""The rare situations and the properties of jobs, by name."""

from __future__ import annotations

GOALS = (
    "barrier_overtook_records",
    "completed_between_end_of_data_and_acknowledgement",
    "completed_after_lost_notification",
    "declined_because_closing",
    "restored_fully_finished",
    "restored_partly_finished",
    "stopped_under_backlog_drain",
    "stopped_under_backlog_no_drain",
    "timed_out_in_input",
    "timed_out_in_output",
    "cancelled_by_announcement_only",
    "subsumed",
    "expired",
    "credit_starved",
    "restarted",
    "triggered_by_remote_call_below_finished",
    "immediate_final_checkpoint",
    "failed_after_stop_savepoint",
)

PROPERTIES = (
    "consistent_cut",
    "exactly_once_output",
    "exactly_once_state",
    "at_least_once_output",
    "no_commit_before_completion",
    "transaction_ends_once",
    "aborted_transactions_are_empty_at_close",
    "end_marks_in_order",
    "finished_task_leaves_no_records",
    "plan_reaches_every_running_task",
    "completed_ids_increase",
    "union_state_ends_together",
    "restored_checkpoint_gives_the_same_output",
    "job_ends",
    "stop_ends",
    "no_channel_stays_blocked",
    "checkpoint_ends_in_time",
)
