"""Every property of a job can fail: something is known that breaks it, and nothing else with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job.names import PROPERTIES as ALL_PROPERTIES
from ckptsim.scenarios.job.planes import Plane
from ckptsim.sim.rows import RunResult, ViolationRow
from ckptsim.sim.world import run_world
from tests import broken_counts
from tests.job.records import breakers as br
from tests.job.records import broken_worlds as worlds
from tests.job.records.plans import MS
from tests.job.records.small import reads
from tests.job.records.small_jobs import chain, join, run_with, small

PROPERTIES = ALL_PROPERTIES[Plane.RECORDS]


@dataclass(frozen=True, slots=True)
class Breaker:
    """A run that breaks a property; `also` is what cannot hold either once it is broken."""

    run: Callable[[], RunResult]
    also: tuple[str, ...] = ()


def _mutant(
    name: str, scenario: str, *also: str, seed: int = 0, ties: str = "structural"
) -> Breaker:
    """Break a property by a mutant of the library, on its scenario."""
    return Breaker(lambda: run_world(by_name(scenario), seed=seed, ties=ties, mutant=name), also)


def _scenario(name: str, *also: str, seed: int = 0, ties: str = "structural") -> Breaker:
    """Break a property by a scenario of the library that says so."""
    return Breaker(lambda: run_world(by_name(name), seed=seed, ties=ties), also)


def _broken(scenario: Scenario, *also: str, **parts: Any) -> Breaker:
    """Break a property by another core, or another world, under a small job."""
    return Breaker(lambda: run_with(scenario, **parts), also)


def _slow_right(**tables: Any) -> dict[str, Any]:
    """Return a join whose right source has a record every 12 ms, long after the left has ended."""
    job = join(5, more=5, **tables)
    job["vertices"][1]["rate_per_s"] = 1000 / 12
    return job


def _at(vertex: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "vertex": vertex, "subtask": 0} | fields


_OUTPUT = [n for n in PROPERTIES if n.startswith(("exactly_once_", "at_least_once_"))]
_PROBE = "restored_checkpoint_gives_the_same_output"
_REPEATS = chain(checkpointing={"mode": "at_least_once"})
_CRASH = _at("sink", "crash_task", at_ns=25 * MS)

BREAKERS: dict[str, tuple[Breaker, ...]] = {
    "consistent_cut": (_mutant("late_barrier_counts", "flink_20645_late_barrier"),),
    "exactly_once_output": (
        _broken(small(chain()), _PROBE, world=worlds.loses_a_record),
        _broken(small(chain()), _PROBE, world=worlds.writes_twice),
    ),
    "exactly_once_state": (
        _broken(small(chain(), _CRASH), _PROBE, world=worlds.forgets_state),
        _broken(
            by_name("broadcast_partly_finished"), _PROBE, world=worlds.keeps_broadcast_state_apart
        ),
    ),
    "at_least_once_output": (
        _broken(small(_REPEATS), _PROBE, world=worlds.loses_a_record),
        _broken(small(_REPEATS), _PROBE, world=worlds.invents_a_record),
        _broken(small(_REPEATS), world=worlds.writes_twice),
    ),
    "at_least_once_state": (
        _broken(small(_REPEATS, _CRASH), _PROBE, world=worlds.forgets_state),
        _broken(small(_REPEATS), world=worlds.counts_twice),
    ),
    "no_commit_before_completion": (_broken(small(chain()), lifecycle=br.CommitsAtPrecommit),),
    "transaction_ends_once": (_broken(small(chain()), world=worlds.ends_twice),),
    "aborted_transactions_are_empty_at_close": (
        _scenario("checkpoints_off", "exactly_once_output"),
    ),
    "no_transaction_lingers": (_mutant("opens_after_finish", "transactions_after_finish"),),
    "final_checkpoint_is_asked_for": (_mutant("never_counts_again", "final_checkpoint_fails"),),
    "end_marks_in_order": (_broken(small(chain()), lifecycle=br.EndsInputTwice),),
    "no_drain_ends_nothing": (
        _broken(
            small(chain(ending={"stop_at_ns": 15 * MS, "stop_kind": "no_drain"})),
            lifecycle=br.FiresTimersOnNoDrain,
        ),
    ),
    "acknowledged_once_when_polled": (_broken(small(chain()), lifecycle=br.AcknowledgesTwice),),
    "closes_when_all_is_over": (_mutant("skipped_trigger_sets_minimum", "late_trigger", seed=2),),
    "old_notifications_change_nothing": (_mutant("ignores_restored_id", "stray_notification"),),
    "end_of_partition_leaves_at_once": (
        _mutant("looks_on_completion_only", "final_chain"),
        _broken(
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
        _broken(small(chain(), _CRASH), world=worlds.records_too_much),
    ),
    "finished_task_leaves_no_records": (
        _mutant(
            "closes_without_acknowledgement", "final_backlog_unaligned", "closes_when_all_is_over"
        ),
        _broken(
            small(join(more=20)),
            world=worlds.keeps_state_of_the_finished,
        ),
    ),
    "plan_reaches_every_running_task": (
        _broken(
            small(join(checkpointing={"interval_ns": 10 * MS, "timeout_ns": 8 * MS})),
            world=worlds.forgets_a_source,
        ),
    ),
    "completed_ids_increase": (
        _broken(
            small(
                chain(checkpointing={"interval_ns": 6 * MS, "max_concurrent": 2}),
                _at("sink", "delay_acknowledgement", checkpoint=1, delay_ns=10 * MS),
            ),
            coordinator=br.NeverSubsumes,
        ),
    ),
    "union_state_ends_together": (
        Breaker(
            lambda: run_with(by_name("union_partly_finished"), world=worlds.ignores_union_state)
        ),
    ),
    _PROBE: (_broken(small(chain()), world=worlds.forgets_state),),
    "job_ends": (
        _mutant(
            "abort_repeats_nothing",
            "union_lost_notification",
            "end_of_partition_leaves_at_once",
        ),
    ),
    "stop_ends": (_scenario("stop_overtaken"),),
    "no_channel_stays_blocked": (
        _broken(
            small(join(), _at("sink", "crash_task", at_ns=60 * MS)),
            handler=br.handler(br.ForgetsAChannel, first_only=True),
        ),
    ),
    "senders_are_resumed_once": (_broken(small(join()), handler=br.handler(br.ResumesTwice)),),
    "blocked_senders_send_nothing": (
        _broken(small(chain(channels={"latency_ns": 3 * MS})), output_subpartition=br.KeepsSending),
    ),
    "order_is_kept": (
        _broken(
            small(chain(channels={"receiver_records": 1}, service_ns=2 * MS)),
            output_subpartition=br.SwapsData,
        ),
        _broken(
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
            input_channel=br.NewestFirst,
        ),
    ),
    "persisted_lies_before_the_barrier": (
        _broken(
            small(
                join(checkpointing={"mode": "unaligned"}),
                _at("right", "delay_trigger", checkpoint=1, delay_ns=5 * MS),
                _at("right", "fail_snapshot", checkpoint=1),
            ),
            input_channel=br.PersistsBehindTheBarrier,
        ),
    ),
    "persisted_ids_increase": (
        _broken(
            small(chain(checkpointing={"mode": "unaligned"}, service_ns=3 * MS)),
            input_channel=br.PersistsForTheOlder,
        ),
    ),
    "input_starts_and_stops_in_turn": (
        _broken(
            small(join(checkpointing={"mode": "unaligned", "interval_ns": 8 * MS})),
            handler=br.handler(br.NeverStops),
        ),
    ),
    "output_state_is_settled": (
        _broken(
            small(chain(checkpointing={"mode": "aligned_timeout", "timeout_ns": 15 * MS})),
            output_subpartition=br.first_of_all(br.OneOutputStaysOpen),
        ),
    ),
    "nothing_read_between_barrier_and_trigger": (
        _broken(
            small(
                join(),
                _at("right", "delay_trigger", checkpoint=1, delay_ns=5 * MS),
                _at("right", "fail_snapshot", checkpoint=1),
            ),
            handler=br.handler(br.ResumesAtOnce),
        ),
    ),
    "unaligned_barriers_are_taken_next": (
        _broken(
            small(chain(checkpointing={"mode": "unaligned"}, service_ns=3 * MS)),
            input_channel=br.SlowToOvertake,
        ),
    ),
    "time_out_ends_alignment": (
        _mutant("never_times_out", "flink_19681_alignment_timeout"),
        _mutant("output_never_times_out", "flink_27251_output_timeout"),
    ),
    "needed_barriers_stay_fixed": (
        # The left source ends while its barrier has come and the right one has not.
        _broken(
            small(
                _slow_right(checkpointing={"mode": "unaligned", "interval_ns": 10 * MS}),
                _at("left", "delay_notification", checkpoint=1, delay_ns=11 * MS),
                _at("right", "delay_trigger", checkpoint=2, delay_ns=3 * MS),
            ),
            handler=br.handler(broken_counts.CountsAgain),
        ),
        _broken(small(join()), handler=br.handler(broken_counts.NeedsOneLess)),
        _broken(small(join(more=20)), "job_ends", handler=br.handler(broken_counts.NeedsTheEnded)),
    ),
    "triggered_and_aborted_once": (
        Breaker(lambda: run_with(by_name("early_abort"), handler=br.handler(br.AbortsTwice))),
    ),
    "triggered_ids_increase": (
        _broken(
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
            handler=br.handler(br.TriggersOutOfOrder, first_only=True),
        ),
    ),
    "given_up_for_a_cause": (
        _broken(small(join()), handler=br.handler(br.GivesUpOnce, first_only=True)),
    ),
    "triggers_are_passed_on": (_mutant("early_abort_without_marker", "early_abort"),),
    "tasks_fail_for_a_cause": (
        _broken(small(join()), handler=br.handler(br.FailsTheTask, first_only=True)),
    ),
    "single_channel_keeps_the_clock": (_scenario("single_channel_clock"),),
    "alignment_figures_are_sane": (
        _broken(small(join()), handler=br.handler(br.MeasuresSinceTheTrigger)),
    ),
    "files_fail_for_a_cause": (_mutant("late_abort_closes_writer", "flink_29730_shared_writer"),),
    "writes_are_answered_once": (
        _mutant("superseded_result_removed", "flink_17869_superseded_writer", seed=3),
    ),
    "aligned_holds_nothing_in_flight": (
        _broken(
            small(
                chain(
                    checkpointing={"mode": "unaligned"},
                    channels={"receiver_records": 100},
                    service_ns=2 * MS,
                )
            ),
            coordinator=br.aligned_in_name,
            output_subpartition=br.Overtakes,
        ),
    ),
    "ordered_edges_hold_nothing_in_flight": (
        _mutant("timeoutable_crosses_any_edge", "flink_33693_pointwise_timeout"),
    ),
    "unaligned_flag_is_true": (
        _mutant("output_time_out_unreported", "flink_31588_flag_after_output_timeout"),
    ),
    "pending_within_limit": (
        _broken(
            small(
                chain(checkpointing={"interval_ns": 5 * MS}, costs={"snapshot_async_ns": 8 * MS})
            ),
            coordinator=br.one_too_many,
        ),
    ),
    "ended_checkpoints_stay_ended": (
        _broken(
            small(
                join(costs={"rpc_ns": MS}),
                _at("left", "fail_snapshot", checkpoint=1),
                _at("right", "fail_snapshot", checkpoint=1),
            ),
            coordinator=br.GivesUpAgain,
        ),
    ),
    "savepoints_are_not_subsumed": (_mutant("savepoints_subsumed", "savepoint_and_checkpoint"),),
    "notified_after_completion": (
        Breaker(
            lambda: run_world(
                small(chain(costs={"rpc_ns": 3 * MS, "completion_ns": MS})),
                seed=0,
                mutant="told_before_stored",
            )
        ),
    ),
    "periodic_triggers_go_on": (
        _broken(
            small(
                chain(100, checkpointing={"interval_ns": 10 * MS}),
                _at("source", "fail_snapshot", checkpoint=2),
            ),
            coordinator=br.StopsAfterFailure,
        ),
    ),
    "checkpoint_ends_in_time": (
        _mutant("closed_task_is_silent", "plan_race", ties="random"),
        _broken(
            small(
                chain(checkpointing={"timeout_ns": 4 * MS}),
                _at("sink", "delay_acknowledgement", checkpoint=1, delay_ns=9 * MS),
            ),
            coordinator=br.never_expires,
        ),
    ),
}


def test_every_property_has_something_that_breaks_it() -> None:
    """No property of a job is registered without a run here in which it does not hold."""
    assert sorted(BREAKERS) == sorted(PROPERTIES)


def broken(row: ViolationRow) -> str:
    """Return the property that a row is about: the restart of a checkpoint runs the same core."""
    restarted = re.match(r"restarted from checkpoint \d+: (\w+):", row.says)
    again = restarted is not None and restarted[1] not in _OUTPUT
    return restarted[1] if restarted is not None and again else row.property


CASES = [(name, number) for name, found in BREAKERS.items() for number in range(len(found))]


@pytest.mark.parametrize(("name", "number"), CASES)
def test_property_can_fail(name: str, number: int) -> None:
    """A job with one broken promise is caught by the property that speaks of it, and no other."""
    breaker = BREAKERS[name][number]
    result = breaker.run()
    assert sorted(set(map(broken, result.violations))) == sorted({name, *breaker.also})
    row = next(row for row in result.violations if row.property == name)
    assert row.says
    assert row.replay.startswith("ckptsim replay ")
