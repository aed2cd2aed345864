"""Sinks with transactions on buffers: everything that is committed, left and aborted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.scenarios.job import Costs, Engine, Mode, Plane
from ckptsim.scenarios.job.faults import CrashTask, DelayAcknowledgement
from ckptsim.scenarios.job.names import GOALS
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.sinks.external import Status
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.kernel import Environment
from tests.job.buffers.broken import MS, ending, into_sink, job

CRASH = CrashTask(vertex="operator", subtask=1, at_ns=190 * MS)
LATE = DelayAcknowledgement(vertex="source", subtask=0, checkpoint=4, delay_ns=40 * MS)


def run(model: Any, *faults: Any) -> tuple[DataflowWorld, list[Any]]:
    """Run a job with operators that write into transactions. Return it and what it violated."""
    env = Environment(1, goals=GOALS[Plane.BUFFERS], keep_trace=True)
    world = DataflowWorld(env, into_sink(model), faults=FaultPlan(faults), observer=BufferOracle)
    world.run()
    return world, world.violations


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("engine", list(Engine))
def test_all_that_was_sent_is_committed_in_the_end(mode: Mode, engine: Engine) -> None:
    """After a crash, too, the committed output has every record, and no transaction is open."""
    model = replace(ending(job(mode, rate_per_s=800.0)), engine=engine)
    world, violations = run(model, CRASH)
    external = world.control.sinks.external
    assert violations == []
    assert world.control.ended
    assert len(world.control.failovers) == 1
    assert external.committed_count("operator") >= 400
    if mode is not Mode.AT_LEAST_ONCE:
        assert external.committed_count("operator") == 400
    left = [one for one in external.unended() if one.attempt == world.control.attempts]
    assert left == []


def test_a_restart_commits_what_is_pending_and_aborts_what_is_open() -> None:
    """Restored sinks end what their state holds. What the failed attempt began later stays open."""
    world, violations = run(ending(job(rate_per_s=300.0)), LATE, CRASH)
    kinds = [entry[1] for entry in world.env.trace.entries]
    assert violations == []
    assert kinds.count("recommitted") == kinds.count("reaborted") == 2
    assert kinds.count("unknown") == world.env.goals.counts["left_to_the_external_system"] > 0
    for one in world.control.sinks.external.unended():
        assert (one.attempt, one.recovered, one.checkpoint_id) == (1, False, None)


def test_what_times_out_before_its_completion_is_lost() -> None:
    """The external system aborts a pre-committed transaction that waits too long to be committed.

    Its records are in a completed checkpoint, so no one sends them again.
    """
    model = ending(job(rate_per_s=300.0))
    model = replace(model, costs=Costs(transaction_timeout_ns=80 * MS))
    world, violations = run(model, LATE)
    assert world.env.goals.counts["transaction_timed_out"] > 0
    names = {name for name, *_ in violations}
    assert names == {"transaction_ends_once", "exactly_once_output"}
    statuses = {one.status for one in world.control.sinks.external.transactions.values()}
    assert statuses == {Status.COMMITTED, Status.ABORTED}


def test_a_sink_costs_nothing() -> None:
    """Transactions take no time: checkpoints of the same job without them are as long."""
    plain = job(rate_per_s=300.0)
    world, _ = run(plain)
    other = DataflowWorld(Environment(1), plain)
    other.run()
    first, second = (w.coordinator.records.values() for w in (world, other))
    assert [one.duration_ns for one in first] == [one.duration_ns for one in second]
