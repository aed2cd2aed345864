"""Runs of jobs that break what holds between barriers: channels, handlers, the coordinator."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.catalogue import by_name
from tests import broken_counts
from tests.job.properties import cores, messages, restarts, worlds
from tests.job.properties.breaker import Breaker, at, by_cores, by_mutant, by_scenario
from tests.job.records.plans import MS
from tests.job.records.small import chain, join, reads, small


def _slow_right(**tables: Any) -> dict[str, Any]:
    """Return a join with a slow right source, long after the left one has ended."""
    job = join(5, more=5, **tables)
    job["vertices"][1]["rate_per_s"] = 1000 / 12
    return job


def _two_outputs() -> dict[str, Any]:
    """Return a source with records for two sinks of two subtasks in turn."""
    job = chain()
    job["vertices"][1]["parallelism"] = 2
    job["vertices"][1]["inputs"] = [{"upstream": "source", "partitioner": "rebalance"}]
    job["vertices"].append(job["vertices"][1] | {"name": "other"})
    return job


def _read_back_beside() -> dict[str, Any]:
    """Return a join that reads back the in-flight data of one source longer than of the other."""
    job = join(
        50,
        checkpointing={"mode": "unaligned", "interval_ns": 20 * MS},
        channels={"sender_records": 4, "receiver_records": 8},
        costs={"read_record_ns": 2 * MS},
    )
    for vertex in job["vertices"][:2]:
        vertex["rate_per_s"] = 2_000.0
    job["vertices"][2] |= {"kind": "operator", "service_ns": 2 * MS}
    return job


def _stopped_in_vain() -> dict[str, Any]:
    """Return a join that is stopped when one source has finished, which forbids checkpoints."""
    job = _slow_right(
        checkpointing={"after_finish": False, "interval_ns": 20 * MS},
        ending={"stop_at_ns": 50 * MS},
    )
    job["vertices"][1]["records"] = 40
    job["vertices"][2]["kind"] = "operator"
    return job


BARRIERS: dict[str, tuple[Breaker, ...]] = {
    "channels_block_and_resume": (
        by_cores(
            small(join(), at("sink", "crash_task", at_ns=60 * MS)),
            "job_ends",
            handler=cores.handler(cores.ForgetsAChannel, first_only=True),
        ),
        by_cores(
            small(join()),
            handler=cores.handler(cores.ResumesTwice),
            output_subpartition=cores.TakesAnyResume,
        ),
        by_cores(
            small(chain(channels={"latency_ns": 3 * MS})), output_subpartition=cores.KeepsSending
        ),
    ),
    "records_take_their_channels": (
        by_cores(small(_two_outputs()), world=worlds.takes_turns_for_all_outputs),
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
    "consistent_cut": (
        by_cores(
            small(
                join(checkpointing={"mode": "unaligned"}),
                at("right", "delay_trigger", checkpoint=1, delay_ns=5 * MS),
                at("right", "fail_snapshot", checkpoint=1),
            ),
            input_channel=cores.PersistsBehindTheBarrier,
        ),
    ),
    "checkpoint_ids_increase": (
        by_cores(
            small(chain(checkpointing={"mode": "unaligned"}, service_ns=3 * MS)),
            input_channel=cores.PersistsForTheOlder,
        ),
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
    "input_starts_and_stops_in_turn": (
        by_cores(
            small(join(checkpointing={"mode": "unaligned", "interval_ns": 8 * MS})),
            handler=cores.handler(cores.NeverStops),
        ),
        by_cores(
            small(join(checkpointing={"mode": "unaligned", "interval_ns": 8 * MS})),
            world=worlds.stops_no_channel,
        ),
        by_cores(
            small(
                _read_back_beside(),
                {"kind": "rescale", "vertex": "right", "parallelism": 2, "at_ns": 35 * MS},
                {"kind": "request_checkpoint", "at_ns": 41 * MS},
                {"kind": "request_checkpoint", "at_ns": 48 * MS},
            ),
            "consistent_cut",
            world=worlds.persists_what_it_reads,
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
                at("right", "delay_trigger", checkpoint=1, delay_ns=5 * MS),
                at("right", "fail_snapshot", checkpoint=1),
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
        by_cores(
            small(
                _slow_right(checkpointing={"mode": "unaligned", "interval_ns": 10 * MS}),
                at("left", "delay_notification", checkpoint=1, delay_ns=11 * MS),
                at("right", "delay_trigger", checkpoint=2, delay_ns=3 * MS),
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
    "logs_keep_what_is_needed": (
        by_cores(
            small(
                join(
                    60,
                    channels={"receiver_records": 2},
                    checkpointing={"mode": "unaligned", "interval_ns": 20 * MS},
                    channel_state={"spilling": "continuous", "replay_from": "file_index"},
                ),
                at("right", "delay_trigger", checkpoint=1, delay_ns=8 * MS),
            ),
            world=worlds.cuts_logs_for_the_next_checkpoint,
        ),
        by_cores(
            small(
                join(
                    60,
                    checkpointing={"mode": "unaligned", "interval_ns": 20 * MS},
                    channel_state={"persistence": "log_service"},
                ),
            ),
            "restored_checkpoint_gives_the_same_output",
            world=restarts.cuts_the_log_service_for_the_next_checkpoint,
        ),
        by_cores(
            by_name("uncoordinated_crash"),
            *("exactly_once_state", "order_is_kept", "restored_checkpoint_is_a_cut"),
            world=restarts.truncates_too_much,
        ),
    ),
    "given_up_for_a_cause": (
        by_cores(small(join()), handler=cores.handler(cores.GivesUpOnce, first_only=True)),
        by_cores(small(_stopped_in_vain()), world=worlds.forgets_refused_stops),
        by_cores(small(join()), handler=cores.handler(cores.FailsTheTask, first_only=True)),
        by_mutant("savepoints_subsumed", "savepoint_and_checkpoint"),
    ),
    "triggers_are_passed_on": (by_mutant("early_abort_without_marker", "early_abort"),),
    "single_channel_keeps_the_clock": (by_scenario("single_channel_clock"),),
    "common_index_is_a_line": (by_mutant("never_forced", "communication_induced_crash", seed=1),),
    "closed_tasks_leave_nothing_queued": (
        by_scenario(
            "savepoint_behind_closed_tasks",
            "restored_checkpoint_gives_the_same_output",
            "restored_checkpoint_is_a_cut",
        ),
    ),
    "given_up_checkpoints_free_channels": (by_scenario("given_up_checkpoint_blocks"),),
    "closed_tasks_owe_no_shared_file": (
        by_scenario("failed_part_of_shared_file", seed=9, ties="random"),
    ),
    "event_time_ends_with_its_records": (by_scenario("finished_and_idle"),),
    "restored_watermarks_stay_true": (by_scenario("watermark_outlives_its_share"),),
    "reported_figures_are_true": (
        by_cores(small(join()), handler=cores.handler(cores.MeasuresSinceTheTrigger)),
        by_mutant("output_time_out_unreported", "flink_31588_flag_after_output_timeout"),
    ),
    "channel_state_writes_are_answered": (
        by_mutant("late_abort_closes_writer", "flink_29730_shared_writer"),
        by_mutant(
            "superseded_result_removed",
            "flink_17869_superseded_writer",
            "parts_are_written_in_time",
            seed=3,
        ),
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
        by_mutant("timeoutable_crosses_any_edge", "flink_33693_pointwise_timeout"),
    ),
    "triggers_keep_their_pace": (
        by_cores(
            small(
                chain(checkpointing={"interval_ns": 5 * MS}, costs={"snapshot_async_ns": 8 * MS})
            ),
            coordinator=cores.one_too_many,
        ),
        by_cores(
            small(
                chain(100, checkpointing={"interval_ns": 10 * MS}),
                at("source", "fail_snapshot", checkpoint=2),
            ),
            coordinator=cores.StopsAfterFailure,
        ),
        by_cores(
            small(chain(100, ending={"protocol": "flink", "stop_at_ns": 33 * MS})),
            world=worlds.keeps_triggering,
        ),
        by_cores(
            small(
                chain(
                    200,
                    checkpointing={"tolerable_failures": 5, "timeout_ns": 15 * MS},
                    ending={"protocol": "flink", "stop_at_ns": 33 * MS},
                ),
                at("source", "lose_trigger", checkpoint=2),
            ),
            world=worlds.triggers_nothing_after_a_failed_stop,
        ),
    ),
    "ended_checkpoints_stay_ended": (
        by_cores(
            small(
                join(costs={"rpc_ns": MS}),
                at("left", "fail_snapshot", checkpoint=1),
                at("right", "fail_snapshot", checkpoint=1),
            ),
            coordinator=cores.GivesUpAgain,
        ),
        by_cores(small(chain()), coordinator=cores.LeavesTimers),
        by_cores(
            small(
                chain(checkpointing={"timeout_ns": 4 * MS}),
                at("sink", "delay_acknowledgement", checkpoint=1, delay_ns=9 * MS),
            ),
            world=messages.takes_late_parts,
        ),
    ),
    "notified_once": (
        Breaker(
            scenario=small(chain(costs={"rpc_ns": 3 * MS, "completion_ns": MS})),
            parts={"mutant": "told_before_stored"},
        ),
    ),
    "checkpoint_ends_in_time": (
        by_mutant("closed_task_is_silent", "plan_race", ties="random"),
        by_cores(
            small(
                chain(checkpointing={"timeout_ns": 4 * MS}),
                at("sink", "delay_acknowledgement", checkpoint=1, delay_ns=9 * MS),
            ),
            coordinator=cores.never_expires,
        ),
    ),
}
