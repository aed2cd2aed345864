"""One pipeline on both data planes: same plans, decisions, completed checkpoints, commits, store.

Costs are chosen so that they do not decide.  A round of partitions comes every two seconds, in the
middle between two checkpoints, and is over long before the next one. What fails, fails in between.
So checkpoints cover the same records on both planes. The test compares their course and the content
of the store.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import from_json
from ckptsim.sim.composed.world import PipelineWorld
from ckptsim.sim.job.control.sinks.external import Status
from ckptsim.sim.rows import RunResult
from tests.composed.plans import MODES, MS, PARTITIONERS, run_pipeline
from tests.job.records.plans import Chooser, Seeded
from tests.job.test_planes import course

S = 1_000 * MS
ROUND_NS = 2 * S  # between two rounds of partitions, and between two checkpoints
MIDDLE_NS = S  # how much later than a checkpoint what a round has read arrives
NUMBERED = ("fail_snapshot", "delay_acknowledgement", "lose_notification", "delay_notification")


def scenario(choose: Chooser, plane: str) -> Scenario:
    """Return a random pipeline with faults, for a plane."""
    readers = choose.integer(1, 3)
    stages = [_step(choose, name=f"stage{number}") for number in range(choose.integer(0, 2))]
    sink = _step(choose)
    before = readers
    for step in [*stages, sink]:
        if step["partitioner"] == "forward" and step["parallelism"] != before:
            step["partitioner"] = "hash"
        before = step["parallelism"]
    placement = choose.of(("colocated", "external", "consumer_group_blob"))
    streams = [
        {"name": name, "records": choose.integer(10, 40), "partition_records": 10}
        for name in ("users", "orders")[: choose.integer(1, 2)]
    ]
    pipeline: dict[str, Any] = {
        "plane": plane,
        "streams": streams,
        "source": {
            "open_ns": ROUND_NS,
            "open_spread": 0.0,
            "round_readers": choose.integer(1, 2),
            "packet_records": choose.of((5, 10)),
        },
        "sockets": {"count": choose.integer(2, 4), "latency_ns": MIDDLE_NS},
        "readers": {"parallelism": readers, "rate_per_s": choose.of((1_000.0 * readers, "none"))},
        "stages": stages,
        "sink": sink,
        "network": {"record_bytes": 100, "buffer_timeout_ns": 5 * MS},
        "checkpointing": {
            "mode": choose.of(MODES),
            "aligned_timeout_ns": choose.of((0, 3)) * MS,
            "interval_ns": ROUND_NS,
            # The first trigger of an attempt comes after so much at least, also where it is drawn.
            "min_pause_ns": ROUND_NS - 200 * MS,
            "first_trigger_ns": ROUND_NS,
            "timeout_ns": 500 * MS,
            "retained": choose.of((1, 3)),
        },
        "storage": {"inline_threshold_bytes": 0},
        "store": {
            "placement": placement,
            "writes": choose.of(("upsert", "append")) if placement == "colocated" else "upsert",
        },
        "release": {"stall_limit_ns": 10 * S},
        "platform": {"backoff_ns": [S]},
    }
    faults = [_numbered(choose, pipeline) for _ in range(choose.integer(0, 2))]
    faults += [_crash(choose, pipeline) for _ in range(choose.integer(0, 1))]
    text = {"name": "both", "link": "composed", "says": "a pipeline for both planes"}
    return from_json(json.dumps(text | {"pipeline": pipeline, "faults": faults}))


def _step(choose: Chooser, **named: str) -> dict[str, Any]:
    """Return a stage or the sink."""
    step = {"parallelism": choose.integer(1, 3), "partitioner": choose.of(PARTITIONERS)}
    return named | step | {"service_ns": choose.of((0, 2)) * MS}


def _crash(choose: Chooser, pipeline: dict[str, Any]) -> dict[str, Any]:
    """Return a crash between a checkpoint and the next round."""
    quiet = {"at_ns": choose.integer(1, 4) * ROUND_NS + MIDDLE_NS // 2}
    if choose.of((True, False)):
        return quiet | {"kind": "crash_at", "side": choose.of(("destination", "source"))}
    return quiet | _subtask(choose, pipeline, "crash_task")


def _numbered(choose: Chooser, pipeline: dict[str, Any]) -> dict[str, Any]:
    """Return a fault of a checkpoint or of a commit."""
    kind = choose.of((*NUMBERED, "delay_report", "refuse_commits"))
    if kind == "delay_report":
        return {"kind": kind, "commit": choose.integer(1, 5), "delay_ns": 20 * MS}
    if kind == "refuse_commits":
        return {"kind": kind, "commit": choose.integer(1, 5), "commits": 2}
    fault = _subtask(choose, pipeline, kind) | {"checkpoint": choose.integer(1, 3)}
    late = kind.startswith("delay_")
    return fault | ({"delay_ns": choose.of((60, 700)) * MS} if late else {})


def _subtask(choose: Chooser, pipeline: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return a fault of a kind and the subtask that it strikes."""
    vertices = [("readers", pipeline["readers"]), ("sink", pipeline["sink"])]
    vertices += [(stage["name"], stage) for stage in pipeline["stages"]]
    name, vertex = choose.of(tuple(vertices))
    subtask = choose.integer(0, vertex["parallelism"] - 1)
    return {"kind": kind, "vertex": name, "subtask": subtask}


def commits(world: PipelineWorld) -> dict[int, Counter[int]]:
    """Return per checkpoint of the job which records were committed with it, over all sinks."""
    found: dict[int, Counter[int]] = {}
    for transaction in world.job.control.sinks.external.transactions.values():
        number = transaction.checkpoint_id
        if transaction.status is Status.COMMITTED and number is not None and transaction.records:
            found.setdefault(number, Counter()).update(transaction.records)
    return found


def states(result: RunResult) -> list[tuple[Any, ...]]:
    """Return what became of each state of the source, attempt by attempt."""
    rows = [row for row in result.checkpoints if row.scope != "job"]
    return [(row.attempt, row.scope, row.checkpoint_id, row.status, row.reason) for row in rows]


def compare(seeds: range) -> Counter[str]:
    """Compare both planes on many pipelines. Return the observations of them."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        worlds, results = [], []
        for plane in ("records", "buffers"):
            world, result = run_pipeline(scenario(Seeded(seed), plane), seed)
            assert [row.says for row in result.violations] == [], f"seed {seed} on {plane}"
            assert result.run.outcome == "completed", f"seed {seed} on {plane}"
            worlds.append(world)
            results.append(result)
        first, other = worlds
        assert course(first.job.control) == course(other.job.control), f"seed {seed}"
        assert commits(first) == commits(other), f"seed {seed}"
        assert first.store.durable() == other.store.durable(), f"seed {seed}"
        attempts = [[one.reason for one in world.truth.attempts] for world in worlds]
        assert attempts[0] == attempts[1], f"seed {seed}"
        assert states(results[0]) == states(results[1]), f"seed {seed}"
        seen.update(one.status for one in first.job.control.coordinator.records.values())
        seen["commits with records"] += len(commits(first))
        seen["restored"] += sum(number is not None for number in first.job.restored_ids)
    return seen


def test_both_planes_commit_alike() -> None:
    """A hundred random pipelines have one course on records and on buffers, and commit the same."""
    seen = compare(range(100))
    assert seen["completed"] >= 300
    assert seen["commits with records"] >= 200
    assert min(seen["aborted"], seen["expired"], seen["restored"]) >= 5


@pytest.mark.long
def test_both_planes_commit_alike_at_length() -> None:
    """The same for 500 random pipelines."""
    seen = compare(range(100, 600))
    assert min(seen["aborted"], seen["expired"], seen["restored"]) >= 30
