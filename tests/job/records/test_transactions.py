"""What becomes of a sink's transactions when a job restarts, in the external system's own words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Plane
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.sinks.external import Status
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.kernel import Environment
from ckptsim.sim.slots import OURS
from ckptsim.sim.world import run_world
from tests.job.properties.breaker import placed
from tests.job.records.small import MS, chain, small

RECOVERED = by_name("transactions_recovered")
TIMED = by_name("transaction_times_out")


def waiting(scenario: Scenario, timeout_ns: int | None) -> Scenario:
    """Return the scenario with an external system that waits so long."""
    model: Any = scenario.model
    costs = replace(model.costs, transaction_timeout_ns=timeout_ns)
    return replace(scenario, model=replace(model, costs=costs))


def test_restored_sinks_end_what_their_state_holds_and_nothing_else() -> None:
    """Each subtask commits pending and aborts open transactions, before any record."""
    result = run_world(RECOVERED, seed=0, keep_trace=True)
    kinds = ("recommitted", "reaborted", "unknown", "restored")
    found = [(e[1], e[2].split()[-1]) for e in result.trace if e[1] in kinds]
    both = [("recommitted", "sink[0]"), ("reaborted", "sink[0]")]
    both += [("recommitted", "sink[1]"), ("reaborted", "sink[1]")]
    left = [("unknown", "job")] * result.goals["left_to_the_external_system"]
    assert left
    assert found == [*both, ("restored", "job"), *left, *both, ("restored", "job")]
    assert result.violations == []
    assert result.run.records_committed == 60


@pytest.mark.parametrize("timeout_ns", [None, 60 * MS])
def test_external_system_that_waits_long_enough_loses_nothing(timeout_ns: int | None) -> None:
    """The restart is over before the transaction of the completed checkpoint is aborted."""
    result = run_world(waiting(TIMED, timeout_ns), seed=0)
    assert result.violations == []
    assert result.run.records_committed == 60


def test_what_is_left_behind_times_out_without_harm() -> None:
    """A transaction that no state speaks of is aborted in the end, and its records come again."""
    result = run_world(waiting(RECOVERED, 30 * MS), seed=0, keep_trace=True)
    left = {e[3] for e in result.trace if e[1] == "unknown"}
    assert left
    assert left <= {e[3] for e in result.trace if e[1] == "timed_out"}
    assert result.violations == []


def test_recovery_after_the_time_out_loses_what_was_covered() -> None:
    """The records of the completed checkpoint are in an aborted transaction, and come no more."""
    result = run_world(TIMED, seed=0)
    assert result.goals["transaction_timed_out"] > 0
    assert {row.property for row in result.violations} >= set(TIMED.violates)
    assert result.run.records_committed < 60


def _stopped(plane: Plane, wait_ns: int) -> RecordWorld | DataflowWorld:
    """Return a job that was stopped without drain, with a savepoint so much later than the stop."""
    tables: dict[str, Any] = {
        "checkpointing": {"interval_ns": 1_000 * MS, "savepoint_at_ns": 15 * MS + wait_ns},
        "ending": {"stop_at_ns": 15 * MS, "stop_kind": "no_drain"},
        "costs": {"snapshot_async_ns": 8 * MS, "rpc_ns": 2 * MS},
    }
    job: Any = placed(small(chain(100, **tables)), plane).model
    env, faults = Environment(0), FaultPlan()
    world: RecordWorld | DataflowWorld
    if plane is Plane.RECORDS:
        world = RecordWorld(env, job, faults, cores=OURS)
    else:
        world = DataflowWorld(env, job, faults=faults, protocol=OURS, observer=BufferOracle)
    world.run()
    if plane is Plane.RECORDS:
        world.control.sinks.check_end(())
    return world


@pytest.mark.parametrize("plane", Plane)
def test_a_savepoint_behind_that_of_a_stop_leaves_an_empty_transaction(plane: Plane) -> None:
    """The sink closes and leaves it pre-committed.

    Anyone who resumes the job aborts or commits it.
    """
    world = _stopped(plane, MS)
    assert world.control.ended
    assert world.violations == []
    (left,) = world.control.sinks.external.unended()
    assert (left.status, left.count) == (Status.PRECOMMITTED, 0)
    assert world.coordinator.stop_id is not None
    assert left.checkpoint_id == world.coordinator.stop_id + 1
    stop, later = (world.coordinator.completed[left.checkpoint_id - ago] for ago in (1, 0))
    assert [state.open for state in stop.sink_states] == [left.name]
    assert left.name in later.sink_states[0].pending
