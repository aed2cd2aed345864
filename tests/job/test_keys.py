"""What each key of a job does, the same on both data planes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ckptsim.scenarios.job import Job
from ckptsim.scenarios.limits import without_refused
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.records.small import small

MS = 1_000_000
S = 1_000 * MS
_RATE_PER_S = 200.0
Facts = tuple[Any, ...]

pytestmark = pytest.mark.parametrize("plane", ["records", "buffers"])


def source(name: str = "source", records: int | None = 100, **keys: Any) -> dict[str, Any]:
    """Return a source of half a second, or of any time."""
    number = {} if records is None else {"records": records}
    return {"name": name, "kind": "source", "rate_per_s": _RATE_PER_S} | number | keys


def reader(name: str, upstream: str, partitioner: str = "rebalance", **keys: Any) -> dict[str, Any]:
    """Return a vertex that reads from another one."""
    edge = {"upstream": upstream, "partitioner": partitioner}
    return {"name": name, "inputs": [edge], "service_ns": 20_000} | keys


def run(
    plane: str, *vertices: dict[str, Any], faults: tuple[dict[str, Any], ...] = (), **tables: Any
) -> RunResult:
    """Run a job, by default of a source and a sink. A checkpoint each 100 ms, the first at 50 ms.

    tables: keys of the job, and the ones of its tables by the table's name.
    """
    checkpointing = {"interval_ns": 100 * MS, "first_trigger_ns": 50 * MS, "tolerable_failures": 99}
    job: dict[str, Any] = {
        "plane": plane,
        "vertices": list(vertices) or [source(), reader("sink", "source", kind="sink")],
        "duration_ns": 4 * S,
        "network": {"buffer_timeout_ns": 5 * MS},
        "channels": {"sender_records": 1000, "receiver_records": 1000},
        "storage": {"inline_threshold_bytes": 0},
        "restart": {"kind": "fixed_delay", "delay_ns": 10 * MS},
        **tables,
        "checkpointing": checkpointing | tables.get("checkpointing", {}),
    }
    scenario = small(without_refused(job, Job, plane), *faults, link="barriers")
    return run_world(scenario, seed=3, keep_trace=True)


def of_kind(result: RunResult, *kinds: str) -> list[Facts]:
    """Return the trace entries of some kinds."""
    return [entry for entry in result.trace if entry[1] in kinds]


def calls(result: RunResult, what: str) -> list[int]:
    """Return the operators that a call comes to, in order."""
    return [entry[4] for entry in of_kind(result, "called") if entry[3] == what]


def statuses(result: RunResult) -> Counter[str]:
    """Count the checkpoints by how they ended."""
    return Counter(row.status for row in result.checkpoints)


def violated(result: RunResult) -> set[str]:
    """Return what a run violates, except for what only one of the planes looks for."""
    only = "restored_checkpoint_gives_the_same_output"
    return {row.property for row in result.violations} - {only}


# Checkpoints ----------------------------------------------------------------------------------


def test_no_checkpoint_is_taken_where_they_are_off(plane: str) -> None:
    """The job ends with its data, and its sink aborts what it has never committed."""
    result = run(plane, checkpointing={"enabled": False})
    assert result.checkpoints == []
    assert result.run.outcome == "completed"
    assert result.run.records_committed == 0
    assert violated(result) == {"exactly_once_output", "aborted_transactions_are_empty_at_close"}


def test_checkpoints_end_with_the_first_task(plane: str) -> None:
    """No one waits for a checkpoint after its end, so what came after the last one is lost."""
    result = run(plane, checkpointing={"after_finish": False})
    assert 0 < result.run.records_committed < 100
    assert max(row.triggered_ns for row in result.checkpoints) < 500 * MS
    assert violated(result) == {"exactly_once_output", "aborted_transactions_are_empty_at_close"}


@pytest.mark.parametrize(("at_once", "last_ns"), [(True, 500 * MS), (False, 550 * MS)])
def test_the_final_checkpoint_comes_at_once_or_in_its_turn(
    plane: str, at_once: bool, last_ns: int
) -> None:
    """It is asked for when all data has ended, or else is the next periodic one."""
    result = run(plane, checkpointing={"immediate_final": at_once})
    done = [row.triggered_ns for row in result.checkpoints if row.status == "completed"]
    assert done[-1] == pytest.approx(last_ns, abs=20 * MS)
    assert result.goals.get("immediate_final_checkpoint", 0) == at_once


@pytest.mark.parametrize(("skips", "at_ns"), [(False, 200 * MS), (True, 250 * MS)])
def test_a_trigger_that_meets_a_running_checkpoint_is_queued_or_skipped(
    plane: str, skips: bool, at_ns: int
) -> None:
    """After a checkpoint that expires at 200 ms the next one begins at once, or at its tick."""
    lost = {"kind": "lose_trigger", "vertex": "source", "checkpoint": 1}
    table = {"skip_missed_ticks": skips, "timeout_ns": 150 * MS}
    result = run(plane, checkpointing=table, faults=(lost,))
    assert [row.triggered_ns for row in result.checkpoints][:2] == [50 * MS, at_ns]


def test_a_savepoint_is_taken_when_it_is_asked_for(plane: str) -> None:
    """The job continues after it, and no newer checkpoint deletes it."""
    result = run(plane, checkpointing={"savepoint_at_ns": 180 * MS})
    savepoints = [row for row in result.checkpoints if row.kind == "savepoint"]
    assert [(row.triggered_ns, row.status) for row in savepoints] == [(180 * MS, "completed")]
    assert result.run.records_committed == 100


def test_a_run_ends_with_the_last_checkpoint_that_is_wanted(plane: str) -> None:
    """Three checkpoints are complete, and the job has not ended."""
    result = run(plane, checkpointing={"count": 3})
    assert statuses(result) == {"completed": 3}
    assert result.run.outcome == "completed"
    assert 250 * MS <= result.run.ended_ns < 350 * MS
    assert all(row.finished_ns is None for row in result.tasks)


# What chance does -----------------------------------------------------------------------------


def test_completions_come_late_by_chance(plane: str) -> None:
    """Sinks commit at different instants, each up to the jitter after the completion."""
    sink = reader("sink", "source", kind="sink", parallelism=4)
    late = run(plane, source(), sink, costs={"notification_jitter_ns": 30 * MS})
    done = {row.checkpoint_id: row.completed_ns or 0 for row in late.checkpoints}
    delays = [entry[0] - done[entry[3]] for entry in of_kind(late, "committed")]
    assert len(set(delays)) > 5
    assert 20 * MS < max(delays) < 40 * MS
    assert violated(late) == set()


def test_completions_are_lost_by_chance(plane: str) -> None:
    """No one learns of any where all are lost, so the job waits at its end for ever."""
    result = run(plane, costs={"notification_loss_ratio": 1.0})
    assert statuses(result)["completed"] >= 5
    assert of_kind(result, "committed") == []
    assert all(row.finished_ns is None for row in result.tasks)


def test_checkpoints_fail_by_chance_when_they_are_to_be_stored(plane: str) -> None:
    """Every task has acknowledged, and none completes."""
    result = run(plane, costs={"checkpoint_failure_ratio": 1.0}, checkpointing={"count": 1})
    reasons = {row.reason for row in result.checkpoints if row.triggered_ns < 400 * MS}
    assert reasons == {"FINALIZE_CHECKPOINT_FAILURE"}
    assert statuses(result)["completed"] == 0


def test_files_fail_by_chance(plane: str) -> None:
    """A task with a file that cannot be written declines the checkpoint."""
    job = (source(), reader("operator", "source", "hash", state_bytes=100_000))
    result = run(plane, *job, storage={"inline_threshold_bytes": 0, "failure_ratio": 0.4})
    assert min(statuses(result)["completed"], statuses(result)["aborted"]) >= 1
    failed = {row.reason for row in result.checkpoints if row.triggered_ns < 400 * MS}
    assert failed == {None, "CHECKPOINT_ASYNC_EXCEPTION"}


# The end --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("protocol", "least"), [("flink", 1), ("flip", 1), ("naive", 3)])
def test_tasks_end_together_or_one_after_the_other(plane: str, protocol: str, least: int) -> None:
    """Without an end of data each task of a chain needs a checkpoint of its own."""
    job = (source(), reader("operator", "source"), reader("sink", "operator", kind="sink"))
    result = run(plane, *job, ending={"protocol": protocol})
    assert result.run.finishing_checkpoints is not None
    assert result.run.finishing_checkpoints >= least
    assert (result.run.finishing_checkpoints >= 3) == (protocol == "naive")
    assert result.run.records_committed == 100
    assert violated(result) == set()


def test_tasks_do_not_wait_for_acknowledgements_where_there_are_none(plane: str) -> None:
    """A source closes while the task after it is still busy with what it has sent."""
    job = (source(), reader("sink", "source", kind="sink", service_ns=8 * MS))
    table = {"immediate_final": False, "mode": "unaligned"}
    closed = {}
    for waits in (True, False):
        result = run(plane, *job, ending={"acknowledgements": waits}, checkpointing=table)
        (first, _) = [row.finished_ns for row in result.tasks]
        closed[waits] = first or 0
    assert closed[False] < 700 * MS < closed[True]


@pytest.mark.parametrize("kind", ["drain", "no_drain"])
def test_a_stop_ends_the_job_with_its_savepoint(plane: str, kind: str) -> None:
    """Sources read no more, and operators finish only where the stop drains."""
    job = (source(records=None), reader("sink", "source", kind="sink", chain=2))
    result = run(plane, *job, ending={"stop_at_ns": 170 * MS, "stop_kind": kind})
    savepoints = [row.triggered_ns for row in result.checkpoints if row.kind == "savepoint"]
    assert savepoints == [170 * MS]
    assert result.run.outcome == "completed"
    assert result.run.ended_ns < 300 * MS
    assert 33 <= result.run.records_committed == result.run.records_produced <= 35
    assert bool(calls(result, "finish")) == (kind == "drain")
    assert violated(result) == set()


def test_a_stop_whose_savepoint_fails_is_tried_again(plane: str) -> None:
    """The job restarts, and the next savepoint ends it."""
    fails = {"kind": "fail_snapshot", "vertex": "source", "checkpoint": 3}
    job = (source(records=None), reader("sink", "source", kind="sink"))
    result = run(plane, *job, ending={"stop_at_ns": 170 * MS}, faults=(fails,))
    assert [row.kind for row in result.checkpoints if row.kind == "savepoint"] == ["savepoint"] * 2
    assert result.run.attempts == 2
    assert result.run.outcome == "completed"
    assert "CHECKPOINT_ASYNC_EXCEPTION" in result.recoveries[0].cause
    assert violated(result) == set()


def test_the_operators_of_a_chain_are_called_in_order(plane: str) -> None:
    """They finish from head to tail, and are notified and closed from tail to head."""
    result = run(plane, source(), reader("sink", "source", kind="sink", chain=3))
    sink = [entry for entry in of_kind(result, "called", "told") if "sink" in entry[2]]
    finished = [entry[4] for entry in sink if entry[3] == "finish"]
    closed = [entry[4] for entry in sink if entry[3] == "close"]
    told = [entry[4] for entry in sink if entry[3] == "snapshot"]
    assert (finished, closed, told[:3]) == ([0, 1, 2], [2, 1, 0], [2, 1, 0])


# The recording --------------------------------------------------------------------------------


def partly_finished(plane: str, *vertices: dict[str, Any], **tables: Any) -> RunResult:
    """Run a job that fails when a subtask of its source has finished, and another one has not."""
    crash = {"kind": "crash_task", "vertex": vertices[-1]["name"], "at_ns": 700 * MS}
    return run(plane, *vertices, faults=(crash,), **tables)


@pytest.mark.parametrize("keeps", [True, False])
def test_a_source_without_state_reads_again(plane: str, keeps: bool) -> None:
    """The subtask that had finished begins anew, and its records come a second time."""
    first = source(records=20, parallelism=2, records_step=80, keeps_position=keeps)
    result = partly_finished(plane, first, reader("sink", "source", kind="sink"))
    assert result.goals["restored_partly_finished"] == 1
    assert result.run.records_committed == (100 if keeps else 110)
    assert bool(violated(result)) != keeps


def test_union_state_must_end_together(plane: str) -> None:
    """A checkpoint that has it of some subtasks only is aborted."""
    first = source(records=20, parallelism=2, records_step=80, union_state=True)
    result = run(plane, first, reader("sink", "source", kind="sink"))
    reasons = {str(row.reason) for row in result.checkpoints if row.status == "aborted"}
    assert any(reason.startswith("union_state_partly_finished") for reason in reasons)
    assert result.run.records_committed == 100


@pytest.mark.parametrize(
    ("recorded", "attempts"), [("running", 1), ("full", 1), ("partial", 1), ("none", 0)]
)
def test_a_job_starts_from_what_a_checkpoint_records(
    plane: str, recorded: str, attempts: int
) -> None:
    """A source that had finished emits nothing. A new vertex before a finished one is refused."""
    first = source(parallelism=2, recorded=recorded)
    behind = "full" if recorded == "none" else "running"
    sink = reader("sink", "source", kind="sink", recorded=behind)
    result = run(plane, first, sink)
    assert result.run.attempts == attempts
    expected = {"running": 100, "full": 0, "partial": 50, "none": 0}[recorded]
    assert result.run.records_committed == expected
    assert result.goals.get("restore_refused", 0) == (attempts == 0)


def test_a_split_that_had_been_read_stays_read_over_restores(plane: str) -> None:
    """Its subtask had finished.

    Anyone who counts it at another parallelism does not read it again.
    """
    first = source(parallelism=2, recorded="partial")
    sink = reader("sink", "source", kind="sink", recorded="running")
    rescale = {"kind": "rescale", "vertex": "source", "parallelism": 1, "at_ns": 100 * MS}
    crash = {"kind": "crash_task", "vertex": "sink", "at_ns": 300 * MS}
    result = run(plane, first, sink, faults=(rescale, crash))
    assert result.goals["restored_rescaled"] == 1
    assert [str(row.restored_from).split()[0] for row in result.recoveries][-1] == "checkpoint"
    assert result.run.records_committed == 50


# What moves -----------------------------------------------------------------------------------


def test_a_backlog_lies_in_every_channel_at_the_start(plane: str) -> None:
    """Its records count as the source's, on top of what that emits."""
    job = (source(records=10), reader("operator", "source"), reader("sink", "operator"))
    result = run(plane, *job, channels={"preloaded_records": 7, "sender_records": 20})
    assert [row.records for row in result.tasks] == [24, 24, 24]
    assert violated(result) == set()


def test_a_share_of_keys_leads_to_the_first_subtask(plane: str) -> None:
    """Of four subtasks it has that share, and its part of the rest."""
    job = (source(records=2_000, hot_ratio=0.6), reader("operator", "source", "hash"))
    job[0]["rate_per_s"] = 4_000.0
    job[1]["parallelism"] = 4
    rows = [row.records for row in run(plane, *job).tasks if row.task == "operator"]
    assert sum(rows) == 2_000
    assert rows[0] == pytest.approx(2_000 * (0.6 + 0.1), rel=0.06)
    assert max(rows[1:]) < 300


def test_subtasks_have_shares_of_keys_and_of_the_rate(plane: str) -> None:
    """A key leads to a subtask in proportion to its share. So is the rate shared out."""
    first = source(records=2_000, parallelism=2, rate_shares=[3.0, 1.0]) | {"rate_per_s": 4_000.0}
    second = reader("operator", "source", "hash", parallelism=3)
    second["inputs"][0]["shares"] = [0.5, 0.3, 0.2]
    result = run(plane, first, second, checkpointing={"count": 3})
    emitted = [row.records for row in result.tasks if row.task == "source"]
    assert emitted[0] == pytest.approx(3 * emitted[1], rel=0.05)
    taken = [row.records for row in result.tasks if row.task == "operator"]
    assert [one / sum(taken) for one in taken] == pytest.approx([0.5, 0.3, 0.2], abs=0.04)


def test_a_source_that_nobody_reads_ends_alone(plane: str) -> None:
    """Its records go nowhere, and a final checkpoint closes it."""
    result = run(plane, source(), source("alone", records=50), reader("operator", "source"))
    assert [row.records for row in result.tasks] == [100, 50, 100]
    assert result.run.outcome == "completed"
    assert violated(result) == set()
