"""What makes a job end, who continues, and when the published chains of five tasks end."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.sim.world import run_world
from tests.job.records.small import MS, closes_ns, pair, reads, run, since, small

ending = partial(small, link="final_checkpoint")


def timed(ends_ms: int, records: int | None = None, **tables: Any) -> dict[str, Any]:
    """Return a source that ends at an instant, before a sink."""
    job = pair(**tables)
    source = job["vertices"][0]
    del source["records"]
    source["ends_at_ns"] = ends_ms * MS
    if records is not None:
        source["records"] = records
    return job


def test_source_ends_at_an_instant() -> None:
    """At 25.5 ms it has emitted 25 records, one per millisecond, and closes soon after."""
    job = timed(25)
    job["vertices"][0]["ends_at_ns"] = 25 * MS + MS // 2
    result = run(ending(job))
    assert result.run.records_committed == 25
    assert closes_ns(result) == [25 * MS + MS // 2] * 2


@pytest.mark.parametrize(("records", "expected"), [(10, 10), (100, 25)])
def test_source_ends_by_whatever_comes_first(records: int, expected: int) -> None:
    """By count if it has emitted all before the instant, by time otherwise."""
    job = timed(25, records)
    job["vertices"][0]["ends_at_ns"] = 25 * MS + MS // 2
    assert run(ending(job)).run.records_committed == expected


@pytest.mark.parametrize(
    ("protocol", "given", "closed_ms"),
    [
        ("flink", {}, 10),
        ("flip", {}, 20),
        ("naive", {}, 40),
        ("flink", {"immediate_final": False}, 20),
        ("flip", {"immediate_final": True}, 10),
        ("naive", {"immediate_final": True}, 40),
    ],
)
def test_final_checkpoint_comes_at_once_or_by_the_interval(
    protocol: str, given: dict[str, Any], closed_ms: int
) -> None:
    """At the end of data by released Flink's rules, with the next tick by the design's.

    A scenario may say otherwise, but nothing is asked for where tasks have no end of data.
    """
    job = pair(ending={"protocol": protocol}, checkpointing={"interval_ns": 20 * MS, **given})
    result = run(ending(job))
    assert max(closes_ns(result)) == closed_ms * MS


def test_source_that_ended_by_time_does_not_go_on_after_a_failure() -> None:
    """Restarted after its instant it ends at once, and what it had emitted comes out once."""
    job = timed(30, checkpointing={"interval_ns": 8 * MS, "immediate_final": False})
    job["costs"] = {"completion_ns": 3 * MS}
    fault = {"kind": "crash_task", "vertex": "sink", "at_ns": 33 * MS}
    result = run(ending(job, fault))
    assert result.run.attempts == 2
    assert result.run.records_committed == 24  # of the checkpoint at 24 ms


def test_only_a_source_ends_at_an_instant() -> None:
    """An operator has no end of its own."""
    job = pair()
    job["vertices"][1]["ends_at_ns"] = MS
    with pytest.raises(ScenarioError, match="ends_at"):
        ending(job)


def test_source_without_a_number_of_records_takes_its_time() -> None:
    """As fast as possible is one record per microsecond: with no time an instant would not end."""
    job = timed(1)
    job["vertices"][0] |= {"ends_at_ns": MS // 10, "rate_per_s": "none"}
    assert run(ending(job)).run.records_committed == 100 - 1
    job["vertices"][0] |= {"records": 50, "rate_per_s": "none"}
    assert run(ending(job)).run.records_committed == 50


def test_subtasks_share_records_and_rate() -> None:
    """Three subtasks with seven records emit three, two and two, at a third of the rate each."""
    job = pair(records=7)
    job["vertices"][0] |= {"parallelism": 3, "rate_per_s": 300}
    result = run(ending(job))
    assert [row.records for row in result.tasks] == [3, 2, 2, 7]
    vertex = ending(job).model.vertices[0]
    assert vertex.gap_ns == 10 * MS
    assert [vertex.records_of(subtask) for subtask in range(3)] == [3, 2, 2]


def test_stop_ends_an_endless_source() -> None:
    """An endless source ends by the stop at its instant, with all it has emitted committed."""
    job = pair(ending={"stop_at_ns": 20 * MS + MS // 2})
    del job["vertices"][0]["records"]
    assert run(ending(job)).run.records_committed == 20


def test_job_that_fails_after_its_stop_is_not_restarted() -> None:
    """The savepoint is complete: the job fails for good, and restarting from it gives the rest."""
    job = pair(ending={"stop_at_ns": 20 * MS + MS // 2})
    del job["vertices"][0]["records"]
    job["costs"] = {"rpc_ns": 2 * MS}
    fault = {"kind": "crash_task", "vertex": "sink", "at_ns": 25 * MS}
    result = run_world(ending(job, fault), seed=0)
    assert result.violations == []
    assert result.run.outcome == "failed"
    assert result.run.attempts == 1
    assert result.goals["failed_after_stop_savepoint"] == 1


def test_source_that_had_read_all_may_say_so_though_a_stop_meets_its_restart() -> None:
    """Restored at its end, it is at its end when the stop comes before it has said so again."""
    sources = [
        {"name": "endless", "kind": "source", "rate_per_s": 3000.0},
        {"name": "empty", "kind": "source", "parallelism": 2, "records": 0},
    ]
    inputs = [{"upstream": one["name"]} for one in sources]
    job = {
        "vertices": [*sources, {"name": "sink", "kind": "sink", "inputs": inputs}],
        "checkpointing": {"interval_ns": 4 * MS, "immediate_final": False, "retained": 1},
        "costs": {"restore_ns": 8 * MS},
        "ending": {"protocol": "flip", "stop_at_ns": 8 * MS},
    }
    for seed in range(6):
        assert run_world(ending(job), seed=seed, ties="pct").violations == []


def test_tasks_that_restore_decline_triggers_and_work_afterwards() -> None:
    """Two triggers come within the 20 ms of the recovery. Neither counts as a failure."""
    result = run_world(by_name("trigger_during_recovery"), seed=0)
    restored = [row for row in result.checkpoints if row.attempt == 2]
    assert [row.reason for row in restored[:3]] == [
        "CHECKPOINT_DECLINED_TASK_NOT_READY",
        "CHECKPOINT_DECLINED_TASK_NOT_READY",
        None,
    ]
    assert result.run.attempts == 2
    assert result.run.records_committed == 60


def test_task_that_has_left_is_unknown_until_the_coordinator_knows() -> None:
    """Asked at the instant of its end or before it is closing. Asked later it is not known."""
    job = pair(checkpointing={"interval_ns": 4 * MS, "immediate_final": False})
    job["costs"] = {"rpc_ns": 2 * MS, "closing_ns": MS}
    reasons = {row.reason for row in run(ending(job)).checkpoints if row.status == "aborted"}
    assert reasons <= {
        "CHECKPOINT_DECLINED_TASK_CLOSING",
        "TASK_CHECKPOINT_FAILURE",
        "CHECKPOINT_COORDINATOR_SHUTDOWN",
    }
    job["costs"] = {"rpc_ns": 2 * MS, "closing_ns": 30 * MS}
    reasons = {row.reason for row in run(ending(job)).checkpoints if row.status == "aborted"}
    assert "CHECKPOINT_DECLINED_TASK_CLOSING" in reasons
    assert "TASK_CHECKPOINT_FAILURE" not in reasons


def chain_of(repeat: int, **changes: Any) -> dict[str, Any]:
    """Return a source, an operator that is so many times in a row, and a sink."""
    job = pair()
    inputs = [{"upstream": "source", "partitioner": "rebalance"}]
    task = {"name": "task", "inputs": inputs, "service_ns": 0, "repeat": repeat}
    job["vertices"].insert(1, task | changes)
    job["vertices"][2]["inputs"] = reads("task")
    return job


def test_repeated_operator_stands_in_a_row_under_numbered_names() -> None:
    """Three in a row are joined by the partitioner of the edge to the first. One keeps its name."""
    spelt = ending(chain_of(3)).model.spelled_out()
    assert [vertex.name for vertex in spelt.vertices] == [
        *("source", "task1", "task2", "task3", "sink")
    ]
    assert [(e.upstream, e.downstream, e.partitioner.value) for e in spelt.edges] == [
        ("source", "task1", "rebalance"),
        ("task1", "task2", "rebalance"),
        ("task2", "task3", "rebalance"),
        ("task3", "sink", "hash"),
    ]
    once = ending(chain_of(1)).model
    assert once.spelled_out() == once


def test_only_operators_are_repeated_and_faults_name_what_stands_once() -> None:
    """A repeated source, a fault of a repeated vertex and clashing names are refused."""
    job = chain_of(2)
    fault = {"kind": "crash_task", "vertex": "task", "at_ns": MS}
    one_of = 'found "task", expected one of "source", "task1", "task2", "sink"'
    with pytest.raises(ScenarioError, match=rf"faults\[0\]\.vertex: {one_of}"):
        ending(job, fault)
    job["vertices"][0]["repeat"] = 2
    with pytest.raises(ScenarioError, match="but for an operator"):
        ending(job)
    clash = chain_of(2)
    clash["vertices"][2]["name"] = "task2"
    with pytest.raises(ScenarioError, match="two vertices"):
        ending(clash)


def test_single_subtask_cannot_have_finished_in_part() -> None:
    """Partly finished are only vertices with several subtasks."""
    with pytest.raises(ScenarioError, match="more than one subtask"):
        ending(chain_of(1, recorded="partial"))


def test_checkpoints_that_fail_by_chance_delay_the_end_and_break_nothing() -> None:
    """With nine of ten failing the job ends all the same, after some that failed when stored."""
    result = run(ending(pair(costs={"checkpoint_failure_ratio": 0.9})), seed=4)
    failed = [row for row in result.checkpoints if row.status == "aborted"]
    assert {row.reason for row in failed} == {"FINALIZE_CHECKPOINT_FAILURE"}
    assert result.run.finishing_checkpoints == len(failed) + 1


def test_the_second_of_three_final_checkpoints_closes_every_task() -> None:
    """Of 42, 43 and 44 only the one of 43 arrives: it commits what 42 holds and ends the job."""
    scenario = by_name("final_second_of_three")
    for seed, ties in ((0, "structural"), (1, "random"), (2, "pct")):
        run = run_world(scenario, seed=seed, ties=ties)
        assert run.violations == []
        assert run.goals["closed_on_second_of_three_final_checkpoints"]
        assert run.run.records_committed == run.run.records_produced
    broken = {
        mutant: {row.property for row in run_world(scenario, seed=0, mutant=mutant).violations}
        for mutant in ("commits_only_its_own", "awaits_its_first_checkpoint")
    }
    assert "exactly_once_output" in broken["commits_only_its_own"]
    assert "job_ends" in broken["awaits_its_first_checkpoint"]


def test_only_a_sink_opens_transactions() -> None:
    """`opens_after_finish` is refused at a vertex that has no transactions, like its neighbours."""
    job = chain_of(1, opens_after_finish=True)
    with pytest.raises(ScenarioError, match=r"opens_after_finish.*but at a sink"):
        ending(job)


S = 1_000_000_000

# Source ends at 25 s, triggers at multiples of 10 s, a checkpoint takes 1 s, EndOfPartition 0.1 s
# per hop.  With a backlog every task has 7 records of 1 s each before it.
# name: (triggers from 25 s on, in s, instants at which the tasks close, in tenths of a second)
ALL_AT_ONCE = [310, 311, 312, 313, 314]
ONE_BY_ONE = [310, 410, 510, 610, 710]
GOLDEN = {
    "final_chain": ([30], ALL_AT_ONCE),
    "final_chain_unaligned": ([30], ALL_AT_ONCE),
    "final_chain_naive": ([30, 40, 50, 60, 70], ONE_BY_ONE),
    "final_backlog": ([30], [540, 541, 542, 543, 544]),
    "final_backlog_unaligned": ([30, 40, 50, 60], [320, 410, 460, 530, 610]),
    "final_backlog_immediate": ([30, 40, 50, 53], [320, 410, 460, 530, 540]),
    "final_backlog_naive": ([30, 40, 50, 60, 70], ONE_BY_ONE),
    "final_backlog_naive_aligned": ([30, 60, 70, 80, 90], [540, 610, 710, 810, 910]),
}


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_chain_ends_at_the_published_instants(name: str) -> None:
    """Number of checkpoints and the closing instant of every task are exactly the published."""
    result = run_world(by_name(name), seed=0)
    triggers, closes = GOLDEN[name]
    assert result.violations == []
    assert since(result, 25) == triggers
    assert closes_ns(result) == [tenth * S // 10 for tenth in closes]


def test_aligned_checkpoint_behind_a_backlog_lasts_until_it_is_gone() -> None:
    """The one checkpoint, triggered at 30 s, completes 1 s after the last EndOfData at 53 s."""
    (row,) = run_world(by_name("final_backlog"), seed=0).checkpoints
    assert row.completed_ns == 54 * S
