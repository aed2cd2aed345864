"""How the trace of a job reads: what both data planes have, and what each has besides."""

from __future__ import annotations

from ckptsim.sim.story import Telling, Vocabulary

CONTROL: Vocabulary = {
    "triggered": Telling(
        "triggers checkpoint {index}, {kind}", "index kind", begins="checkpoint:index"
    ),
    "declined": Telling("declines checkpoint {index}: {reason}", "index reason"),
    "aborted": Telling(
        "aborts checkpoint {index}: {reason}", "index reason", ends="checkpoint:index"
    ),
    "precommitted": Telling(
        "pre-commits a transaction for checkpoint {index}; opens another: {successor}",
        "index successor",
    ),
    "committed": Telling("commits what checkpoint {index} pre-committed", "index"),
    "dropped": Telling("aborts its transaction of checkpoint {which}", "which"),
    "left": Telling("leaves its transaction of checkpoint {index} pre-committed", "index"),
    "recommitted": Telling("commits {name} again, which its restored state has pending", "name"),
    "reaborted": Telling("aborts {name}, which its restored state has open", "name"),
    "unknown": Telling("leaves {name} to the external system: no restored state has it", "name"),
    "timed_out": Telling("loses {name}: the external system has waited too long", "name"),
    "called": Telling("calls {what} of operator {operator}", "what operator"),
    "told": Telling("tells operator {operator}: {what} {number}", "what operator number"),
    "gate_ended": Telling("has come to the end of input {number}", "number"),
    "task_state": Telling("is now {state}", "state"),
    "finished": Telling("has finished", always=True),
    "canceled": Telling("is cancelled by its user", always=True),
    "failed": Telling("fails: {cause}", "cause", always=True),
    "restored": Telling("restarts from checkpoint {index}", "index", always=True),
    "stalled": Telling("does nothing for {lasts_ns}", "lasts_ns", always=True),
    "violated": Telling("property {name} does not hold: {says}", "name says", always=True),
}

RECORDS: Vocabulary = {
    **CONTROL,
    "log_acknowledged": Telling("acknowledges {records} records of split {split}", "split records"),
    "split_assigned": Telling(
        "assigns split {split} to reader {reader}; it gets lost: {lost}", "split reader lost"
    ),
    "no_more_splits": Telling("has no more splits for reader {reader}", "reader"),
    "splits_kept": Telling("keeps {count} splits in checkpoint {index}", "index count"),
    "handed_over": Telling(
        "sends {count} files of checkpoint {index} to the global committer", "index count"
    ),
    "row_persisted": Telling("persists {count} files of checkpoint {index}", "index count"),
    "row_acknowledged": Telling("acknowledges the files of checkpoint {index}", "index"),
    "rewinds": Telling("lets writer {writer} begin after checkpoint {index}", "writer index"),
    "committed_together": Telling(
        "commits {count} files of checkpoint {index} to the table", "index count", always=True
    ),
    "performed": Telling("takes its snapshot of checkpoint {index}", "index"),
    "acknowledged": Telling("has acknowledged checkpoint {index}", "index bytes state_bytes"),
    "completed": Telling(
        "completes checkpoint {index}", "index duration_ns", ends="checkpoint:index"
    ),
    "skipped": Telling("skips the trigger of checkpoint {index}: it comes too late", "index"),
    "ignored": Telling(
        "ignores the completion of checkpoint {index}: it is behind {newer}", "index newer"
    ),
    "end_of_data_acknowledged": Telling("has its EndOfData acknowledged by {receiver}", "receiver"),
    "took": Telling(
        "takes its own checkpoint {number}, index {index}; forced by a message: {forced}",
        "number index forced",
    ),
    "checkpoint_stored": Telling("has stored its checkpoint {number}", "number"),
    "snapshot_failed": Telling("could not store its checkpoint {number}", "number"),
    "rolled_back": Telling("goes back behind its checkpoint {number}", "number"),
    "event_time_over": Telling(
        "takes a record, though its event time is at its end since {since_ns}: all other inputs "
        "had sent their final watermark while this one was idle",
        "since_ns",
        always=True,
    ),
    "output": Telling("committed output of {sink} has digest {digest}", "sink digest"),
}

BUFFERS: Vocabulary = {
    **CONTROL,
    "barrier": Telling(
        says="takes the barrier of checkpoint {index} from channel {channel} ({kind})",
        fields="index channel kind",
    ),
    "announced": Telling(
        says="gets the announcement of the barrier of checkpoint {index} in channel {channel}",
        fields="index channel",
    ),
    "cancelled": Telling(
        says="gets the cancellation of checkpoint {index} from channel {channel}",
        fields="index channel",
    ),
    "sent_barrier": Telling(
        says="sends the barrier of checkpoint {index}, {overtaken} buffers overtaken",
        fields="index overtaken",
    ),
    "snapshot": Telling(
        says="takes its snapshot of checkpoint {index} after {records} records",
        fields="index records start_delay_ns unaligned",
        begins="upload:index,here",
    ),
    "aligned": Telling(
        says="has aligned checkpoint {index} in {duration_ns}, {bytes} meanwhile",
        fields="index duration_ns bytes",
    ),
    "acknowledged": Telling(
        says="has acknowledged checkpoint {index}: {bytes} in flight, {state_bytes} of state",
        fields="index bytes state_bytes",
        ends="upload:index,here",
    ),
    "passed_over": Telling(
        says="{lasts_ns} are not simulated: the job repeats itself", fields="lasts_ns", always=True
    ),
    "completed": Telling(
        says="completes checkpoint {index} after {duration_ns}",
        fields="index duration_ns",
        ends="checkpoint:index",
    ),
}
