"""The rare situations and the properties of jobs, by name, as each data plane knows them.

A property is what harms anyone who runs a job, or what the protocol promises, in a sentence.
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
    "emitted_after_cancel",
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
        "a completed checkpoint has exactly the data before the barrier, as state or in flight"
    ),
    "restored_checkpoint_is_a_cut": (
        "after a restore each record that sources had read is in state or in flight, once"
    ),
    "exactly_once_output": "the committed output has each record once when the job has ended",
    "exactly_once_state": "operator state has each record once when the job has ended",
    "at_least_once": (
        "an at-least-once job loses no record, and repeats none more often than it was restarted"
    ),
    "no_commit_before_completion": (
        "a sink commits a transaction only after its checkpoint is complete"
    ),
    "transaction_ends_once": "a transaction is committed or aborted, and only once",
    "transactions_commit_in_order": "a sink commits the transactions of older checkpoints first",
    "aborted_transactions_are_empty_at_close": (
        "a sink that closes aborts no transaction that holds records"
    ),
    "no_transaction_lingers": (
        "each transaction ends: by its sink, or by its time-out in the external system"
    ),
    "final_checkpoint_is_asked_for": (
        "the coordinator triggers a final checkpoint when the last task ends its data"
    ),
    "end_marks_in_order": (
        "a task sends MAX_WATERMARK, EndOfData and EndOfPartition once, in this order, "
        "after its records"
    ),
    "closes_when_all_is_over": (
        "a task closes when its inputs, its EndOfData, its final checkpoint and its writes are done"
    ),
    "old_notifications_change_nothing": (
        "a notification of a checkpoint from before the restore changes nothing"
    ),
    "restore_is_closed_under_predecessors": (
        "a job restores a vertex as finished only if all its predecessors are finished"
    ),
    "finished_task_leaves_no_records": (
        "a finished task leaves no unprocessed record, and no state in a checkpoint"
    ),
    "plan_reaches_every_running_task": (
        "a checkpoint awaits only running tasks, and a trigger or a barrier reaches each of them"
    ),
    "checkpoint_ids_increase": (
        "tasks take checkpoints, and the coordinator completes them, in the order of their ids"
    ),
    "union_state_ends_together": (
        "no checkpoint completes while a vertex with union state is finished in part"
    ),
    "job_ends": "a job with bounded input ends",
    "stop_ends": "a stop-with-savepoint ends the job",
    "channels_block_and_resume": "an aligned barrier blocks its sender until it is resumed, once",
    "order_is_kept": "a channel delivers buffers and priority events in the order of sending",
    "output_state_is_settled": (
        "a task always learns the in-flight data of its outputs in a timed-out checkpoint"
    ),
    "input_starts_and_stops_in_turn": (
        "an input gate persists in-flight data from the start of a checkpoint to its end"
    ),
    "nothing_read_between_barrier_and_trigger": (
        "a task reads nothing after a barrier before it takes the snapshot"
    ),
    "unaligned_barriers_are_taken_next": "an unaligned barrier waits for one record at most",
    "time_out_ends_alignment": "an alignment that has timed out turns unaligned within one record",
    "needed_barriers_stay_fixed": (
        "a checkpoint waits for the channels that were open at its first barrier"
    ),
    "triggered_and_aborted_once": "a task takes a checkpoint or aborts it, once",
    "given_up_for_a_cause": "checkpoints, savepoints, stops and tasks fail only after a failure",
    "triggers_are_passed_on": (
        "a task that gets a trigger forwards the barrier, or a CancelCheckpointMarker"
    ),
    "single_channel_keeps_the_clock": (
        "hazard of released Flink: a newer checkpoint stops the alignment clock of an "
        "older one (`single_channel_clock`)"
    ),
    "closed_tasks_leave_nothing_queued": (
        "hazard of released Flink: a savepoint lacks the queued data of a closed task "
        "(`savepoint_behind_closed_tasks`)"
    ),
    "given_up_checkpoints_free_channels": (
        "hazard of released Flink: channels stay blocked after a checkpoint was aborted "
        "(`given_up_checkpoint_blocks`)"
    ),
    "closed_tasks_owe_no_shared_file": (
        "hazard of released Flink: a shared file waits forever for the part of a closed "
        "subtask (`failed_part_of_shared_file`)"
    ),
    "channel_state_writes_are_answered": "each write of channel state gets one answer",
    "aligned_holds_nothing_in_flight": (
        "aligned checkpoints, and edges without overtaking, have no in-flight data"
    ),
    "reported_figures_are_true": (
        "start delay, alignment duration, persisted bytes and the unaligned flag are right"
    ),
    "triggers_keep_their_pace": "periodic triggers continue, and keep min-pause and max-concurrent",
    "ended_checkpoints_stay_ended": "a checkpoint ends once, and its timer with it",
    "notified_once": "each task is notified once of the end of each checkpoint, after it is stored",
    "cores_agree_with_their_world": "the answers of a core agree with its world",
    "checkpoint_ends_in_time": "a checkpoint ends within its time-out",
    "buffers_are_accounted_for": "each network buffer and each credit is in one place",
    "finished_flags_are_true": (
        "a checkpoint records exactly the tasks that had finished when it was planned"
    ),
    "sources_read_to_their_end": "a source that is not stopped reads all of its input",
    "failed_tasks_do_nothing": "failed tasks and ended attempts do nothing",
    "losses_are_known_in_time": "a silent task manager is lost after its heartbeat time-out, once",
    "parts_are_written_in_time": (
        "a part that waits for nothing else is written in the time of its files"
    ),
    "messages_arrive": "triggers reach their tasks in order, and acknowledgements the coordinator",
    "restarts_begin_from_the_newest": (
        "a restart begins from the newest completed checkpoint that is no savepoint"
    ),
    "restarts_have_a_cause": (
        "a job restarts for a failure that its strategy allows, or for its user"
    ),
    "records_take_their_channels": "a record takes the channels of its partitioner",
}

# Of records that have identities.
RECORDS: Mapping[str, str] = {
    "logs_outlast_checkpoints": (
        "the log of a source has every record that a restart from the newest checkpoint reads"
    ),
    "restores_find_their_files": "a restore finds every file that its checkpoint names",
    "every_split_has_one_owner": (
        "a restart finds each unread split of a source once, with its enumerator or a reader, and "
        "every split is read"
    ),
    "table_has_completed_checkpoints": (
        "a table that parallel writers share has every file of each completed checkpoint, and none "
        "of records that are written again"
    ),
    "records_come_out_whole": (
        "rescaled in-flight data finds a channel, and comes out as whole records"
    ),
    "keyed_records_reach_their_subtask": (
        "keyed records and keyed state are at the subtask that owns their key group"
    ),
    "logs_keep_what_is_needed": (
        "a log of in-flight data keeps all that the newest checkpoint replays"
    ),
    "needed_order_is_kept": (
        "after forwarded edges, where order matters, records of a key keep their order"
    ),
    "restored_watermarks_stay_true": (
        "hazard of released Flink: a restored watermark passes records of a split that "
        "has moved (`watermark_outlives_its_share`)"
    ),
    "event_time_ends_with_its_records": (
        "hazard of released Flink: finished inputs end event time while idle ones still have "
        "records (`finished_and_idle`)"
    ),
    "no_record_is_late": "no watermark passes a record that is still to come",
    "ready_tasks_run": "no thread sleeps while it has work",
    "restored_checkpoint_gives_the_same_output": (
        "a job restored from any retained checkpoint ends with the same output"
    ),
    "common_index_is_a_line": (
        "uncoordinated: no task goes back past the last index that all have stored"
    ),
}

# Data have no identity there, but take up memory.
BUFFERS: Mapping[str, str] = {
    "every_record_is_somewhere": (
        "every record is sent or queued, read or in flight, and restored once"
    ),
    "records_let_triggers_pass": (
        "hazard of released Flink: a task inside a record larger than its buffers "
        "answers no trigger (`large_record_blocks`)"
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
ALL_PROPERTIES: dict[str, str] = {**BOTH, **RECORDS, **BUFFERS}
