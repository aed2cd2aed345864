"""Which property of a job stands for which published invariant: docs/invariants.md.

`python -m tests.job.properties.invariants` writes the document again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.names import PROPERTIES
from tests.job.buffers.broken import BROKEN
from tests.job.properties.table import BREAKERS, ON_BUFFERS

DOCUMENT = Path(__file__).parents[3] / "docs" / "invariants.md"


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
        "persisted_lies_before_the_barrier",
    ),
    "S3": _row("nothing sent before the barrier is missing", "consistent_cut"),
    "S4": _row(
        "aligned: a channel is not read between its barrier and the trigger",
        "nothing_read_between_barrier_and_trigger",
    ),
    "S5": _row(
        "aligned checkpoints hold nothing in flight, timed-out outputs excepted",
        "aligned_holds_nothing_in_flight",
        "ordered_edges_hold_nothing_in_flight",
        "unaligned_flag_is_true",
        "reported_bytes_are_true",
    ),
    "S6": _row(
        "per task and checkpoint at most one trigger, one abort, no trigger after it",
        "triggered_and_aborted_once",
        "given_up_for_a_cause",
    ),
    "S7": _row("triggered numbers increase per task", "triggered_ids_increase"),
    "S8": _row(
        "a blocked sender is resumed once per block, an unblocked one never",
        "senders_are_resumed_once",
    ),
    "S9": _row("nothing stays blocked after an end or an abort", "no_channel_stays_blocked"),
    "S10": _row(
        "starts and stops alternate per gate, but for a failed start",
        "input_starts_and_stops_in_turn",
    ),
    "S11": _row("begun before started before triggered", "input_starts_and_stops_in_turn"),
    "S12": _row(
        "what is persisted was sent before the channel's barrier",
        "persisted_lies_before_the_barrier",
    ),
    "S13": _row("the persister never goes back to an older checkpoint", "persisted_ids_increase"),
    "S14": _row("priority passes no priority, data keeps its order", "order_is_kept"),
    "S15": _row("a blocked sender sends nothing", "blocked_senders_send_nothing"),
    "S16": _row(
        "how many barriers are needed is fixed when a checkpoint is opened",
        "needed_barriers_stay_fixed",
    ),
    "S17": _row("start delay and duration of an alignment", "alignment_figures_are_sane"),
    "S18": _row(
        "limit of running checkpoints, rising completions, ends that stay",
        "pending_within_limit",
        "completed_ids_increase",
        "ended_checkpoints_stay_ended",
        "savepoints_are_not_subsumed",
    ),
    "S19": _row(
        "side effects only after the completion is stored; words never early",
        "no_commit_before_completion",
        "notified_after_completion",
        "notified_once",
    ),
    "S20": _row(
        "rescaled: each record in flight comes out whole, once, where its key belongs",
        "in_flight_data_is_assigned",
        "records_come_out_whole",
        "keyed_records_reach_their_subtask",
        "records_take_their_channels",
        "restored_checkpoint_is_a_cut",
    ),
    "S21": _row(
        "a watermark waits for all old channels of its channel",
        "end_marks_in_order",
        "no_record_is_late",
        "event_time_follows_inputs",
    ),
    "S22": _row(
        "a shared file of channel state fails for all its subtasks, or for none",
        "files_fail_for_a_cause",
        "writes_are_answered_once",
    ),
    "S23": _row(
        "what a checkpoint records as finished stays finished in those behind it",
        "finished_flags_stay",
        "finished_flags_are_true",
    ),
    "L1": _row("a triggered checkpoint ends within its time-out", "checkpoint_ends_in_time"),
    "L2": _row(
        "no channel stays blocked for ever when barriers, cancellations or ends come",
        "no_channel_stays_blocked",
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
        "writes_are_answered_once",
    ),
    "L6": _row("gates that take in-flight data over ask for their partitions", "job_ends"),
    "L7": _row("ticks continue after any number of failures", "periodic_triggers_go_on"),
}

ENDS: dict[str, Invariant] = {
    "1": _row(
        "records, watermark, EndOfData, EndOfPartition, in this order, the marks once",
        "end_marks_in_order",
    ),
    "2": _row("a stop without drain ends no operator", "no_drain_ends_nothing"),
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
        "at_least_once_output",
        "at_least_once_state",
    ),
    "8": _row(
        "commits only after a completion that covers them, and one end per transaction",
        "no_commit_before_completion",
        "transaction_ends_once",
        "transactions_commit_in_order",
        "transactions_time_out",
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
        "acknowledged_once_when_polled",
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
        "end_of_partition_leaves_at_once",
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
        "end_of_partition_leaves_at_once",
    ),
}

# Properties of a job that no numbered invariant asks for.
OURS: dict[str, str] = {
    "cores_agree_with_their_world": "What a core says of itself is what its world has seen.",
    "failed_tasks_do_nothing": (
        "Nothing of an attempt that is over acts, and no task that has failed."
    ),
    "losses_are_known_in_time": (
        "A silent task manager is missed in its time, before a restart, and once."
    ),
    "parts_are_written_in_time": (
        "A part that waits for nothing else is written in the time of its files."
    ),
    "acknowledgements_arrive": (
        "What a task acknowledges, the coordinator hears of while the checkpoint is under way."
    ),
    "triggers_arrive": (
        "A trigger comes to its task while the checkpoint is under way, and overtakes none."
    ),
    "ready_tasks_run": "A thread that sleeps as time goes on has nothing that it could do.",
    "tasks_fail_for_a_cause": "No handler fails its task but for what it must refuse.",
    "single_channel_keeps_the_clock": "Hazard of released Flink: see `single_channel_clock`.",
    "closed_tasks_leave_nothing_queued": (
        "Hazard of released Flink: see `savepoint_behind_closed_tasks`."
    ),
    "closed_tasks_owe_no_shared_file": (
        "Hazard of released Flink: see `failed_part_of_shared_file`."
    ),
    "given_up_checkpoints_free_channels": (
        "Hazard of released Flink: see `given_up_checkpoint_blocks`."
    ),
    "records_let_triggers_pass": "Hazard of released Flink: see `large_record_blocks`.",
    "restored_watermarks_stay_true": (
        "Hazard of released Flink: see `watermark_outlives_its_share`."
    ),
    "common_index_is_a_line": (
        "By indices no task goes back behind the last one that all have stored."
    ),
    "every_record_is_somewhere": "What was written was sent or is queued, what was sent was read; "
    "a rescale deals out all that was in flight.",
    "pools_stay_within_bounds": "No output has more segments than its pool and the overdraft.",
    "needed_order_is_kept": "Behind forwarded edges what belongs together comes as it was sent, "
    "where that matters.",
    "logs_keep_what_is_needed": (
        "A log is not cut in what the checkpoint replays for whose completion it is cut, and a "
        "log service not behind the checkpoint that a failure goes back to; behind the line of "
        "tasks that take checkpoints by themselves, all that was sent is logged."
    ),
    "restarts_begin_from_the_newest": (
        "A failure goes back to the newest checkpoint, a user also to a savepoint of the attempt."
    ),
    "restarts_have_a_cause": (
        "A strategy is asked of failures alone, deploys nothing early; a loss fails its attempt; "
        "a change that a user asks for is made."
    ),
    "credits_stay_within_bounds": "Data are sent for credit, and each credit has a free buffer.",
}


def table(rows: dict[str, Invariant]) -> list[str]:
    """Return the lines of a table."""
    lines = ["| invariant | what must hold | properties |", "| --- | --- | --- |"]
    for number, row in rows.items():
        names = ", ".join(f"`{name}`" for name in row.properties)
        lines.append(f"| {number} | {row.says} | {names} |")
    return lines


def _names(plane: Plane) -> str:
    """Name the properties that only one plane has."""
    other = Plane.BUFFERS if plane is Plane.RECORDS else Plane.RECORDS
    return ", ".join(f"`{name}`" for name in PROPERTIES[plane] if name not in PROPERTIES[other])


def document() -> str:
    """Return the document."""
    lines = [
        "# Invariants of jobs",
        "",
        "The oracle of a job checks these properties in every run, on both data planes. It sees",
        "all that happens and asks no core. Each property has a run that breaks it and no other:",
        "",
        f"* `tests/job/properties` has {sum(map(len, BREAKERS.values()))} such runs on records.",
        f"* {len(ON_BUFFERS)} of these run on buffers as well.",
        f"* `tests/job/buffers/broken.py` has {len(BROKEN)} more on buffers.",
        "",
        "Some properties exist on one plane only:",
        "",
        "| plane | properties |",
        "| --- | --- |",
        f"| records | {_names(Plane.RECORDS)} |",
        f"| buffers | {_names(Plane.BUFFERS)} |",
        "",
        "`python -m tests.job.properties.invariants` writes this page, and a test compares it.",
        "",
        "## Barriers",
        "",
        "L6 and S20 to S22 concern recovered gates and rescaling. `models/recovery` also has tests",
        "of its own.",
        "",
        *table(BARRIERS),
        "",
        "## Ends of tasks",
        "",
        *table(ENDS),
        "",
        "## Others",
        "",
        "| property | what must hold |",
        "| --- | --- |",
        *[f"| `{name}` | {says} |" for name, says in OURS.items()],
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
