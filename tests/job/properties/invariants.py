"""Which property of a job represents which published invariant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Invariant:
    """What must hold, and the properties that break when it does not."""

    says: str
    properties: tuple[str, ...]


def _row(says: str, *properties: str) -> Invariant:
    return Invariant(says, properties)


BARRIERS: dict[str, Invariant] = {
    "S1": _row(
        "a channel's records: processed, in state or behind the barrier; each once, in order",
        "consistent_cut",
        "order_is_kept",
    ),
    "S2": _row(
        "nothing sent after the barrier is in the state",
        "consistent_cut",
    ),
    "S3": _row("nothing sent before the barrier is missing", "consistent_cut"),
    "S4": _row(
        "aligned: a channel is not read between its barrier and the trigger",
        "nothing_read_between_barrier_and_trigger",
    ),
    "S5": _row(
        "aligned checkpoints hold nothing in flight, timed-out outputs excepted",
        "aligned_holds_nothing_in_flight",
        "reported_figures_are_true",
    ),
    "S6": _row(
        "per task and checkpoint at most one trigger, one abort, no trigger after it",
        "triggered_and_aborted_once",
        "given_up_for_a_cause",
    ),
    "S7": _row("triggered numbers increase per task", "checkpoint_ids_increase"),
    "S8": _row(
        "a blocked sender is resumed once per block, an unblocked one never",
        "channels_block_and_resume",
    ),
    "S9": _row("nothing stays blocked after an end or an abort", "channels_block_and_resume"),
    "S10": _row(
        "starts and stops alternate per gate, but for a failed start",
        "input_starts_and_stops_in_turn",
    ),
    "S11": _row("begun before started before triggered", "input_starts_and_stops_in_turn"),
    "S12": _row(
        "what is persisted was sent before the channel's barrier",
        "consistent_cut",
    ),
    "S13": _row("the persister never goes back to an older checkpoint", "checkpoint_ids_increase"),
    "S14": _row("priority passes no priority, data keeps its order", "order_is_kept"),
    "S15": _row("a blocked sender sends nothing", "channels_block_and_resume"),
    "S16": _row(
        "how many barriers are needed is fixed when a checkpoint is opened",
        "needed_barriers_stay_fixed",
    ),
    "S17": _row("start delay and duration of an alignment", "reported_figures_are_true"),
    "S18": _row(
        "limit of running checkpoints, rising completions, ends that stay",
        "triggers_keep_their_pace",
        "checkpoint_ids_increase",
        "ended_checkpoints_stay_ended",
        "given_up_for_a_cause",
    ),
    "S19": _row(
        "side effects only after the completion is stored; words never early",
        "no_commit_before_completion",
        "notified_once",
    ),
    "S20": _row(
        "rescaled: each record in flight comes out whole, once, where its key belongs",
        "records_come_out_whole",
        "keyed_records_reach_their_subtask",
        "records_take_their_channels",
        "restored_checkpoint_is_a_cut",
    ),
    "S21": _row(
        "a watermark waits for all old channels of its channel",
        "end_marks_in_order",
        "no_record_is_late",
    ),
    "S22": _row(
        "a shared file of channel state fails for all its subtasks, or for none",
        "channel_state_writes_are_answered",
    ),
    "S23": _row(
        "what a checkpoint records as finished stays finished in those behind it",
        "finished_flags_are_true",
    ),
    "L1": _row("a triggered checkpoint ends within its time-out", "checkpoint_ends_in_time"),
    "L2": _row(
        "no channel stays blocked for ever when barriers, cancellations or ends come",
        "channels_block_and_resume",
        "triggers_are_passed_on",
        "job_ends",
    ),
    "L3": _row(
        "an unaligned barrier is taken within one record", "unaligned_barriers_are_taken_next"
    ),
    "L4": _row("a time-out ends the alignment within one record", "time_out_ends_alignment"),
    "L5": _row(
        "the output's part of a timeoutable checkpoint is always settled",
        "output_state_is_settled",
        "channel_state_writes_are_answered",
    ),
    "L6": _row("gates that take in-flight data over ask for their partitions", "job_ends"),
    "L7": _row("ticks continue after any number of failures", "triggers_keep_their_pace"),
}

ENDS: dict[str, Invariant] = {
    "1": _row(
        "records, watermark, EndOfData, EndOfPartition, in this order, the marks once",
        "end_marks_in_order",
    ),
    "2": _row("a stop without drain ends no operator", "end_marks_in_order"),
    "3": _row(
        "endInput and finish once, in order, nothing processed after finish", "end_marks_in_order"
    ),
    "4": _row("a task closes when nothing is open", "closes_when_all_is_over"),
    "5": _row("only a checkpoint performed after EndOfData is final", "closes_when_all_is_over"),
    "6": _row("a finished task leaves no unprocessed record", "finished_task_leaves_no_records"),
    "7": _row(
        "every record is covered when the job ends; the output has each once",
        "sources_read_to_their_end",
        "exactly_once_output",
        "exactly_once_state",
        "at_least_once",
    ),
    "8": _row(
        "commits only after a completion that covers them, and one end per transaction",
        "no_commit_before_completion",
        "transaction_ends_once",
        "transactions_commit_in_order",
        "no_transaction_lingers",
    ),
    "9": _row(
        "what is aborted at close, or lingers, is empty",
        "aborted_transactions_are_empty_at_close",
        "no_transaction_lingers",
    ),
    "10": _row(
        "nobody finished is awaited, somebody is; finished operators have no state",
        "plan_reaches_every_running_task",
        "finished_task_leaves_no_records",
    ),
    "11": _row(
        "whom a plan triggers it awaits, and every running task is reached",
        "plan_reaches_every_running_task",
    ),
    "12": _row("union state ends in one checkpoint", "union_state_ends_together"),
    "13": _row(
        "what a restore takes for finished is closed under predecessors",
        "restore_is_closed_under_predecessors",
    ),
    "14": _row(
        "any completed checkpoint, restored, gives the same output",
        "restored_checkpoint_is_a_cut",
        "restored_checkpoint_gives_the_same_output",
    ),
    "15": _row(
        "one acknowledgement per channel, after its EndOfData was polled",
        "end_marks_in_order",
    ),
    "16": _row(
        "words of what a task was restored from change nothing", "old_notifications_change_nothing"
    ),
    "17": _row(
        "a stop without drain and a replay from its savepoint equal an uninterrupted run",
        "restored_checkpoint_gives_the_same_output",
    ),
    "18": _row(
        "a task that waits for nothing any more closes",
        "closes_when_all_is_over",
        "job_ends",
    ),
    "19": _row("EndOfData comes everywhere and is acknowledged", "job_ends"),
    "20": _row("a job with bounded sources ends", "job_ends", "final_checkpoint_is_asked_for"),
    "21": _row("a checkpoint never hangs", "checkpoint_ends_in_time"),
    "22": _row(
        "hazard: a lost word costs one checkpoint, but a stop never ends", "job_ends", "stop_ends"
    ),
    "23": _row(
        "EndOfPartition leaves at once, whatever is queued elsewhere",
        "closes_when_all_is_over",
    ),
}
