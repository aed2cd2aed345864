"""Runs of jobs that break one property each, and nothing else: on records, many on buffers as well.

A run on buffers is of the same scenario; what breaks on buffers in other ways stands in
`tests/job/buffers/broken.py`.
"""

from __future__ import annotations

from tests.job.properties.barriers import BARRIERS
from tests.job.properties.breaker import Breaker
from tests.job.properties.ends import ENDS

BREAKERS: dict[str, tuple[Breaker, ...]] = ENDS | BARRIERS

# Which of a property's runs breaks it, and nothing else, on buffers as well.
ON_BUFFERS: dict[str, int] = {
    "job_ends": 1,
    "stop_ends": 1,
    "no_transaction_lingers": 0,
    "final_checkpoint_is_asked_for": 0,
    "no_drain_ends_nothing": 0,
    "union_state_ends_together": 0,
    "savepoints_are_not_subsumed": 0,
    "no_commit_before_completion": 0,
    "transaction_ends_once": 0,
    "transactions_commit_in_order": 0,
    "transactions_time_out": 0,
    "end_marks_in_order": 0,
    "acknowledged_once_when_polled": 0,
    "plan_reaches_every_running_task": 0,
    "no_channel_stays_blocked": 0,
    "senders_are_resumed_once": 0,
    "blocked_senders_send_nothing": 0,
    "order_is_kept": 1,
    "persisted_ids_increase": 0,
    "input_starts_and_stops_in_turn": 0,
    "output_state_is_settled": 0,
    "nothing_read_between_barrier_and_trigger": 0,
    "unaligned_barriers_are_taken_next": 0,
    "time_out_ends_alignment": 0,
    "needed_barriers_stay_fixed": 1,
    "triggered_and_aborted_once": 0,
    "triggered_ids_increase": 0,
    "given_up_for_a_cause": 0,
    "triggers_are_passed_on": 0,
    "tasks_fail_for_a_cause": 0,
    "alignment_figures_are_sane": 0,
    "aligned_holds_nothing_in_flight": 0,
    "ordered_edges_hold_nothing_in_flight": 0,
    "unaligned_flag_is_true": 0,
    "pending_within_limit": 0,
    "notified_once": 0,
    "cores_agree_with_their_world": 0,
    "ended_checkpoints_stay_ended": 0,
    "periodic_triggers_go_on": 0,
    "checkpoint_ends_in_time": 1,
    "finished_flags_stay": 0,
    "failed_tasks_do_nothing": 0,
    "losses_are_known_in_time": 0,
    "parts_are_written_in_time": 0,
    "acknowledgements_arrive": 0,
    "triggers_arrive": 0,
    "restarts_begin_from_the_newest": 0,
    "restarts_have_a_cause": 0,
}
