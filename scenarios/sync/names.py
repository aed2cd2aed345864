"""Names that a scenario of a sync may ask for: properties, and situations that occur sometimes."""

from __future__ import annotations

PROPERTIES: dict[str, str] = {
    "no_premature_acknowledgement": (
        "when a state is sent, every record that it is the first to claim is durable or rejected"
    ),
    "releases_without_gaps": "the indexes sent in a scope are 1, 2, 3, ... without a gap",
    "releases_are_a_prefix": "the sent states are a prefix of the source's states of that scope",
    "released_at_most_once": "no index of a scope is sent again in an attempt after its return",
    "failed_send_changes_nothing": "after a failed send the core holds what it held before",
    "released_states_are_unchanged": "payload, id and count are sent as they were received",
    "one_kind_per_attempt": "an attempt sends stream states or global states, never both",
    "counts_are_true": "destination counts and running totals match the durable records",
    "readers_have_their_own": "each reader has a connection and, on sockets, a socket to itself",
    "records_have_one_owner": "each record counts for exactly one id of its own stream",
    "durable_never_exceeds_read": "no id has more durable records than were read for it",
    "closing_is_orderly": "streams end after their last record, success needs all of them",
    "no_record_lost": "at the end of a completed sync every record of the source is durable",
    "resume_is_monotone": "no attempt starts before what an earlier attempt acknowledged",
    "release_is_deterministic": "the released states do not depend on the interleaving",
    "snapshot_claims_are_durable": "a state repeats no position without durable records",
    "every_state_is_released": "a flush sends every ready state",
    "run_ends_with_a_reason": "a run ends in bounded time, well or with a reason",
    "sync_completes": "once faults have stopped, the sync completes",
    "flood_does_not_block_data": "states that fill their memory do not stop later records",
    "no_flush_request_lost": "a flush asked for during a flush has its effect after it",
    "no_counters_left": "counters of released ids are bounded when an attempt ends well",
}

# Promises that a design does not make. Harm is judged all the same.
DECLINED: dict[str, frozenset[str]] = {
    "indexes": frozenset(),
    "arrival": frozenset({"release_is_deterministic"}),
    "ranges": frozenset(
        {
            "records_have_one_owner",
            "counts_are_true",
            "release_is_deterministic",
            "every_state_is_released",
            "no_flush_request_lost",
        }
    ),
}

# Counted, so that a green run is known to have met them.
GOALS: tuple[str, ...] = (
    "state_before_its_records",
    "state_after_its_records",
    "state_on_other_socket",
    "release_blocked_by_predecessor",
    "states_freed_together",
    "empty_state",
    "stale_entry_repeated",
    "rejected_records",
    "interval_counts_differ",
    "pipe_full",
    "state_memory_exhausted",
    "flush_requested_during_send",
    "send_failed",
    "send_failed_at_end",
    "retry_after_failed_send",
    "upload_failed",
    "uploads_reordered",
    "id_collision",
    "partition_generated_while_read",
    "reader_cut_off",
    "reader_failed",
    "final_drain_skipped",
    "global_checkpoints_swapped",
    "missing_state_taken_for_finished",
    "source_crashed",
    "destination_crashed",
    "crash_between_send_and_acknowledgement",
    "attempt_failed",
    "attempt_failed_undisturbed",
    "attempt_restarted",
    "records_redelivered",
    "input_refused",
    "counts_differ",
    "state_rejected",
    "silence",
    "gave_up",
)
