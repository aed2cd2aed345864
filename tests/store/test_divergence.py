"""Partitions that come to disagree about their version, and servers that switch logs."""

from __future__ import annotations

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators import GENERATORS, Choices
from ckptsim.scenarios.store import TransferFromPeer
from ckptsim.sim.kernel import Streams
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.mutants.store.positions import MUTANTS

DRAWN = 150


def _broken(result: RunResult) -> set[str]:
    return {row.property for row in result.violations}


def test_drawn_runs_tell_a_merge_from_an_error() -> None:
    """Where partitions disagree, our versions refuse and are clean. A merge answers."""
    found: set[str] = set()
    reached = 0
    for number in range(DRAWN):
        stream = Streams(number).stream("divergence")
        scenario = GENERATORS["checkpoint_store"](Choices((), stream.integer))
        if not any(isinstance(fault, TransferFromPeer) for fault in scenario.faults):
            continue
        ours = run_world(scenario, seed=number, ties="random")
        assert _broken(ours) == set()
        if "versions_disagree" in str(ours.goals):
            reached += 1
            merged = run_world(scenario, seed=number, ties="random", mutant="merges_version_state")
            found |= _broken(merged)
    assert reached > 2
    assert "version_state_agrees" in found


def test_a_topic_switch_of_a_server_meets_records_in_flight() -> None:
    """Which log a record came from decides. A core that asks a live flag is convicted."""
    scenario = by_name("topic_switch_of_a_server")
    assert _broken(run_world(scenario, seed=0)) == set()
    factory = MUTANTS["live_flag_decides"].factory
    broken = _broken(run_world(scenario, seed=0, cores={"positions": factory}))
    assert {"durable_rows_are_the_content", "data_is_a_prefix"} <= broken
