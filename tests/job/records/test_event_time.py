"""Watermarks and idle sources in jobs on records."""

from __future__ import annotations

from collections import Counter
from itertools import count, islice
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators.options import has
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.oracle.restarts import Rescales
from ckptsim.sim.job.records.keys import unit_of
from ckptsim.sim.job.records.tasks.event_time import SourceMarks
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.search.trial import Subject, trial
from ckptsim.sim.world import run_world
from tests.job.records.plans import MS, pinned
from tests.job.records.plans import rescaled_job as random_job
from tests.job.records.rescaling.test_sources import scenario as rescaled
from tests.job.records.small import small

LATE, PASSED = "no_record_is_late", "watermark_passed_an_idle_input"
# A hazard of its own wherever a split is idle while all others have ended.
IDLE = {"event_time_ends_with_its_records"}


def outcome(scenario: Any, seed: int = 0) -> tuple[set[str], set[str]]:
    """Return the properties that a run breaks, and the goals that it reaches."""
    ties = ("structural", "random", "pct")[seed % 3]
    found = trial(Subject(scenario=scenario), seed, ties)
    return {row.property for row in found.violations}, {
        name for name, n in found.goals.items() if n
    }


def test_without_a_time_out_no_split_is_idle() -> None:
    """The same job never passes a split by, and no record of any is late."""
    scenario = by_name("flink_40517_idleness")
    found = outcome(with_parameters(scenario, {"job.event_time.idle_timeout_ns": "none"}))
    assert found[0] == set()
    assert PASSED not in found[1]
    assert PASSED in outcome(scenario)[1]


def test_no_record_is_late_in_random_jobs() -> None:
    """Not over crashes and rescales, with idle splits. Watermarks break nothing else either."""
    told = {
        "job.event_time.watermark_interval_ns": 3 * MS,
        "job.event_time.idle_timeout_ns": 5 * MS,
    }
    passed: Counter[str] = Counter()
    # An enumerator has its splits read in any order, and no watermark says which are left.
    drawn = ((seed, random_job(seed)) for seed in count())
    plain = ((seed, one) for seed, one in drawn if not has(one, ["enumerator"]))
    for seed, scenario in islice(plain, 24):
        broken, reached = outcome(with_parameters(scenario, told), seed)
        assert broken - IDLE == outcome(scenario, seed)[0] - IDLE
        passed.update(reached)
    assert passed[PASSED] >= 3
    assert passed["restored_rescaled"] >= 3


@pytest.mark.parametrize("seed", [3707, 6021, 6424, 7595, 7803])
def test_a_restart_expects_no_more_than_the_run_before(seed: int) -> None:
    """Statuses of idle splits that a checkpoint has in flight count in a job restarted from it."""
    assert outcome(pinned(f"restart_{seed}"), seed)[0] <= IDLE | {"restored_watermarks_stay_true"}


def test_watermarks_in_flight_do_not_speak_for_splits_that_move() -> None:
    """After a source that is rescaled its records may be late, as released Flink has it."""
    assert outcome(pinned("watermark_4880"), 4880)[0] == {"restored_watermarks_stay_true"}


def test_the_hazard_keeps_its_name_through_a_second_failure() -> None:
    """What a misled sender had put after a final watermark is in flight at the next checkpoint."""
    at = {"kind": "crash_task", "vertex": "source"}
    ask = {"kind": "request_checkpoint"}
    job = {
        "vertices": [
            {
                "name": "source",
                "kind": "source",
                "parallelism": 3,
                "rate_per_s": 1500.0,
                "records": 40,
                "records_step": 10,
            },
            {"name": "sink", "kind": "sink", "inputs": [{"upstream": "source"}]},
        ],
        "channels": {"sender_records": 20, "receiver_records": 1},
        "checkpointing": {"mode": "unaligned"},
        "costs": {"rpc_ns": MS // 10, "read_record_ns": MS // 4, "restore_ns": 3 * MS},
        "event_time": {"watermark_interval_ns": 3 * MS, "idle_timeout_ns": 2 * MS},
        "restart": {"kind": "fixed_delay", "delay_ns": 0},
    }
    rescale = {"kind": "rescale", "vertex": "source", "parallelism": 4, "at_ns": 64 * MS}
    asked = [ask | {"at_ns": 40 * MS}, ask | {"at_ns": 71 * MS}]
    faults = [at | {"at_ns": 40 * MS}, asked[0], rescale, asked[1], at | {"at_ns": 90 * MS}]
    found = outcome(small(job, *faults))
    assert found[0] == IDLE | {"restored_watermarks_stay_true"}


def test_who_is_misled_misleads_those_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that is late by a watermark in flight is late by the same hazard two tasks on."""
    vertices: list[dict[str, Any]] = [
        {
            "name": "source",
            "kind": "source",
            "parallelism": 3,
            "rate_per_s": 3000.0,
            "records": 30,
        },
        {"name": "first", "parallelism": 3, "inputs": [{"upstream": "source"}]},
        {"name": "second", "service_ns": 2 * MS, "inputs": [{"upstream": "first"}]},
        {"name": "third", "service_ns": 2 * MS, "inputs": [{"upstream": "second"}]},
    ]
    vertices[2]["inputs"][0]["partitioner"] = "rebalance"
    vertices[3]["inputs"][0]["partitioner"] = "forward"
    job = {
        "vertices": vertices,
        "channels": {"record_buffers": 3},
        "checkpointing": {"mode": "unaligned"},
        "event_time": {"watermark_interval_ns": MS},
    }
    rescale = {"kind": "rescale", "vertex": "first", "parallelism": 2, "at_ns": 60 * MS}
    late: list[str] = []
    violate = RecordWorld.violate

    def seen(world: RecordWorld, name: str, says: str, checkpoint: int | None = None) -> None:
        late.append(says.partition("/")[0])
        violate(world, name, says, checkpoint)

    monkeypatch.setattr(RecordWorld, "violate", seen)
    (row,) = run_world(small(job, rescale), seed=0).violations
    assert (row.property, row.count) == ("restored_watermarks_stay_true", 4)
    assert late == ["second", "second", "third", "third"]


@pytest.mark.parametrize("step", [1, -1])
def test_all_vertices_behind_a_rescaled_one_count(step: int) -> None:
    """In whatever order a scenario names them, and not everything that is beside or in front."""
    names = {"map": ["source"], "join": ["map", "source"], "sink": ["join"], "beside": ["source"]}
    vertices: list[dict[str, Any]] = [{"name": "source", "kind": "source", "records": 9}]
    for name, upstream in names.items():
        vertices.append({"name": name, "inputs": [{"upstream": one} for one in upstream]})
    job: Any = small({"vertices": vertices[::step]}).model
    subtasks = {one["name"]: (0, 1) if one["name"] == "map" else (0,) for one in vertices}
    found = Rescales()
    found.begun(job, cast("JobCheckpoint", SimpleNamespace(subtasks=subtasks)))
    assert set(found.vertices) == {"map", "join", "sink"}


def test_a_source_keeps_the_watermarks_that_it_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that speaks for splits that it has not read is reported by itself, though they moved."""
    tell = SourceMarks._tell

    def early(marks: SourceMarks) -> None:
        latest = max(marks._latest.values(), default=0)
        marks._latest |= dict.fromkeys((one.number for one in marks._source.unread), latest)
        tell(marks)

    monkeypatch.setattr(SourceMarks, "_tell", early)
    made = with_parameters(rescaled(1), {"job.event_time.watermark_interval_ns": MS})
    assert LATE in outcome(made)[0]


def test_order_ends_where_other_edges_spread_a_key_group() -> None:
    """After a function of the user's, a keyed edge gets records of a key group in any order."""
    for partitioner, ordered in (("forward", True), ("hash", True), ("custom", False)):
        graph = Graph(rescaled(3, into=partitioner).model)
        assert (unit_of(graph, "map", 0) is not None) == ordered
        assert (unit_of(graph, "sink", 0) is not None) == ordered


@pytest.mark.parametrize(("shares", "ordered"), [([], True), ([1.0, 1.0, 1.0], False)])
def test_order_ends_where_shares_spread_a_key_group(shares: list[float], *, ordered: bool) -> None:
    """Shares deal out single records.

    Those for a key group go to several subtasks, in any order.
    """
    reads = [{"upstream": "source", "partitioner": "hash", "shares": shares}]
    vertices: list[dict[str, Any]] = [
        {"name": "source", "kind": "source", "records": 40, "rate_per_s": 2_000.0},
        {"name": "map", "kind": "operator", "parallelism": 3, "inputs": reads},
        {"name": "sink", "kind": "sink", "inputs": [{"upstream": "map"}], "service_ns": 5 * MS},
    ]
    channels = {"sender_records": 1, "latency_ns": 0}
    made = small(
        {"vertices": vertices, "channels": channels, "channel_state": {"order_required": True}}
    )
    graph = Graph(made.model)
    assert (unit_of(graph, "map", 0) is not None) == ordered
    assert (unit_of(graph, "sink", 0) is not None) == ordered
    assert outcome(made)[0] == set()


def test_a_final_watermark_in_flight_outlives_a_stop_without_drain() -> None:
    """Event time ends by what the checkpoint holds, though its source has nothing left to cut."""
    vertices: list[dict[str, Any]] = [
        {
            "name": "source0",
            "kind": "source",
            "parallelism": 2,
            "service_ns": MS // 2,
            "rate_per_s": 3_000.0,
            "records": 80,
        },
        {
            "name": "operator0",
            "kind": "operator",
            "service_ns": 5 * MS,
            "inputs": [{"upstream": "source0"}],
        },
    ]
    job = {
        "vertices": vertices,
        "channels": {"sender_records": 20, "receiver_records": 20, "latency_ns": 0},
        "checkpointing": {"mode": "unaligned"},
        "ending": {"stop_at_ns": 100 * MS, "stop_kind": "no_drain"},
    }
    rescale = {"kind": "rescale", "vertex": "source0", "parallelism": 1, "at_ns": 48 * MS}
    found = run_world(small(job, rescale), seed=0)
    assert found.goals["restored_rescaled"] == 1
    assert found.violations == []
