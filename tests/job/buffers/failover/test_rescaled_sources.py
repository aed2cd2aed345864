"""Sources that are rescaled on buffers: the place and the pace of splits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from ckptsim.sim.world import run_world
from tests.job.buffers.drivers.test_restarts import assert_same
from tests.job.records.small import small

MS = 1_000_000
S = 1_000 * MS


def scenario(
    *rescales: tuple[int, int], timed: bool = False, interval_ms: int = 30, **changes: Any
) -> Scenario:
    """Return a job with source of three splits that is rescaled at some instants in ms.

    A mapper goes with it by a forwarded edge. Barriers overtake after that.  changes: of the
    source.
    """
    source = {"name": "source", "kind": "source", "parallelism": 3, "records": 600}
    source |= {"records_step": 20, "rate_per_s": 1_500.0} | changes
    source["replayable"] = timed and source["rate_per_s"] is not None
    forward = {"upstream": "source", "partitioner": "forward"}
    mapper = {"name": "map", "parallelism": 3, "inputs": [forward], "service_ns": MS // 10}
    keyed = {"upstream": "map", "partitioner": "hash"}
    sink = {"name": "sink", "kind": "sink", "inputs": [keyed], "service_ns": MS // 2}
    vertices = [
        {key: value for key, value in one.items() if value is not None}
        for one in (source, mapper, sink)
    ]
    job = {
        "vertices": vertices,
        "network": {"record_bytes": 500, "segment_bytes": 2_048},
        "checkpointing": {"mode": "unaligned", "interval_ns": interval_ms * MS},
        "storage": {"create_latency_ns": 0},
        "restart": {"kind": "fixed_delay", "delay_ns": 0},
        "recovery": {"timed": timed},
        "duration_ns": (20 if source["records"] else 3) * S,
    }
    faults = [
        {"kind": "rescale", "vertex": "source", "parallelism": count, "at_ns": at_ms * MS}
        for at_ms, count in rescales
    ]
    return small(job, *faults, link="barriers")


def owners(made: Scenario) -> list[dict[int, int]]:
    """Return which subtask had which split, attempt by attempt."""
    found: list[dict[int, int]] = []

    class Watched(DataflowWorld):
        def start(self) -> None:
            found.append(self.splits.owners)
            super().start()

    faults = cast("tuple[JobFault, ...]", made.faults)
    job = cast("Job", made.model)
    world = Watched(Environment(1), job, faults=FaultPlan(faults), observer=BufferOracle)
    world.run()
    assert world.violations == []
    return found


def test_splits_are_dealt_out_as_on_records() -> None:
    """In blocks as even as can be, the first subtasks get one more. As many keep theirs."""
    begun, two, again, four = owners(scenario((100, 2), (180, 2), (260, 4)))
    assert begun == {0: 0, 1: 1, 2: 2}
    assert two == again == {0: 0, 1: 0, 2: 1}
    assert four == {0: 0, 1: 1, 2: 2}


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("rate_per_s", [1_500.0, None])
@pytest.mark.parametrize("counts", [(1,), (2, 5), (5, 1, 3)])
def test_no_record_is_lost_or_repeated(
    counts: tuple[int, ...], rate_per_s: float | None, *, timed: bool
) -> None:
    """Whatever becomes of the splits, with clocks or without, at once or in its time."""
    apart_ms = 700 if timed else 110
    rescales = [(290 + apart_ms * place, count) for place, count in enumerate(counts)]
    made = scenario(*rescales, timed=timed, rate_per_s=rate_per_s, records=1_200)
    result = run_world(made, seed=len(counts), ties="random")
    assert result.violations == []
    assert result.run.outcome == "completed"
    assert result.run.records_produced == result.run.records_committed == 1_200 + 60
    assert result.goals["restored_rescaled"] >= 1


@pytest.mark.parametrize("number", range(4))
def test_drivers_agree_on_rescaled_sources(number: int) -> None:
    """A subtask turns from split to split at the same instants, or is idle without one."""
    timed, rate_per_s = number % 2 == 1, (1_500.0, None)[number // 2]
    made = scenario((90, 2), (1_200, 1), timed=timed, rate_per_s=rate_per_s, records=1_200)
    assert_same(made, number)
    assert_same(scenario((90, 5), timed=timed, rate_per_s=rate_per_s, records=None), number)


def emitted(made: Scenario, from_ms: int, to_ms: int) -> int:
    """Return how many records sources emit between two instants."""
    counts = []
    for end_ms in (from_ms, to_ms):
        job = replace(cast("Job", made.model), duration_ns=end_ms * MS)
        faults = cast("tuple[JobFault, ...]", made.faults)
        world = DataflowWorld(Environment(1), job, faults=FaultPlan(faults))
        world.run()
        world.catch_up()
        counts.append(sum(world.positions().values()))
    return counts[1] - counts[0]


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_the_rate_of_a_source_is_that_of_its_splits(count: int) -> None:
    """However few subtasks read them, or many, also where the rate has changed since."""
    course: dict[str, Any] = {
        "rate_changes": [{"at_ns": 1 * S, "factor": 0.5}, {"at_ns": 2 * S, "factor": 0.25}],
        "rate_shares": [1.0, 2.0, 3.0],
    }
    early, late = (
        scenario((at_ms, count), interval_ms=200, rate_per_s=600.0, records=None, **course)
        for at_ms in (290, 1_490)
    )
    assert emitted(early, 400, 900) == pytest.approx(300, abs=4)
    assert emitted(early, 1_100, 1_900) == pytest.approx(240, abs=4)
    assert emitted(late, 1_600, 1_900) == pytest.approx(90, abs=4)
    assert emitted(late, 2_100, 2_900) == pytest.approx(120, abs=4)


def test_a_subtask_without_a_split_takes_part_in_checkpoints() -> None:
    """Those for an unbounded source wait for records that never come, and let barriers through."""
    result = run_world(scenario((90, 5), records=None, ends_at_ns=600 * MS), seed=1)
    assert result.violations == []
    assert result.run.outcome == "completed"
    after = [one for one in result.checkpoints if one.attempt == 2 and one.status == "completed"]
    assert len(after) >= 5
    idle = [one for one in result.tasks if one.task == "source" and one.subtask >= 3]
    assert [one.records for one in idle] == [0, 0]
