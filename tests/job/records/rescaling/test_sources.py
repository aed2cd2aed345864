"""Sources and `rescale` edges: the place of splits, and that every record is read once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.scenarios import Scenario, ScenarioError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import OrderedEdges
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.kernel import Environment
from ckptsim.sim.slots import OURS
from ckptsim.sim.world import run_world
from tests.job.records.plans import MS
from tests.job.records.small import small


def scenario(
    *parallelisms: int, edges: str = "aligned", into: str = "forward", **changes: Any
) -> Scenario:
    """Return a job after back-pressure with source of three splits that is rescaled, time by time.

    A mapper goes with it by a forwarded edge. into: another one.
    """
    source = {"name": "source", "kind": "source", "parallelism": 3, "records": 150}
    source |= {"records_step": 20, "rate_per_s": 3_000} | changes
    forward = {"upstream": "source", "partitioner": into}
    mapper = {"name": "map", "parallelism": 3, "inputs": [forward], "service_ns": MS}
    sink = {"name": "sink", "kind": "sink", "inputs": [{"upstream": "map", "partitioner": "hash"}]}
    job = {
        "vertices": [source, mapper, sink | {"service_ns": MS // 2}],
        "channels": {"sender_records": 10, "receiver_records": 10},
        "channel_state": {"ordered_edges": edges},
        "checkpointing": {"mode": "unaligned", "interval_ns": 7 * MS},
        "restart": {"kind": "fixed_delay", "delay_ns": 0},
    }
    faults = [
        {"kind": "rescale", "vertex": "source", "parallelism": new, "at_ns": (15 + 18 * place) * MS}
        for place, new in enumerate(parallelisms)
    ]
    return small(job, *faults)


def owners(made: Scenario) -> list[dict[int, int]]:
    """Return which subtask had which split, attempt by attempt."""
    found: list[dict[int, int]] = []
    job: Any = made.model

    class Watched(RecordWorld):
        def start(self) -> None:
            found.append(self.attempt.splits.owners)
            super().start()

    world = Watched(Environment(1), job, FaultPlan(made.faults), cores=OURS)
    world.run()
    assert world.violations == []
    assert world.ended
    return found


def test_splits_are_dealt_out_as_list_state_is() -> None:
    """Blocks as even as can be, the first subtasks get one more. As many subtasks keep theirs."""
    begun, two, again, four = owners(scenario(2, 2, 4))
    assert begun == {0: 0, 1: 1, 2: 2}
    assert two == again == {0: 0, 1: 0, 2: 1}
    assert four == {0: 0, 1: 1, 2: 2}


@pytest.mark.parametrize("edges", list(OrderedEdges))
@pytest.mark.parametrize("parallelisms", [(1,), (2, 5), (5, 1, 3), (8, 2)])
def test_no_record_is_lost_or_repeated(parallelisms: tuple[int, ...], edges: OrderedEdges) -> None:
    """Whatever becomes of the splits. Forced edges alone lose the order of a split that moves."""
    made = scenario(*parallelisms, edges=edges.value)
    for seed in range(3):
        result = run_world(made, seed=seed, ties="random")
        broken = {row.property for row in result.violations}
        assert broken <= ({"needed_order_is_kept"} if edges is OrderedEdges.FORCED else set())
        assert result.run.outcome == "completed"
        assert result.run.records_committed == 150 + 60
        assert result.goals["restored_rescaled"] >= 1


def test_a_source_rescaled_before_its_first_checkpoint_begins_anew() -> None:
    """Its enumerator hands the splits out in turn."""
    made = scenario(2, records=60)
    early = made.faults[0].__class__(vertex="source", parallelism=2, at_ns=2 * MS)
    begun, two = owners(scenario_of_faults(made, early))
    assert (begun, two) == ({0: 0, 1: 1, 2: 2}, {0: 0, 1: 1, 2: 0})


def scenario_of_faults(made: Scenario, *faults: Any) -> Scenario:
    """Return a scenario with other faults."""
    return replace(made, faults=faults)


def test_a_source_that_forgets_what_it_has_read_is_refused() -> None:
    """It has no list of splits that could be dealt out."""
    with pytest.raises(ScenarioError, match="a source that remembers what it has read"):
        scenario(2, keeps_position=False)


def test_the_scenario_of_the_library_reads_every_record_once() -> None:
    """Three splits at two subtasks, then four, with in-flight data restored each time."""
    result = run_world(by_name("rescaled_source"), seed=1)
    assert result.violations == []
    assert result.run.records_committed == 120 + 30


@pytest.mark.parametrize("rule", ["forced", "reassigned"])
@pytest.mark.parametrize(("first", "last"), [((2, 4), (2, 3)), ((4, 2), (1, 5)), ((3, 3), (5, 2))])
def test_rescale_edges_lose_nothing_where_barriers_overtake(
    rule: str, first: tuple[int, int], last: tuple[int, int]
) -> None:
    """Whichever pairs of subtasks have a channel before and after, each record comes once."""
    source = {"name": "source", "kind": "source", "records": 300, "rate_per_s": 9_000}
    edge = {"upstream": "source", "partitioner": "rescale"}
    sink = {"name": "sink", "kind": "sink", "service_ns": 2 * MS, "inputs": [edge]}
    job = {
        "vertices": [source | {"parallelism": first[0]}, sink | {"parallelism": first[1]}],
        "channels": {"sender_records": 12, "receiver_records": 12, "record_buffers": 2},
        "channel_state": {"ordered_edges": rule},
        "checkpointing": {"mode": "unaligned", "interval_ns": 7 * MS},
        "restart": {"kind": "fixed_delay", "delay_ns": 0},
    }
    faults = [
        {"kind": "rescale", "vertex": "sink", "parallelism": last[1], "at_ns": 18 * MS},
        {"kind": "rescale", "vertex": "source", "parallelism": last[0], "at_ns": 41 * MS},
    ]
    for seed in range(2):
        result = run_world(small(job, *faults), seed=seed)
        assert result.violations == []
        assert result.run.records_committed == 300
        assert result.goals["barrier_overtook_records"]
        assert result.goals["restored_rescaled"] >= 2
