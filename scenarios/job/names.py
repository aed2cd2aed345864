"""The rare situations and the properties of jobs, by name, as each data plane knows them."""

from __future__ import annotations

from collections.abc import Mapping

from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.properties import BOTH, BUFFERS, RECORDS

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
    "checkpoint_forced",
    "rolled_back_behind_a_checkpoint",
    "record_filtered",
    "watermark_passed_an_idle_input",
    "declined_during_recovery",
    "offset_lost",
    "memory_lent",
    "rescale_refused",
    "stopped_under_backlog_drain",
    "stopped_under_backlog_no_drain",
    "timed_out_in_input",
    "timed_out_in_output",
    "cancelled_by_announcement_only",
    "subsumed",
    "request_dropped",
    "expired",
    "credit_starved",
    "channel_state_failed",
    "restarted",
    "restarts_used_up",
    "lost_by_heartbeat",
    "resubmitted",
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
    "lost_by_heartbeat",
    "resubmitted",
    "immediate_final_checkpoint",
    "failed_after_stop_savepoint",
)

GOALS: Mapping[Plane, tuple[str, ...]] = {
    Plane.RECORDS: _RECORDS_GOALS,
    Plane.BUFFERS: _BUFFERS_GOALS,
}
PROPERTIES: Mapping[Plane, tuple[str, ...]] = {
    Plane.RECORDS: (*BOTH, *RECORDS),
    Plane.BUFFERS: (*BOTH, *BUFFERS),
}

ALL_GOALS = tuple(dict.fromkeys(goal for goals in GOALS.values() for goal in goals))
ALL_PROPERTIES = (*BOTH, *RECORDS, *BUFFERS)
