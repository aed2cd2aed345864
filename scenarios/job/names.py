"""The rare situations and the properties of jobs, by name, as each data plane knows them.

A property is what harms whoever runs a job, or what the protocol promises, in a sentence.
"""

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
    "committed_to_the_table_again",
    "split_lost_on_its_way",
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

# Properties that hold on both planes, in the order in which a reader wants them.
BOTH: Mapping[str, str] = {
    "consistent_cut": (
        "a completed checkpoint has, of each channel, exactly what was sent before the barrier: "
        "in the receiver's state or as in-flight data"
    ),
    "restored_checkpoint_is_a_cut": (
        "after a restore each record that sources had read is in state or in flight, once"
    ),
    "exactly_once_output": "the committed output has each record once when the job has ended",
    "exactly_once_state": "operator state has each record once when the job has ended",
    "at_least_once": (
        "an at-least-once job loses no record, and has none more often than it has had attempts"
    ),
    "no_commit_before_completion": (
        "a sink commits a transaction only after the checkpoint that holds it is complete"
    ),
    "transaction_ends_once": "a transaction is committed or aborted, and only once",
    "transactions_commit_in_order": "a sink commits the transactions of older checkpoints first",
    "aborted_transactions_are_empty_at_close": (
        "a sink that closes aborts no transaction that holds records"
    ),
    "no_transaction_lingers": (
        "no transaction stays open: the sink ends it, or its time-out in the external system"
    ),
    "final_checkpoint_is_asked_for": (
        "the coordinator triggers a final checkpoint when the last task has ended its data"
    ),
    "end_marks_in_order": (
        "a task sends MAX_WATERMARK, EndOfData and EndOfPartition once, in this order and behind "
        "its records, and a stop without drain calls no finish()"
    ),
    "closes_when_all_is_over": (
        "a task closes as soon as, and not before, its inputs have ended, its EndOfData is "
        "acknowledged, its final checkpoint is complete and nothing is being written"
    ),
    "old_notifications_change_nothing": (
        "a notification of a checkpoint from before the restore changes nothing"
    ),
    "restore_is_closed_under_predecessors": (
        "a job restores a vertex as finished only if all vertices before it are finished"
    ),
    "finished_task_leaves_no_records": (
        "a finished task leaves no unprocessed record, and no state in a checkpoint"
    ),
    "plan_reaches_every_running_task": (
        "a checkpoint awaits running tasks alone, and a trigger or a barrier reaches each of them"
    ),
    "checkpoint_ids_increase": (
        "a task takes checkpoints, and the coordinator completes them, in the order of their ids"
    ),
    "union_state_ends_together": (
        "no checkpoint completes while a vertex with union state is finished in part"
    ),
    "job_ends": "a job with bounded input ends, and nothing waits for what never comes",
    "stop_ends": "a stop-with-savepoint ends the job",
    "channels_block_and_resume": (
        "a sender stops behind an aligned barrier, sends nothing until it is resumed, once, and "
        "does not stay blocked behind a checkpoint that has ended"
    ),
    "order_is_kept": "a channel delivers buffers and priority events in the order of sending",
    "output_state_is_settled": (
        "a task always learns what in-flight data its outputs have of a timed-out checkpoint"
    ),
    "input_starts_and_stops_in_turn": (
        "an input gate persists in-flight data from the start of a checkpoint to its end, and "
        "only once its own recovered data has been read"
    ),
    "nothing_read_between_barrier_and_trigger": (
        "a task reads nothing of a channel behind its barrier before it takes the snapshot"
    ),
    "unaligned_barriers_are_taken_next": "an unaligned barrier waits for one record at most",
    "time_out_ends_alignment": "an alignment that has timed out turns unaligned within one record",
    "needed_barriers_stay_fixed": (
        "a checkpoint at a task waits for the channels that were open at its first barrier, no "
        "more and no fewer"
    ),
    "triggered_and_aborted_once": (
        "a task takes a checkpoint or gives it up, once, and does not take it afterwards"
    ),
    "given_up_for_a_cause": (
        "nothing gives up a checkpoint, a savepoint, a stop or a task without a failure"
    ),
    "triggers_are_passed_on": (
        "a task that gets a trigger sends the barrier on, or a CancelCheckpointMarker"
    ),
    "single_channel_keeps_the_clock": (
        "hazard of released Flink: a newer checkpoint takes the clock of an alignment from an "
        "older one that waits (`single_channel_clock`)"
    ),
    "closed_tasks_leave_nothing_queued": (
        "hazard of released Flink: a savepoint lacks what a closed task has queued "
        "(`savepoint_behind_closed_tasks`)"
    ),
    "given_up_checkpoints_free_channels": (
        "hazard of released Flink: channels stay blocked after a checkpoint was aborted "
        "(`given_up_checkpoint_blocks`)"
    ),
    "closed_tasks_owe_no_shared_file": (
        "hazard of released Flink: a subtask waits for ever for the part of a closed one in "
        "their file (`failed_part_of_shared_file`)"
    ),
    "channel_state_writes_are_answered": (
        "each subtask hears once what became of its channel state, which fails only with its "
        "file, an abort or a newer checkpoint"
    ),
    "aligned_holds_nothing_in_flight": (
        "an aligned checkpoint, and an edge on which barriers may not overtake, has no in-flight "
        "data"
    ),
    "reported_figures_are_true": (
        "start delay, alignment duration, persisted bytes and the unaligned flag are as it was"
    ),
    "triggers_keep_their_pace": (
        "periodic triggers neither stop nor break min-pause, and no more checkpoints run at once "
        "than max-concurrent"
    ),
    "ended_checkpoints_stay_ended": (
        "a checkpoint ends once, with all parts or for a reason, and its timer with it"
    ),
    "notified_once": (
        "each task is notified once of the end of each checkpoint, and not before it is stored"
    ),
    "cores_agree_with_their_world": "what a core says of itself is what its world has seen",
    "checkpoint_ends_in_time": "a checkpoint ends within its time-out",
    "buffers_are_accounted_for": (
        "each network buffer and each credit is in one place: no more are used than exist"
    ),
    "finished_flags_are_true": (
        "a checkpoint records as finished what had finished when it was planned, and newer ones "
        "keep it so"
    ),
    "sources_read_to_their_end": "a source that nobody stops ends only when it has read all it has",
    "failed_tasks_do_nothing": "neither a failed task nor an attempt that is over acts",
    "losses_are_known_in_time": (
        "a silent task manager is taken for lost within its heartbeat time-out, and once"
    ),
    "parts_are_written_in_time": (
        "a task's part that waits for nothing else is written in the time of its files"
    ),
    "messages_arrive": (
        "a trigger reaches its task, in order, and an acknowledgement the coordinator"
    ),
    "restarts_begin_from_the_newest": (
        "a restart begins from the newest completed checkpoint that is no savepoint"
    ),
    "restarts_have_a_cause": (
        "a job restarts for a failure that its restart strategy allows, or for its user"
    ),
    "records_take_their_channels": "a record takes the channels that its partitioner says",
}

# Of records that have identities.
RECORDS: Mapping[str, str] = {
    "logs_outlast_checkpoints": (
        "the log of a source has every record that a restart from the newest checkpoint reads"
    ),
    "every_split_has_one_owner": (
        "a restart finds each unread split of a source once, with its enumerator or a reader, and "
        "every split is read"
    ),
    "table_has_completed_checkpoints": (
        "a table that parallel writers share has every file of each completed checkpoint, and none "
        "of records that are written again"
    ),
    "records_come_out_whole": (
        "in-flight data that a rescale deals out finds a channel, and comes out as whole records"
    ),
    "keyed_records_reach_their_subtask": (
        "a keyed record, and keyed state, is at the subtask that owns its key group"
    ),
    "logs_keep_what_is_needed": (
        "a log keeps what the newest checkpoint replays, wherever in-flight data is logged"
    ),
    "needed_order_is_kept": (
        "behind forwarded edges, where order matters, records of a key come as they were sent"
    ),
    "restored_watermarks_stay_true": (
        "hazard of released Flink: a restored watermark passes records of a split that has moved "
        "(`watermark_outlives_its_share`)"
    ),
    "no_record_is_late": (
        "no watermark passes a record that is still to come, and a task sends the watermark that "
        "follows from its inputs"
    ),
    "ready_tasks_run": "no thread sleeps while it has something to do",
    "restored_checkpoint_gives_the_same_output": (
        "a job restored from any retained checkpoint ends with the same output"
    ),
    "common_index_is_a_line": (
        "uncoordinated: no task goes back behind the last index that all have stored"
    ),
}

# Data have no identity there, but take up memory.
BUFFERS: Mapping[str, str] = {
    "every_record_is_somewhere": (
        "what was written was sent or is queued, what was sent was read, and a restore deals out "
        "all that was in flight"
    ),
    "records_let_triggers_pass": (
        "hazard of released Flink: a task inside a record larger than its buffers answers no "
        "trigger (`large_record_blocks`)"
    ),
}

# Names that have gone, and the property that says the same harm now.
RENAMED: Mapping[str, str] = {
    "at_least_once_output": "at_least_once",
    "at_least_once_state": "at_least_once",
    "transactions_time_out": "no_transaction_lingers",
    "no_drain_ends_nothing": "end_marks_in_order",
    "acknowledged_once_when_polled": "end_marks_in_order",
    "end_of_partition_leaves_at_once": "closes_when_all_is_over",
    "completed_ids_increase": "checkpoint_ids_increase",
    "triggered_ids_increase": "checkpoint_ids_increase",
    "persisted_ids_increase": "checkpoint_ids_increase",
    "no_channel_stays_blocked": "channels_block_and_resume",
    "senders_are_resumed_once": "channels_block_and_resume",
    "blocked_senders_send_nothing": "channels_block_and_resume",
    "persisted_lies_before_the_barrier": "consistent_cut",
    "tasks_fail_for_a_cause": "given_up_for_a_cause",
    "savepoints_are_not_subsumed": "given_up_for_a_cause",
    "alignment_figures_are_sane": "reported_figures_are_true",
    "unaligned_flag_is_true": "reported_figures_are_true",
    "reported_bytes_are_true": "reported_figures_are_true",
    "files_fail_for_a_cause": "channel_state_writes_are_answered",
    "writes_are_answered_once": "channel_state_writes_are_answered",
    "ordered_edges_hold_nothing_in_flight": "aligned_holds_nothing_in_flight",
    "pending_within_limit": "triggers_keep_their_pace",
    "periodic_triggers_go_on": "triggers_keep_their_pace",
    "notified_after_completion": "notified_once",
    "credits_stay_within_bounds": "buffers_are_accounted_for",
    "pools_stay_within_bounds": "buffers_are_accounted_for",
    "finished_flags_stay": "finished_flags_are_true",
    "acknowledgements_arrive": "messages_arrive",
    "triggers_arrive": "messages_arrive",
    "in_flight_data_is_assigned": "records_come_out_whole",
    "event_time_follows_inputs": "no_record_is_late",
}

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
