"""Runs of jobs that break what a job gives and how it ends: output, state, restores, lives."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.catalogue import by_name
from tests.job.properties import cores, messages, restarts, worlds
from tests.job.properties.breaker import Breaker, at, by_cores, by_mutant, by_scenario
from tests.job.records.plans import MS
from tests.job.records.small import chain, join, small

_PROBE = "restored_checkpoint_gives_the_same_output"
_CUT = "restored_checkpoint_is_a_cut"
_REPEATS = chain(checkpointing={"mode": "at_least_once"})
_LOST = ("exactly_once_output", "exactly_once_state")
_CRASH = at("sink", "crash_task", at_ns=25 * MS)
_LOSES = {"notification_loss_ratio": 0.5}
_SILENT = at("source", "crash_task_manager", at_ns=15 * MS, symptom="silent")
_HEARTBEATS = {"heartbeat_interval_ns": 5 * MS, "heartbeat_timeout_ns": 30 * MS}
_DELAYED = {"kind": "fixed_delay", "delay_ns": 10 * MS}
_STORES_SLOWLY = chain(costs={"completion_ns": 15 * MS}, checkpointing={"interval_ns": 20 * MS})
_LATE_CRASH = at("sink", "crash_task", at_ns=45 * MS)

_ONE_SIDE: dict[str, Any] = {
    "checkpointing": {"mode": "unaligned"},
    "channel_state": {"handled_by": "downstream"},
}


def _comes_back_from_idle() -> dict[str, Any]:
    """Return a job with a source that is idle between its records."""
    tells = {"watermark_interval_ns": 1 * MS, "idle_timeout_ns": 3 * MS}
    job = join(event_time=tells)
    job["vertices"][0] |= {"rate_per_s": 100.0, "records": 5}
    return job


def _splits_at_other_rates() -> dict[str, Any]:
    """Return a job with few records in one split."""
    job = chain(60, event_time={"watermark_interval_ns": 1 * MS})
    job["checkpointing"] = {"interval_ns": 10 * MS}
    job["vertices"][0] |= {"parallelism": 2, "rate_shares": [1.0, 9.0]}
    return job


ENDS: dict[str, tuple[Breaker, ...]] = {
    "consistent_cut": (
        by_mutant("late_barrier_counts", "flink_20645_late_barrier", ties="random"),
    ),
    "table_has_completed_checkpoints": (
        by_mutant(
            "todays_writers",
            "committed_after_rescale",
            _PROBE,
            "exactly_once_output",
            "no_transaction_lingers",
        ),
    ),
    "every_split_has_one_owner": (by_mutant("keeps_at_once", "split_lost_in_a_call", _PROBE),),
    "logs_outlast_checkpoints": (
        by_mutant(
            "acknowledges_snapshots",
            "log_cut_by_late_notification",
            _PROBE,
            _CUT,
            "exactly_once_state",
        ),
    ),
    "restores_find_their_files": (
        by_mutant("deletes_when_aborted", "file_older_than_its_checkpoint"),
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
    "at_least_once": (
        by_cores(small(_REPEATS), _PROBE, world=worlds.loses_a_record),
        by_cores(small(_REPEATS), _PROBE, world=worlds.invents_a_record),
        by_cores(small(_REPEATS), world=worlds.writes_twice),
        by_cores(small(_REPEATS, _CRASH), _PROBE, _CUT, world=worlds.forgets_state),
        by_cores(small(_REPEATS), world=worlds.counts_twice),
    ),
    "no_commit_before_completion": (by_cores(small(chain()), lifecycle=cores.CommitsAtPrecommit),),
    "transaction_ends_once": (by_cores(small(chain()), world=worlds.ends_twice),),
    "transactions_commit_in_order": (
        by_cores(
            small(chain(400, costs=_LOSES, checkpointing={"interval_ns": 5 * MS})),
            world=worlds.commits_newest_first,
        ),
    ),
    "no_transaction_lingers": (
        by_cores(
            small(
                chain(
                    60,
                    costs={"transaction_timeout_ns": 10 * MS},
                    checkpointing={"interval_ns": 20 * MS},
                )
            ),
            world=worlds.waits_for_transactions,
        ),
        by_mutant("opens_after_finish", "transactions_after_finish"),
    ),
    "aborted_transactions_are_empty_at_close": (
        by_scenario("checkpoints_off", "exactly_once_output"),
    ),
    "final_checkpoint_is_asked_for": (by_mutant("never_counts_again", "final_checkpoint_fails"),),
    "end_marks_in_order": (
        by_cores(small(chain()), lifecycle=cores.EndsInputTwice),
        by_cores(
            small(chain(ending={"stop_at_ns": 15 * MS, "stop_kind": "no_drain"})),
            lifecycle=cores.FiresTimersOnNoDrain,
        ),
        by_cores(small(chain()), lifecycle=cores.AcknowledgesTwice),
    ),
    "closes_when_all_is_over": (
        by_mutant("skipped_trigger_sets_minimum", "late_trigger", seed=2),
        by_cores(
            small(
                chain(
                    20,
                    checkpointing={"max_concurrent": 2, "interval_ns": 10 * MS},
                    costs={"snapshot_async_ns": 12 * MS},
                )
            ),
            world=worlds.closes_at_once,
        ),
        by_cores(
            small(
                chain(10, checkpointing={"interval_ns": 10 * MS}),
                at("sink", "lose_notification", checkpoint=1),
                at("sink", "fail_snapshot", checkpoint=2),
            ),
            world=worlds.gives_up_behind_closing,
        ),
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
    "old_notifications_change_nothing": (by_mutant("ignores_restored_id", "stray_notification"),),
    "restore_is_closed_under_predecessors": (
        by_cores(small(chain(), _CRASH), "finished_flags_are_true", world=worlds.records_too_much),
    ),
    "finished_task_leaves_no_records": (
        by_mutant(
            "closes_without_acknowledgement", "final_backlog_unaligned", "closes_when_all_is_over"
        ),
        by_cores(small(join(more=20)), world=worlds.keeps_state_of_the_finished),
    ),
    "plan_reaches_every_running_task": (
        by_cores(
            small(join(checkpointing={"interval_ns": 10 * MS, "timeout_ns": 8 * MS})),
            world=worlds.forgets_a_source,
        ),
        by_cores(
            small(join(5, more=60, checkpointing={"interval_ns": 10 * MS}), _LATE_CRASH),
            "job_ends",
            world=restarts.remembers_the_finished,
        ),
    ),
    "checkpoint_ids_increase": (
        by_cores(
            small(
                chain(checkpointing={"interval_ns": 6 * MS, "max_concurrent": 2}),
                at("sink", "delay_acknowledgement", checkpoint=1, delay_ns=10 * MS),
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
    "buffers_are_accounted_for": (
        by_cores(
            small(chain(30, service_ns=3 * MS, **_ONE_SIDE), _CRASH), world=worlds.lends_nothing
        ),
    ),
    "finished_flags_are_true": (
        by_cores(
            small(join(5, more=120, checkpointing={"interval_ns": 10 * MS})),
            "finished_flags_are_true",
            world=worlds.reopens_a_vertex,
        ),
        by_cores(
            small(
                join(
                    5,
                    more=60,
                    checkpointing={"interval_ns": 10 * MS, "max_concurrent": 2},
                    costs={"completion_ns": 25 * MS},
                )
            ),
            world=worlds.takes_who_finished_since,
        ),
    ),
    "sources_read_to_their_end": (by_cores(small(chain()), world=worlds.ends_a_record_early),),
    "needed_order_is_kept": (by_scenario("flip76_forward_forced_rescaled"),),
    "records_come_out_whole": (
        by_mutant("asks_every_mapper", "flink_38267_forward_output"),
        by_mutant(
            "one_deserializer_per_channel", "spanning_scale_in_upstream", _CUT, _PROBE, *_LOST
        ),
    ),
    "no_record_is_late": (
        by_mutant("forwards_any_status", "flink_40517_idleness"),
        by_cores(small(_comes_back_from_idle()), world=worlds.becomes_active_behind_its_watermark),
        by_cores(
            small(
                _splits_at_other_rates(),
                {"kind": "rescale", "vertex": "source", "parallelism": 1, "at_ns": 35 * MS},
            ),
            world=worlds.takes_one_record_for_all_splits,
        ),
    ),
    "ready_tasks_run": (
        by_cores(
            small(chain(60, service_ns=3 * MS, **_ONE_SIDE), _CRASH),
            world=worlds.wakes_nobody_for_credit,
        ),
    ),
    "restarts_begin_from_the_newest": (
        by_cores(
            small(
                chain(
                    400,
                    checkpointing={"interval_ns": 60 * MS, "mode": "at_least_once", "retained": 3},
                ),
                at("sink", "crash_task", at_ns=330 * MS),
            ),
            "transaction_ends_once",
            world=restarts.goes_back_too_far,
        ),
        by_cores(
            small(
                chain(60, checkpointing={"interval_ns": 20 * MS}),
                {"kind": "request_savepoint", "at_ns": 25 * MS},
                at("sink", "crash_task", at_ns=32 * MS),
                {"kind": "resubmit", "mode": "as_before", "at_ns": 50 * MS},
            ),
            "transaction_ends_once",
            "exactly_once_output",
            _PROBE,
            world=restarts.starts_from_any_savepoint,
        ),
        by_cores(
            small(
                chain(60, checkpointing={"interval_ns": 20 * MS}),
                {"kind": "request_savepoint", "at_ns": 25 * MS},
                at("sink", "crash_task", at_ns=32 * MS),
            ),
            world=restarts.goes_back_to_savepoints,
        ),
    ),
    "restarts_have_a_cause": (
        by_cores(
            small(chain(60), {"kind": "resubmit", "mode": "as_before", "at_ns": 50 * MS}),
            world=restarts.asks_the_user_to_wait,
        ),
        by_cores(
            small(chain(60, restart=_DELAYED), at("sink", "crash_task", at_ns=32 * MS)),
            world=restarts.waits_for_nobody,
        ),
        by_cores(
            small(chain() | {"recovery": _HEARTBEATS}, _SILENT, _CRASH),
            world=restarts.lets_the_lost_go_first,
        ),
    ),
    "keyed_records_reach_their_subtask": (
        by_mutant("keeps_every_copy", "rescale_keyed"),
        by_mutant("keeps_every_copy", "rescale_custom", _CUT, _PROBE, *_LOST),
        by_cores(by_name("keyed_crash"), _PROBE, world=worlds.swaps_restored_states),
    ),
    "reported_figures_are_true": (
        by_cores(
            small(chain(service_ns=3 * MS, checkpointing={"mode": "unaligned"})),
            world=worlds.counts_in_flight_twice,
        ),
    ),
    "notified_once": (
        by_cores(small(chain()), world=messages.tells_twice),
        by_cores(
            small(chain(), at("sink", "fail_snapshot", checkpoint=1)),
            world=messages.tells_nobody_of_aborts,
        ),
        by_cores(
            small(chain(), at("sink", "fail_snapshot", checkpoint=1)),
            world=messages.takes_notifications_for_lost,
        ),
        by_cores(
            small(chain(), at("sink", "fail_snapshot", checkpoint=1)),
            coordinator=cores.TellsNobodyOfAborts,
        ),
        by_cores(
            small(
                chain(60, checkpointing={"interval_ns": 30 * MS, "tolerable_failures": 5}),
                {"kind": "request_savepoint", "at_ns": 40 * MS},
                at("sink", "fail_snapshot", checkpoint=3),
            ),
            world=messages.repeats_savepoints,
        ),
    ),
    "cores_agree_with_their_world": (
        by_cores(small(chain()), coordinator=cores.SaysNothingIsKept),
        by_cores(small(_STORES_SLOWLY, _CRASH), world=restarts.keeps_what_was_given_up),
    ),
    "failed_tasks_do_nothing": (
        by_cores(small(chain(), _CRASH), world=restarts.reports_for_the_failed),
        by_cores(
            small(chain(), _CRASH),
            "job_ends",
            "plan_reaches_every_running_task",
            world=restarts.finishes_the_failed,
        ),
        by_cores(
            small(chain(), _CRASH),
            *("consistent_cut", "exactly_once_output", "no_transaction_lingers"),
            world=restarts.deploys_twice,
        ),
    ),
    "losses_are_known_in_time": (
        by_cores(
            small(chain() | {"recovery": _HEARTBEATS}, _SILENT, _CRASH),
            world=restarts.restarts_before_losses_are_known,
        ),
        by_cores(
            small(
                chain() | {"recovery": _HEARTBEATS},
                _SILENT,
                {"kind": "crash_job_manager", "at_ns": 25 * MS},
            ),
            world=restarts.watches_what_nobody_knows,
        ),
    ),
    "parts_are_written_in_time": (
        by_cores(small(chain(checkpointing={"timeout_ns": 120 * MS})), world=worlds.forgets_a_file),
    ),
    "messages_arrive": (
        by_cores(
            small(chain(checkpointing={"timeout_ns": 120 * MS})),
            world=messages.sends_no_acknowledgement,
        ),
        by_cores(
            small(chain(checkpointing={"timeout_ns": 120 * MS})), world=messages.sends_no_trigger
        ),
        by_cores(
            small(chain(60, checkpointing={"max_concurrent": 2})), world=messages.keeps_triggers
        ),
    ),
    "job_ends": (
        by_mutant("abort_repeats_nothing", "union_lost_notification", "closes_when_all_is_over"),
        by_mutant("acknowledges_at_alignment", "final_two_inputs", _PROBE),
    ),
    "stop_ends": (by_scenario("stop_overtaken"), by_scenario("stop_words_lost", seed=5)),
}
