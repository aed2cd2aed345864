"""Runs of jobs that break one property each, and nothing else: on records, many on buffers as well.

A run on buffers is of the same scenario; what breaks on buffers in other ways stands in
`tests/job/buffers/broken.py`.
"""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.catalogue import by_name
from tests import broken_counts
from tests.job.properties import cores, worlds
from tests.job.properties.breaker import Breaker, by_cores, by_mutant, by_scenario
from tests.job.records.plans import MS
from tests.job.records.small import reads
from tests.job.records.small_jobs import chain, join, small


def _slow_right(**tables: Any) -> dict[str, Any]:
    """Return a join whose right source has a record every 12 ms, long after the left has ended."""
    job = join(5, more=5, **tables)
    job["vertices"][1]["rate_per_s"] = 1000 / 12
    return job


def _at(vertex: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "vertex": vertex, "subtask": 0} | fields


_PROBE = "restored_checkpoint_gives_the_same_output"
_CUT = "restored_checkpoint_is_a_cut"
_REPEATS = chain(checkpointing={"mode": "at_least_once"})
_LOST = ("exactly_once_output", "exactly_once_state")
_CRASH = _at("sink", "crash_task", at_ns=25 * MS)

_ONE_SIDE: dict[str, Any] = {
    "checkpointing": {"mode": "unaligned"},
    "channel_state": {"handled_by": "downstream"},
}

BREAKERS: dict[str, tuple[Breaker, ...]] = {
    "consistent_cut": (
        by_mutant("late_barrier_counts", "flink_20645_late_barrier", ties="random"),
    ),
    "exactly_once_output": (
        by_cores(small(chain()), _PROBE, world=worlds.loses_a_record),
        by_cores(small(chain()), _PROBE, world=worlds.writes_twice),
    ),
    "exactly_once_state": (
        by_cores(small(chain(), _CRASH), _PROBE, _CUT, world=worlds.forgets_state),
        by_cores(
            by_name("broadcast_partly_finished"),
            _PROBE,
            _CUT,
            world=worlds.keeps_broadcast_state_apart,
        ),
    ),
    "at_least_once_output": (
        by_cores(small(_REPEATS), _PROBE, world=worlds.loses_a_record),
        by_cores(small(_REPEATS), _PROBE, world=worlds.invents_a_record),
        by_cores(small(_REPEATS), world=worlds.writes_twice),
    ),
    "at_least_once_state": (
        by_cores(small(_REPEATS, _CRASH), _PROBE, _CUT, world=worlds.forgets_state),
        by_cores(small(_REPEATS), world=worlds.counts_twice),
    ),
    "no_commit_before_completion": (by_cores(small(chain()), lifecycle=cores.CommitsAtPrecommit),),
    "transaction_ends_once": (by_cores(small(chain()), world=worlds.ends_twice),),
    "aborted_transactions_are_empty_at_close": (
        by_scenario("checkpoints_off", "exactly_once_output"),
    ),
    "no_transaction_lingers": (by_mutant("opens_after_finish", "transactions_after_finish"),),
    "final_checkpoint_is_asked_for": (by_mutant("never_counts_again", "final_checkpoint_fails"),),
    "end_marks_in_order": (by_cores(small(chain()), lifecycle=cores.EndsInputTwice),),
    "no_drain_ends_nothing": (
        by_cores(
            small(chain(ending={"stop_at_ns": 15 * MS, "stop_kind": "no_drain"})),
            lifecycle=cores.FiresTimersOnNoDrain,
        ),
    ),
    "acknowledged_once_when_polled": (by_cores(small(chain()), lifecycle=cores.AcknowledgesTwice),),
    "closes_when_all_is_over": (by_mutant("skipped_trigger_sets_minimum", "late_trigger", seed=2),),
    "old_notifications_change_nothing": (by_mutant("ignores_restored_id", "stray_notification"),),
    "end_of_partition_leaves_at_once": (
        by_mutant("looks_on_completion_only", "final_chain"),
        by_cores(
            small(
                chain(
                    service_ns=3 * MS,
                    channels={"sender_records": 100},
                    checkpointing={"mode": "unaligned", "immediate_final": False},
                    ending={"acknowledgements": False},
                )
            ),
            "closes_when_all_is_over",
            "finished_task_leaves_no_records",
            "consistent_cut",
        ),
    ),
    "restore_is_closed_under_predecessors": (
        by_cores(small(chain(), _CRASH), world=worlds.records_too_much),
    ),
    "finished_task_leaves_no_records": (
        by_mutant(
            "closes_without_acknowledgement", "final_backlog_unaligned", "closes_when_all_is_over"
        ),
        by_cores(
            small(join(more=20)),
            world=worlds.keeps_state_of_the_finished,
        ),
    ),
    "plan_reaches_every_running_task": (
        by_cores(
            small(join(checkpointing={"interval_ns": 10 * MS, "timeout_ns": 8 * MS})),
            world=worlds.forgets_a_source,
        ),
    ),
    "completed_ids_increase": (
        by_cores(
            small(
                chain(checkpointing={"interval_ns": 6 * MS, "max_concurrent": 2}),
                _at("sink", "delay_acknowledgement", checkpoint=1, delay_ns=10 * MS),
            ),
            coordinator=cores.NeverSubsumes,
        ),
    ),
    "union_state_ends_together": (
        by_cores(by_name("union_partly_finished"), world=worlds.ignores_union_state),
    ),
    _PROBE: (by_cores(small(chain()), _CUT, world=worlds.forgets_state),),
    _CUT: (
        by_cores(
            small(chain(30, service_ns=3 * MS, checkpointing={"mode": "unaligned"}), _CRASH),
            _PROBE,
            "exactly_once_output",
            "exactly_once_state",
            world=worlds.forgets_what_was_in_flight,
        ),
    ),
    "credits_stay_within_bounds": (
        by_cores(
            small(chain(30, service_ns=3 * MS, **_ONE_SIDE), _CRASH), world=worlds.lends_nothing
        ),
    ),
    "finished_flags_stay": (
        by_cores(
            small(join(5, more=120, checkpointing={"interval_ns": 10 * MS})),
            world=worlds.reopens_a_vertex,
        ),
    ),
    "needed_order_is_kept": (by_scenario("flip76_forward_forced_rescaled"),),
    "in_flight_data_is_assigned": (by_mutant("asks_every_mapper", "flink_38267_forward_output"),),
    "records_come_out_whole": (
        by_mutant(
            "one_deserializer_per_channel", "spanning_scale_in_upstream", _CUT, _PROBE, *_LOST
        ),
    ),
    "keyed_records_reach_their_subtask": (by_mutant("keeps_every_copy", "rescale_keyed"),),
    "reported_bytes_are_true": (
        by_cores(
            small(chain(service_ns=3 * MS, checkpointing={"mode": "unaligned"})),
            world=worlds.counts_in_flight_twice,
        ),
    ),
    "notified_once": (
        by_cores(small(chain()), world=worlds.tells_twice),
        by_cores(
            small(chain(), _at("sink", "fail_snapshot", checkpoint=1)),
            world=worlds.tells_nobody_of_aborts,
        ),
        by_cores(
            small(chain(), _at("sink", "fail_snapshot", checkpoint=1)),
            coordinator=cores.TellsNobodyOfAborts,
        ),
    ),
    "cores_agree_with_their_world": (
        by_cores(small(chain()), coordinator=cores.SaysNothingIsKept),
    ),
    "job_ends": (
        by_mutant(
            "abort_repeats_nothing",
            "union_lost_notification",
            "end_of_partition_leaves_at_once",
        ),
        by_mutant("acknowledges_at_alignment", "final_two_inputs"),
    ),
    "stop_ends": (by_scenario("stop_overtaken"), by_scenario("stop_words_lost", seed=5)),
    "no_channel_stays_blocked": (
        by_cores(
            small(join(), _at("sink", "crash_task", at_ns=60 * MS)),
            "job_ends",
            handler=cores.handler(cores.ForgetsAChannel, first_only=True),
        ),
    ),
    "senders_are_resumed_once": (
        by_cores(
            small(join()),
            handler=cores.handler(cores.ResumesTwice),
            output_subpartition=cores.TakesAnyResume,
        ),
    ),
    "blocked_senders_send_nothing": (
        by_cores(
            small(chain(channels={"latency_ns": 3 * MS})), output_subpartition=cores.KeepsSending
        ),
    ),
    "order_is_kept": (
        by_cores(
            small(chain(channels={"receiver_records": 1}, service_ns=2 * MS)),
            output_subpartition=cores.SwapsData,
        ),
        by_cores(
            small(
                chain(
                    service_ns=30 * MS,
                    checkpointing={
                        "mode": "unaligned",
                        "interval_ns": 5 * MS,
                        "timeout_ns": 4 * MS,
                    },
                )
            ),
            input_channel=cores.NewestFirst,
        ),
    ),
    "persisted_lies_before_the_barrier": (
        by_cores(
            small(
                join(checkpointing={"mode": "unaligned"}),
                _at("right", "delay_trigger", checkpoint=1, delay_ns=5 * MS),
                _at("right", "fail_snapshot", checkpoint=1),
            ),
            input_channel=cores.PersistsBehindTheBarrier,
        ),
    ),
    "persisted_ids_increase": (
        by_cores(
            small(chain(checkpointing={"mode": "unaligned"}, service_ns=3 * MS)),
            input_channel=cores.PersistsForTheOlder,
        ),
    ),
    "input_starts_and_stops_in_turn": (
        by_cores(
            small(join(checkpointing={"mode": "unaligned", "interval_ns": 8 * MS})),
            handler=cores.handler(cores.NeverStops),
        ),
    ),
    "output_state_is_settled": (
        by_cores(
            small(chain(checkpointing={"mode": "aligned_timeout", "timeout_ns": 15 * MS})),
            output_subpartition=cores.first_of_all(cores.OneOutputStaysOpen),
        ),
    ),
    "nothing_read_between_barrier_and_trigger": (
        by_cores(
            small(
                join(),
                _at("right", "delay_trigger", checkpoint=1, delay_ns=5 * MS),
                _at("right", "fail_snapshot", checkpoint=1),
            ),
            handler=cores.handler(cores.ResumesAtOnce),
        ),
    ),
    "unaligned_barriers_are_taken_next": (
        by_cores(
            small(chain(checkpointing={"mode": "unaligned"}, service_ns=3 * MS)),
            input_channel=cores.SlowToOvertake,
        ),
    ),
    "time_out_ends_alignment": (
        by_mutant("never_times_out", "flink_19681_alignment_timeout"),
        by_mutant("output_never_times_out", "flink_27251_output_timeout"),
    ),
    "needed_barriers_stay_fixed": (
        # The left source ends while its barrier has come and the right one has not.
        by_cores(
            small(
                _slow_right(checkpointing={"mode": "unaligned", "interval_ns": 10 * MS}),
                _at("left", "delay_notification", checkpoint=1, delay_ns=11 * MS),
                _at("right", "delay_trigger", checkpoint=2, delay_ns=3 * MS),
            ),
            handler=cores.handler(broken_counts.CountsAgain),
        ),
        by_cores(small(join()), handler=cores.handler(broken_counts.NeedsOneLess)),
        by_cores(
            small(join(more=20)), "job_ends", handler=cores.handler(broken_counts.NeedsTheEnded)
        ),
    ),
    "triggered_and_aborted_once": (
        by_cores(by_name("early_abort"), handler=cores.handler(cores.AbortsTwice)),
    ),
    "triggered_ids_increase": (
        by_cores(
            small(
                chain(
                    checkpointing={"interval_ns": 5 * MS, "max_concurrent": 2},
                )
                | {
                    "vertices": [
                        {
                            "name": "source",
                            "kind": "source",
                            "records": 3,
                            "rate_per_s": 25,
                        },
                        {"name": "sink", "kind": "sink", "inputs": reads("source")},
                    ]
                },
            ),
            handler=cores.handler(cores.TriggersOutOfOrder, first_only=True),
        ),
    ),
    "given_up_for_a_cause": (
        by_cores(small(join()), handler=cores.handler(cores.GivesUpOnce, first_only=True)),
    ),
    "triggers_are_passed_on": (by_mutant("early_abort_without_marker", "early_abort"),),
    "tasks_fail_for_a_cause": (
        by_cores(small(join()), handler=cores.handler(cores.FailsTheTask, first_only=True)),
    ),
    "single_channel_keeps_the_clock": (by_scenario("single_channel_clock"),),
    "common_index_is_a_line": (by_mutant("never_forced", "communication_induced_crash", seed=1),),
    "closed_tasks_leave_nothing_queued": (
        by_scenario(
            "savepoint_behind_closed_tasks",
            "restored_checkpoint_gives_the_same_output",
            "restored_checkpoint_is_a_cut",
        ),
    ),
    "alignment_figures_are_sane": (
        by_cores(small(join()), handler=cores.handler(cores.MeasuresSinceTheTrigger)),
    ),
    "files_fail_for_a_cause": (by_mutant("late_abort_closes_writer", "flink_29730_shared_writer"),),
    "writes_are_answered_once": (
        by_mutant("superseded_result_removed", "flink_17869_superseded_writer", seed=3),
    ),
    "aligned_holds_nothing_in_flight": (
        by_cores(
            small(
                chain(
                    checkpointing={"mode": "unaligned"},
                    channels={"receiver_records": 100},
                    service_ns=2 * MS,
                )
            ),
            coordinator=cores.aligned_in_name,
            output_subpartition=cores.Overtakes,
        ),
    ),
    "ordered_edges_hold_nothing_in_flight": (
        by_mutant("timeoutable_crosses_any_edge", "flink_33693_pointwise_timeout"),
    ),
    "unaligned_flag_is_true": (
        by_mutant("output_time_out_unreported", "flink_31588_flag_after_output_timeout"),
    ),
    "pending_within_limit": (
        by_cores(
            small(
                chain(checkpointing={"interval_ns": 5 * MS}, costs={"snapshot_async_ns": 8 * MS})
            ),
            coordinator=cores.one_too_many,
        ),
    ),
    "ended_checkpoints_stay_ended": (
        by_cores(
            small(
                join(costs={"rpc_ns": MS}),
                _at("left", "fail_snapshot", checkpoint=1),
                _at("right", "fail_snapshot", checkpoint=1),
            ),
            coordinator=cores.GivesUpAgain,
        ),
        by_cores(small(chain()), coordinator=cores.LeavesTimers),
    ),
    "savepoints_are_not_subsumed": (by_mutant("savepoints_subsumed", "savepoint_and_checkpoint"),),
    "notified_after_completion": (
        Breaker(
            scenario=small(chain(costs={"rpc_ns": 3 * MS, "completion_ns": MS})),
            parts={"mutant": "told_before_stored"},
        ),
    ),
    "periodic_triggers_go_on": (
        by_cores(
            small(
                chain(100, checkpointing={"interval_ns": 10 * MS}),
                _at("source", "fail_snapshot", checkpoint=2),
            ),
            coordinator=cores.StopsAfterFailure,
        ),
        by_cores(
            small(chain(100, ending={"protocol": "flink", "stop_at_ns": 33 * MS})),
            world=worlds.keeps_triggering,
        ),
    ),
    "checkpoint_ends_in_time": (
        by_mutant("closed_task_is_silent", "plan_race", ties="random"),
        by_cores(
            small(
                chain(checkpointing={"timeout_ns": 4 * MS}),
                _at("sink", "delay_acknowledgement", checkpoint=1, delay_ns=9 * MS),
            ),
            coordinator=cores.never_expires,
        ),
    ),
}

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
}
