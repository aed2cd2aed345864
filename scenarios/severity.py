"""How bad the violation of a property is: harm comes before the rules that guard against it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum


class Severity(IntEnum):
    """The classes of properties, the worst first. Reports are in this order."""

    DATA = 1
    COMMIT = 2
    RULE = 3
    FIGURE = 4

    @property
    def says(self) -> str:
        """What a violation of a property of this class means."""
        return _SAYS[self]


_SAYS = {
    Severity.DATA: "records are lost, duplicated or restored wrongly",
    Severity.COMMIT: "a commit, a notification or a checkpoint is wrong, and a failure does harm",
    Severity.RULE: "the protocol is not followed",
    Severity.FIGURE: "a reported figure is wrong, or a bound of cost is passed",
}


# The properties of every link by their class. Each one that is not here is a rule of its protocol.
BY_SEVERITY: Mapping[Severity, tuple[str, ...]] = {
    Severity.DATA: (
        # syncs
        "no_record_lost",
        # stores
        "rows_and_checkpoint_agree",
        "data_is_a_prefix",
        "content_converges",
        "other_partitions_untouched",
        "reset_wipes_first",
        "acknowledged_sync_survives",
        "loss_is_noticed",
        "durable_rows_are_the_content",
        # jobs and pipelines
        "restored_checkpoint_is_a_cut",
        "table_has_completed_checkpoints",
        "every_split_has_one_owner",
        "logs_outlast_checkpoints",
        "restores_find_their_files",
        "exactly_once_output",
        "exactly_once_state",
        "at_least_once",
        "finished_task_leaves_no_records",
        "sources_read_to_their_end",
        "records_come_out_whole",
        "keyed_records_reach_their_subtask",
        "logs_keep_what_is_needed",
        "restored_watermarks_stay_true",
        "event_time_ends_with_its_records",
        "restored_checkpoint_gives_the_same_output",
        "every_record_is_somewhere",
    ),
    Severity.COMMIT: (
        "resume_is_monotone",
        "no_premature_acknowledgement",
        "snapshot_claims_are_durable",
        "releases_are_a_prefix",
        "released_at_most_once",
        "released_states_are_unchanged",
        "no_checkpoint_ahead_of_data",
        "checkpoint_reads_back",
        "checkpoint_never_goes_back",
        "checkpoint_is_of_one_instant",
        "swap_only_to_complete_versions",
        "reported_records_are_durable",
        "consistent_cut",
        "common_index_is_a_line",
        "no_commit_before_completion",
        "transaction_ends_once",
        "transactions_commit_in_order",
        "aborted_transactions_are_empty_at_close",
        "no_transaction_lingers",
        "old_notifications_change_nothing",
        "notified_once",
    ),
    Severity.FIGURE: (
        "counts_are_true",
        "no_counters_left",
        "rework_is_bounded",
        "reported_figures_are_true",
        "single_channel_keeps_the_clock",
    ),
}

_OF = {name: severity for severity, names in BY_SEVERITY.items() for name in names}

# What looks on at runs of every link has these, which may be declined as well.
OF_EVERY_LINK: tuple[str, ...] = ("the_scenario_completes", "a_host_does_its_duty")
# They say that a run ends well. The first of `OF_EVERY_LINK` says so of drawn scenarios.
ENDS: tuple[str, ...] = ("sync_completes", "input_is_caught_up", "job_ends", "stop_ends")


def severity_of(name: str) -> Severity:
    """Return the class of a property. One that is not ours is a rule, the one of its user."""
    return _OF.get(name, Severity.RULE)
