"""Sweeps over jobs that end: what each grid must give, in closed form or in the mean."""

from __future__ import annotations

import math
from itertools import product
from random import Random
from typing import Any

import pytest

from scenarios import Scenario
from sim.rows import RunResult
from sim.world import run_world
from tests.jobs.chains import HOP_NS, S, chain, closes_ns, since
from tests.jobs.plans import scenario_of

MS = 1_000_000
FIRST = 30  # the first trigger after a source that ends at 25 s, every 10 s
DEPTHS = (1, 2, 3, 6)


def run(scenario: Scenario, seed: int = 0) -> RunResult:
    """Run a scenario whose job must end and break nothing."""
    result = run_world(scenario, seed=seed)
    assert result.violations == []
    return result


def small(job: dict[str, Any], faults: list[dict[str, Any]] | None = None) -> Scenario:
    """Return the scenario of a job in base units."""
    return scenario_of(
        {
            "name": "small",
            "link": "final_checkpoint",
            "says": "a small job",
            "job": job,
            "faults": faults or [],
        }
    )


def pair(records: int = 10, **tables: Any) -> dict[str, Any]:
    """Return a source and a sink: records every millisecond, processed at once."""
    return {
        "vertices": [
            {"name": "source", "kind": "source", "records": records, "emit_interval_ns": MS},
            {"name": "sink", "kind": "sink", "service_ns": 0},
        ],
        "edges": [{"upstream": "source", "downstream": "sink"}],
    } | tables


@pytest.mark.parametrize("depth", DEPTHS)
def test_one_checkpoint_closes_a_chain_of_any_depth(depth: int) -> None:
    """Without a backlog: one checkpoint, the end at its completion and one hop per task."""
    result = run(chain(depth=depth))
    assert since(result, 25) == [FIRST]
    assert closes_ns(result)[-1] == (FIRST + 1) * S + depth * HOP_NS


@pytest.mark.parametrize("depth", DEPTHS)
def test_naive_chain_needs_a_checkpoint_per_task(depth: int) -> None:
    """Before EndOfData: D + 1 checkpoints, so the end comes D intervals later."""
    result = run(chain(depth=depth, protocol="naive"))
    assert len(since(result, 25)) == depth + 1
    assert closes_ns(result)[-1] == (FIRST + 1 + depth * 10) * S


@pytest.mark.parametrize(("depth", "backlog"), product((1, 2, 4), (1, 3, 9)))
def test_aligned_checkpoint_queues_behind_the_backlog(depth: int, backlog: int) -> None:
    """One checkpoint; it lasts until the last EndOfData has been polled."""
    result = run(chain(depth=depth, backlog=backlog, first=FIRST))
    end = max(FIRST, 25 + depth * backlog)
    assert since(result, 25) == [FIRST]
    assert result.checkpoints[-1].duration_ns == (end - FIRST + 1) * S
    assert closes_ns(result)[-1] == (end + 1) * S + depth * HOP_NS


@pytest.mark.parametrize(("depth", "backlog"), product((1, 2, 4), (1, 3, 9)))
def test_unaligned_checkpoints_stay_short_behind_a_backlog(depth: int, backlog: int) -> None:
    """Many short ones: the final one of a task is the first triggered after its EndOfData."""
    result = run(chain(depth=depth, backlog=backlog, mode="unaligned"))
    last = 25 + depth * backlog
    expected = 1 if last <= FIRST else 1 + math.ceil((last - FIRST) / 10)
    assert len(since(result, 25)) == expected
    assert {row.duration_ns for row in result.checkpoints} == {S}


def test_wait_is_uniform_in_the_interval_unless_a_checkpoint_is_triggered_at_once() -> None:
    """The mean extra wait is half an interval and c; with the immediate trigger it is c."""
    ends = [20 + tenth for tenth in range(1, 10)]
    waits = [run(chain(end=end)).run.ended_ns - end * S - 4 * HOP_NS for end in ends]
    assert sum(waits) / len(waits) == 5 * S + S
    soon = [run(chain(end=end, immediate=True)).run.ended_ns - end * S - 4 * HOP_NS for end in ends]
    assert set(soon) == {S}


def two_sources(*, immediate: bool, records: int | None) -> Scenario:
    """Return a job with a short source of 10 ms and another beside it."""
    other: dict[str, Any] = {"name": "other", "kind": "source", "emit_interval_ns": MS}
    if records is not None:
        other["records"] = records
    job = {
        "vertices": [
            {"name": "short", "kind": "source", "records": 10, "emit_interval_ns": MS},
            other,
            {"name": "join", "service_ns": 0},
            {"name": "sink", "kind": "sink", "service_ns": 0},
        ],
        "edges": [
            {"upstream": "short", "downstream": "join"},
            {"upstream": "other", "downstream": "join"},
            {"upstream": "join", "downstream": "sink"},
        ],
        "checkpointing": {"interval_ns": 20 * MS, "immediate_final": immediate},
    }
    if records is None:
        job["ending"] = {"stop_at_ns": 90 * MS}
    return small(job)


def test_gain_of_the_immediate_trigger_goes_with_one_endless_source() -> None:
    """The bounded branch waits for the next periodic checkpoint in either case."""
    closes = [
        closes_ns(run(two_sources(immediate=immediate, records=None)))[0]
        for immediate in (False, True)
    ]
    assert closes == [20 * MS, 20 * MS]


def test_joint_operator_runs_on_until_its_other_input_has_ended() -> None:
    """The short branch closes after one checkpoint; event time stands still until both end."""
    result = run_world(two_sources(immediate=False, records=70), seed=0, keep_trace=True)
    assert [instant // MS for instant in closes_ns(result)] == [20, 80, 80, 80]
    advanced = [e[0] // MS for e in result.trace if e[1:4] == ("called", "task join[0]", "advance")]
    assert advanced == [70]


def staggered(partitioner: str, *, union: bool = False, step: int = 26) -> Scenario:
    """Return four source subtasks that end one after another, `step` ms apart."""
    vertices: list[dict[str, Any]] = [
        {
            "name": "source",
            "kind": "source",
            "parallelism": 4,
            "records": 15,
            "records_step": step,
            "emit_interval_ns": MS,
            "union_state": union,
        },
        {"name": "sink", "kind": "sink", "parallelism": 4, "service_ns": 0},
    ]
    return small(
        {
            "vertices": vertices,
            "edges": [{"upstream": "source", "downstream": "sink", "partitioner": partitioner}],
            "checkpointing": {"interval_ns": 10 * MS, "immediate_final": False},
        }
    )


def test_subtasks_close_each_at_its_own_next_checkpoint() -> None:
    """Sources end at 15, 41, 67 and 93 ms and close at the next trigger, which is for them."""
    result = run(staggered("keyed"))
    assert [instant // MS for instant in closes_ns(result)[:4]] == [20, 50, 70, 100]


def test_below_finished_subtasks_pointwise_successors_are_triggered_directly() -> None:
    """Forward: a sink without a running source is triggered by remote call; keyed: never."""
    goal = "triggered_by_remote_call_below_finished"
    assert run(staggered("keyed")).goals[goal] == 0
    slow = staggered("forward")
    found = run_world(slow, seed=0)
    assert found.violations == []
    assert [instant // MS for instant in closes_ns(found)[4:]] == [20, 50, 70, 100]


def test_union_state_lets_no_checkpoint_complete_between_first_and_last_end() -> None:
    """The longest gap is from the first to the last end, and one checkpoint ends them all."""
    result = run(staggered("keyed", union=True))
    done = [row.completed_ns // MS for row in result.checkpoints if row.completed_ns is not None]
    assert done[:2] == [10, 100]
    aborted = [row.triggered_ns // MS for row in result.checkpoints if row.status == "aborted"]
    assert aborted == [20, 30, 40, 50, 60, 70, 80, 90]
    assert len(set(closes_ns(result)[:4])) == 1


@pytest.mark.parametrize("ratio", [0.25, 0.5])
def test_failing_checkpoints_delay_the_end_geometrically(ratio: float) -> None:
    """With a share q of failing checkpoints the final one is the 1/(1-q)-th in the mean."""
    random, counts = Random(7), []
    for _ in range(150):
        failing = [number for number in range(1, 40) if random.random() < ratio]
        faults = [
            {"kind": "fail_snapshot", "vertex": "sink", "checkpoint": number} for number in failing
        ]
        checkpointing = {"interval_ns": 20 * MS, "immediate_final": False}
        result = run(small(pair(checkpointing=checkpointing), faults))
        counts.append(len(result.checkpoints))
        assert counts[-1] == next(n for n in range(1, 41) if n not in failing)
    spread = math.sqrt(ratio) / (1 - ratio) / math.sqrt(len(counts))
    assert abs(sum(counts) / len(counts) - 1 / (1 - ratio)) < 3 * spread


def test_lost_notifications_delay_the_end_by_the_slowest_task() -> None:
    """The mean number of checkpoints is that of the largest of n geometric variables."""
    loss, tasks, runs = 0.3, 3, 200
    scenario = chain(depth=tasks - 1, end=5, costs={"notification_loss_ratio": loss})
    counts = [len(since(run(scenario, seed), 5)) for seed in range(runs)]
    expected = sum(1 - (1 - loss**k) ** tasks for k in range(60))
    spread = math.sqrt(sum((c - expected) ** 2 for c in counts)) / runs
    assert abs(sum(counts) / runs - expected) < 3 * spread


def test_stop_ends_only_if_every_task_hears_of_its_savepoint() -> None:
    """A stop waits for exactly its savepoint: it ends with probability (1 - p) ** n."""
    loss, runs = 0.2, 200
    job = pair(ending={"stop_at_ns": 5 * MS}, costs={"notification_loss_ratio": loss})
    job["checkpointing"] = {"interval_ns": 20 * MS, "immediate_final": False}
    ended = 0
    for seed in range(runs):
        result = run_world(small(job), seed=seed)
        assert {v.property for v in result.violations} <= {"stop_ends"}
        ended += not result.violations
    expected = (1 - loss) ** 2
    assert abs(ended / runs - expected) < 3 * math.sqrt(expected * (1 - expected) / runs)


def test_share_of_declined_checkpoints_is_the_window_over_the_interval() -> None:
    """From the plan until the end of a task is known at the coordinator two messages pass."""
    interval, message, declined = 100, 5, 0
    for phase in range(interval):
        job = pair(records=10)
        job["vertices"].append(
            {"name": "other", "kind": "source", "records": 300, "emit_interval_ns": MS}
        )
        job["edges"].append({"upstream": "other", "downstream": "sink"})
        job["checkpointing"] = {
            "interval_ns": interval * MS,
            "max_concurrent": 2,
            "immediate_final": False,
        }
        job["costs"] = {"rpc_ns": message * MS, "completion_ns": phase * MS + MS // 2}
        result = run_world(small(job), seed=0, keep_trace=True)
        assert result.violations == []
        declined += any(entry[1:3] == ("declined", "task source[0]") for entry in result.trace)
    assert declined == 2 * message


@pytest.mark.parametrize("acknowledgements", [True, False])
def test_acknowledgement_keeps_checkpoints_short_beside_a_backlog(
    *, acknowledgements: bool
) -> None:
    """Without it a finished task's EndOfPartition has to come through the backlog first."""
    job = {
        "vertices": [
            {"name": "fast", "kind": "source", "records": 60, "emit_interval_ns": MS // 10},
            {"name": "slow", "kind": "source", "records": 30, "emit_interval_ns": 10 * MS},
            {"name": "sink", "kind": "sink", "service_ns": 4 * MS},
        ],
        "edges": [
            {"upstream": "fast", "downstream": "sink"},
            {"upstream": "slow", "downstream": "sink"},
        ],
        "channels": {"sender_records": 100, "receiver_records": 100},
        "checkpointing": {"interval_ns": 20 * MS, "mode": "unaligned", "immediate_final": False},
        "ending": {"acknowledgements": acknowledgements},
    }
    result = run_world(small(job), seed=0)
    longest = max(row.duration_ns or 0 for row in result.checkpoints)
    assert longest <= 4 * MS if acknowledgements else longest >= 150 * MS


@pytest.mark.parametrize(
    ("depth", "backlog", "kind"), product((1, 3), (0, 4), ("drain", "no_drain"))
)
def test_stop_takes_one_savepoint_and_the_time_of_the_backlog(
    depth: int, backlog: int, kind: str
) -> None:
    """Backlog, one savepoint and one hop per task, whatever the mode of the stop."""
    ending = {"stop_at_ns": 25 * S, "stop_kind": kind}
    result = run(chain(depth=depth, end=1000, backlog=backlog, first=900, ending=ending))
    (savepoint,) = result.checkpoints
    assert savepoint.kind == "savepoint"
    assert closes_ns(result)[-1] == (25 + depth * backlog + 1) * S + depth * HOP_NS


@pytest.mark.parametrize(("concurrent", "opens"), product((1, 2, 4), (False, True)))
def test_first_completed_of_several_checkpoints_closes(concurrent: int, *, opens: bool) -> None:
    """As many run as are allowed; younger ones find the task closed and leave empty traces."""
    job = pair(records=10)
    job["vertices"][1]["opens_after_finish"] = opens
    job["checkpointing"] = {
        "interval_ns": 20 * MS,
        "max_concurrent": concurrent,
        "immediate_final": False,
    }
    job["costs"] = {"completion_ns": 75 * MS}
    result = run_world(small(job), seed=0, keep_trace=True)
    assert result.violations == []
    assert len([row for row in result.checkpoints if row.triggered_ns < 95 * MS]) == concurrent
    assert [instant // MS for instant in closes_ns(result)] == [95, 95]
    left = sum(entry[1] == "left" for entry in result.trace)
    assert left == (concurrent - 1 if opens else 0)
