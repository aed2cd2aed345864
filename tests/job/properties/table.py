"""Runs of jobs that break one property each, and nothing else: on records, many on buffers as well.

A run on buffers is of the same scenario. What breaks on buffers in other ways is in
`tests/job/buffers/broken.py`.
"""

from __future__ import annotations

from tests.job.properties.barriers import BARRIERS
from tests.job.properties.breaker import Breaker
from tests.job.properties.ends import ENDS

BREAKERS: dict[str, tuple[Breaker, ...]] = {
    name: (*ENDS.get(name, ()), *BARRIERS.get(name, ()))
    for name in dict.fromkeys((*ENDS, *BARRIERS))
}

# Which of a property's runs break it, and nothing else, on buffers as well.
ON_BUFFERS: dict[str, tuple[int, ...]] = {
    "job_ends": (1,),
    "stop_ends": (1,),
    "no_transaction_lingers": (
        1,
        0,
    ),
    "final_checkpoint_is_asked_for": (0,),
    "end_marks_in_order": (
        1,
        0,
        2,
    ),
    "union_state_ends_together": (0,),
    "given_up_for_a_cause": (
        3,
        0,
        2,
    ),
    "no_commit_before_completion": (0,),
    "transaction_ends_once": (0,),
    "transactions_commit_in_order": (0,),
    "plan_reaches_every_running_task": (0,),
    "channels_block_and_resume": (
        0,
        1,
        2,
    ),
    "order_is_kept": (1,),
    "checkpoint_ids_increase": (
        1,
        2,
    ),
    "input_starts_and_stops_in_turn": (0,),
    "output_state_is_settled": (0,),
    "nothing_read_between_barrier_and_trigger": (0,),
    "unaligned_barriers_are_taken_next": (0,),
    "time_out_ends_alignment": (0,),
    "needed_barriers_stay_fixed": (1,),
    "triggered_and_aborted_once": (0,),
    "triggers_are_passed_on": (0,),
    "reported_figures_are_true": (
        1,
        2,
    ),
    "aligned_holds_nothing_in_flight": (
        0,
        1,
    ),
    "triggers_keep_their_pace": (
        0,
        1,
    ),
    "notified_once": (0,),
    "cores_agree_with_their_world": (0,),
    "ended_checkpoints_stay_ended": (0,),
    "checkpoint_ends_in_time": (1,),
    "finished_flags_are_true": (0,),
    "failed_tasks_do_nothing": (0,),
    "losses_are_known_in_time": (0,),
    "parts_are_written_in_time": (0,),
    "messages_arrive": (
        0,
        1,
    ),
    "restarts_begin_from_the_newest": (0,),
    "restarts_have_a_cause": (0,),
}
