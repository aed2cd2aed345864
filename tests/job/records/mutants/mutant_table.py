"""The table of faulty barrier cores: which scenario distinguishes each from the right one."""

from __future__ import annotations

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.search.trial import Subject, trial
from tests import kills

TIES = ("structural", "random", "pct")

# The mutant's scenario of the library.
SCENARIO_OF: dict[str, str] = {
    "gate_local_lookup": "flink_18139_two_gates",
    "snapshot_one_step_late": "flink_17568_snapshot_at_once",
    "clock_not_started_after_announcement": "flink_24068_end_during_announcement",
    "end_of_partition_aborts": "flink_21086_end_during_alignment",
    "never_times_out": "flink_19681_alignment_timeout",
    "obsolete_barrier_not_resumed": "obsolete_barrier",
    "tracker_stops_any_clock": "flink_23201_tracker_clock",
    "late_barrier_counts": "flink_20645_late_barrier",
    "obsolete_place_kept": "flink_20654_obsolete_barrier",
    "stop_resets_newer": "flink_17994_older_stop",
    "output_never_times_out": "flink_27251_output_timeout",
    "timeoutable_crosses_any_edge": "flink_33693_pointwise_timeout",
    "output_time_out_unreported": "flink_31588_flag_after_output_timeout",
    "early_abort_without_marker": "early_abort",
    "early_abort_unanswered": "flink_28474_abort_before_start",
    "late_abort_closes_writer": "flink_29730_shared_writer",
    "superseded_result_removed": "flink_17869_superseded_writer",
    "write_error_lost": "flink_24667_disk_error",
    "savepoints_subsumed": "savepoint_and_checkpoint",
    "told_before_stored": "slow_store",
}
# What this one lacks shows only where one store is slower than sixteen others. Here all are equal.
SHOWN_BY_CORE = {"slow_stores_forgotten"}


def violated(mutant: str | None, scenario: str, seed: int) -> str | None:
    """Return the first property broken under a seed and the tie policy of its turn."""
    subject = Subject(scenario=by_name(scenario), mutant=mutant)
    rows = trial(subject, seed, TIES[seed % len(TIES)]).violations
    return rows[0].property if rows else None


def first(mutant: str) -> tuple[int, str] | None:
    """Return the first seed that shows a mutant on its scenario, with the property it breaks."""
    return kills.first(violated, mutant, SCENARIO_OF[mutant])
