"""The order of lifecycle calls is the one that a real cluster printed.

Source: jobs of logging operators on a local cluster of Apache Flink 1.20.3.
"""

from __future__ import annotations

import pytest

from ckptsim.models.coordinator.plan import Edge, FinishedState, Pattern, Rejected, check_restore
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

ENDS = ["advance", "end_input", "finish"]
CLOSED_SOURCE = ("called", "task source[0]", "close")
# What a sink does for a checkpoint: pre-commit and open a successor, then commit.
STEPS = (("precommitted", True), ("committed",))


def run(name: str) -> RunResult:
    """Run a scenario with its trace."""
    return run_world(by_name(name), seed=0, keep_trace=True)


def calls(result: RunResult, task: str) -> list[str]:
    """Return the calls of one task in order: of single operators by name, of checkpoints by id."""
    found = []
    for _, kind, who, *rest in result.trace:
        if who != f"task {task}[0]":
            continue
        if kind == "called":
            found.append(str(rest[0]))
        elif kind == "told":
            what, _, number = rest
            found.append(str(what) if what == "cancel" else f"{what} {number}")
        elif kind == "gate_ended":
            found[-1] = f"end_input({rest[0]})"
    return found


def instants(result: RunResult, kind: str, task: str) -> list[int]:
    """Return when a task did something, in ms."""
    return [e[0] // 1_000_000 for e in result.trace if e[1] == kind and e[2] == f"task {task}[0]"]


def test_chain_ends_from_head_to_tail_and_closes_from_tail_to_head() -> None:
    """Watermarks first through the whole chain, then ends. Snapshot, word and close backwards."""
    trace = run("flink_chain").trace
    found = [(str(e[3]), int(e[4])) for e in trace if e[1] in ("called", "told")]
    ends = [(what, operator) for operator in range(4) for what in ("end_input", "finish")]
    assert found == [
        *[("advance", operator) for operator in range(4)],
        *ends,
        *[("snapshot", operator) for operator in (3, 2, 1, 0)],
        *[("notify", operator) for operator in (3, 2, 1, 0)],
        *[("close", operator) for operator in (3, 2, 1, 0)],
    ]


def test_one_checkpoint_closes_all_tasks_from_head_to_tail() -> None:
    """Unchained: each task ends, one checkpoint is taken at once, tasks close in order."""
    result = run("flink_long_interval")
    for task in ("source", "map", "sink"):
        assert calls(result, task) == [*ENDS, "snapshot 1", "notify 1", "close"]
    closed = [e[2] for e in result.trace if e[1] == "called" and e[3] == "close"]
    assert closed == ["task source[0]", "task map[0]", "task sink[0]"]
    assert result.run.ended_ns < 40_000_000  # the interval is 1000 s


def test_without_checkpoints_tasks_close_at_once() -> None:
    """No wait: close follows finish at the source, EndOfPartition elsewhere."""
    result = run("checkpoints_off")
    assert result.checkpoints == []
    for task in ("source", "map", "sink"):
        assert calls(result, task) == [*ENDS, "close"]


def test_short_branch_closes_with_the_first_checkpoint_and_the_rest_with_the_fifth() -> None:
    """Checkpoints 2 to 4 continue without the finished tasks."""
    result = run("flink_union")
    for task in ("short", "map"):
        assert calls(result, task) == [*ENDS, "snapshot 1", "notify 1", "close"]
    both = calls(result, "both")
    assert both[-2:] == ["notify 5", "close"]
    assert [call for call in both if call.startswith("notify")] == [
        f"notify {n}" for n in range(1, 6)
    ]


def test_single_aligned_checkpoint_is_final_for_all() -> None:
    """It is performed by each task after its own end, much later down the chain."""
    result = run("flink_slow_aligned")
    for task in ("source", "map1", "map2"):
        assert calls(result, task) == [*ENDS, "snapshot 1", "notify 1", "close"]
    assert instants(result, "performed", "map1") < instants(result, "performed", "map2")


def test_task_closes_when_the_next_has_polled_its_end_of_data() -> None:
    """Checkpoints complete meanwhile. The one asked for at the end meets a task that has closed."""
    result = run("flink_slow_unaligned")
    middle = calls(result, "map1")
    after = middle[middle.index("finish") + 1 :]
    assert [call for call in after if call.startswith("notify")][:3] == [
        "notify 5",
        "notify 6",
        "notify 7",
    ]
    assert after[-1] == "close"
    (polled,) = [e[0] for e in result.trace if e[1:4] == ("called", "task map2[0]", "finish")]
    (closed,) = [e[0] for e in result.trace if e[1:4] == ("called", "task map1[0]", "close")]
    assert closed == polled
    assert calls(result, "map2")[-3:] == ["snapshot 9", "notify 9", "close"]


def test_checkpoints_before_the_end_do_not_close_a_task() -> None:
    """The last task learns of several checkpoints before it finishes, and continues."""
    last = calls(run("flink_slow_unaligned"), "map2")
    before = last[: last.index("finish")]
    assert next(call for call in before if call.startswith("notify")) == "notify 1"
    assert "close" not in before


def test_drain_takes_one_more_checkpoint_before_tasks_close() -> None:
    """Cancel, ends, the savepoint and its word. Then one more snapshot in every task, and close."""
    result = run("flink_drain")
    assert calls(result, "source")[-8:] == [
        "cancel",
        *ENDS,
        "snapshot 3",
        "notify 3",
        "snapshot 4",
        "close",
    ]
    head = [
        " ".join(map(str, (what, *rest)))
        for _, kind, who, what, operator, *rest in (e for e in result.trace if len(e) > 4)
        if who == "task sink[0]" and kind in ("called", "told") and operator == 0
    ]
    assert head[-8:] == [*ENDS, "snapshot 3", "notify 3", "snapshot 4", "notify 4", "close"]


def test_trigger_meets_a_task_that_is_closing_and_then_one_that_is_unknown() -> None:
    """Checkpoint 2 is declined by a closing source, 3 by a task manager that knows it no more."""
    result = run("flink_slow_unaligned_pointwise")
    assert [(row.status, row.reason) for row in result.checkpoints][:5] == [
        ("completed", None),
        ("aborted", "CHECKPOINT_DECLINED_TASK_CLOSING"),
        ("aborted", "TASK_CHECKPOINT_FAILURE"),
        ("completed", None),
        ("completed", None),
    ]
    declined = [entry[2] for entry in result.trace if entry[1] == "declined"]
    assert declined[:2] == ["task source[0]"] * 2


def test_two_checkpoints_before_the_end_do_not_close_the_last_task_and_the_fifth_does() -> None:
    """It takes part in 1 and 4, finishes, learns of 4 and continues, then closes with 5."""
    last = calls(run("flink_slow_unaligned_pointwise"), "map2")
    assert last == [
        "snapshot 1",
        "notify 1",
        "snapshot 4",
        *ENDS,
        "notify 4",
        "snapshot 5",
        "notify 5",
        "close",
    ]


@pytest.mark.parametrize("task", ["source", "map", "sink"])
def test_no_drain_calls_nothing_but_snapshot_word_and_close(task: str) -> None:
    """No watermark, no endInput, no finish."""
    found = calls(run("stop_no_drain"), task)
    number = found[-2].split()[1]
    stop = [f"snapshot {number}", f"notify {number}", "close"]
    assert found[-3:] == stop
    assert not set(found) & set(ENDS)
    assert ("cancel" in found) == (task == "source")


@pytest.mark.parametrize("kind", ["drain", "no_drain"])
def test_savepoint_of_a_stop_ends_a_branch_that_waits(kind: str) -> None:
    """The waiting branch closes with the savepoint. Mixed stop modes do not finish what follows."""
    result = run(f"flink_{kind}_waiting")
    assert result.violations == []
    assert calls(result, "short") == [*ENDS, "snapshot 1", "notify 1", "close"]
    both = calls(result, "both")
    assert both[0] == "end_input(1)"
    if kind == "drain":
        assert both[1:4] == ["advance", "end_input(2)", "finish"]
    else:
        assert both == ["end_input(1)", "snapshot 1", "notify 1", "close"]


@pytest.mark.parametrize("kind", ["drain", "no_drain"])
def test_stop_works_without_a_branch_that_has_finished(kind: str) -> None:
    """The finished branch learns nothing of the savepoint."""
    result = run(f"flink_{kind}_closed")
    assert result.violations == []
    assert calls(result, "short") == [*ENDS, "snapshot 1", "notify 1", "close"]
    savepoints = [row for row in result.checkpoints if row.kind == "savepoint"]
    assert [row.status for row in savepoints] == ["completed"]


def test_two_phase_commit_opens_nothing_after_finish() -> None:
    """The final snapshot pre-commits the last transaction. Closing has nothing to abort."""
    result = run("last_transaction")
    sink = [e[1:] for e in result.trace if e[2] == "task sink[0]"]
    transactions = [e for e in sink if e[0] in ("precommitted", "committed", "dropped", "left")]
    assert transactions == [
        ("precommitted", "task sink[0]", 1, False),
        ("committed", "task sink[0]", 1),
    ]


def test_two_inputs_end_one_by_one_and_event_time_with_both() -> None:
    """EndInput of the first comes long before the second. The watermark only after both."""
    result = run("flink_two_inputs")
    both = [call for call in calls(result, "both") if call.split()[0] not in ("snapshot", "notify")]
    assert both == ["end_input(1)", "advance", "end_input(2)", "finish", "close"]


def test_stop_without_drain_ends_no_second_input() -> None:
    """The first input has ended by itself. The second is cut, so nothing finishes."""
    both = calls(run("flink_two_inputs_no_drain"), "both")
    assert both[0] == "end_input(1)"
    assert both[-1] == "close"
    assert not {"end_input(2)", "finish", "advance"} & set(both)


def test_restored_finished_tasks_run_no_operator() -> None:
    """The finished branch is neither run nor closed again. Its watermark still comes."""
    result = run("restore_finished_branch")
    (restored,) = [e[0] for e in result.trace if e[1] == "restored"]
    after = [e for e in result.trace if e[0] > restored and e[1] in ("called", "told")]
    assert {e[2] for e in after} == {"task long[0]", "task both[0]", "task sink[0]"}
    assert ("task both[0]", "advance") in {(e[2], e[3]) for e in after}


def test_partly_finished_source_reads_again() -> None:
    """A source without state emits again what its finished subtask had emitted: duplicates."""
    result = run("flink_restore_partly")
    assert result.goals["restored_partly_finished"] == 1
    assert "10 too many" in next(
        v.says for v in result.violations if v.property == "exactly_once_output"
    )


def test_new_operator_before_a_finished_one_is_refused() -> None:
    """A vertex without state counts as running, so nothing after it may have finished."""
    edges = [
        Edge("new", "old", Pattern.ALL_TO_ALL),
        Edge("old", "sink", Pattern.ALL_TO_ALL),
    ]
    full, none = FinishedState.FULL, FinishedState.NONE
    found = check_restore({"new": [none], "old": [full], "sink": [full]}, edges)
    assert found == Rejected("full_needs_full_predecessors", "old")
    behind = check_restore({"old": [full], "new": [none]}, [Edge("old", "new", Pattern.ALL_TO_ALL)])
    assert not isinstance(behind, Rejected)


def test_expired_savepoint_of_a_stop_fails_the_job() -> None:
    """The stop fails, and the source that had stopped for it fails with it."""
    result = run("savepoint_expires")
    failures = [e[3] for e in result.trace if e[1] == "failed"]
    assert failures[0] == "source/0: stop_with_savepoint_failed"
    assert {row.status for row in result.checkpoints if row.kind == "savepoint"} == {"expired"}


def test_checkpoints_that_end_with_tasks_let_them_close_at_once() -> None:
    """With the feature off a source closes right after finish, the others on EndOfPartition."""
    result = run("checkpoints_end_with_tasks")
    for task in ("source", "map", "sink"):
        told = [
            call for call in calls(result, task) if call.split()[0] not in ("snapshot", "notify")
        ]
        assert told == [*ENDS, "close"]
        assert calls(result, task)[-4:] == told
    (finished,) = instants(result, "called", "source")[:1]
    closed = [e[0] // 1_000_000 for e in result.trace if e[1:4] == CLOSED_SOURCE]
    assert closed == [finished]


def test_fourth_transaction_is_pre_committed_after_finish_and_has_no_successor() -> None:
    """Three transactions with a successor each. The fourth without. Closing aborts nothing."""
    result = run("flink_two_phase_commit")
    kinds = ("precommitted", "committed", "dropped", "left", "called")
    sink = [e for e in result.trace if e[2] == "task sink[0]" and e[1] in kinds]
    found = [(e[3], *e[4:]) if e[1] == "called" else (e[1], *e[3:]) for e in sink]
    assert found == [
        *[(what, n, *more) for n in (1, 2, 3) for what, *more in STEPS],
        ("advance", 0),
        ("end_input", 0),
        ("finish", 0),
        ("precommitted", 4, False),
        ("committed", 4),
        ("close", 0),
    ]


def test_job_with_a_new_operator_before_finished_ones_is_not_started() -> None:
    """It is refused by rule and vertex. Nothing is deployed, and no checkpoint is taken."""
    result = run("flink_restore_new_before")
    assert result.run.outcome == "failed"
    assert result.run.error == "full_needs_full_predecessors at map"
    assert result.tasks == result.checkpoints == []


def test_new_operator_behind_a_finished_branch_runs() -> None:
    """The branch runs no operator and re-emits its watermark. The new one ends with its inputs."""
    result = run("flink_restore_new_behind")
    assert result.violations == []
    assert calls(result, "short") == calls(result, "map") == []
    ends = [c for c in calls(result, "added") if c.split()[0] not in ("snapshot", "notify")]
    assert ends == ["end_input(1)", "advance", "end_input(2)", "finish", "close"]
    assert result.run.records_committed == 30


def test_union_state_gives_up_a_dozen_checkpoints_in_a_row() -> None:
    """From the first end of a subtask on none completes until the other ends. The job continues."""
    result = run("flink_restore_union")
    assert result.run.attempts == 1
    assert result.run.outcome == "completed"
    after = [row.status for row in result.checkpoints if row.triggered_ns >= 20_000_000]
    assert after[:12] == ["aborted"] * 12
    assert after.count("completed") == 1
