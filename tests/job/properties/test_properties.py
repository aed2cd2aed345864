"""Every property of a job can fail, alone, and represents an invariant that was published."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.scenarios import ScenarioError, UserError
from ckptsim.scenarios.files.document import from_json
from ckptsim.scenarios.job import Engine
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.names import ALL_PROPERTIES, PROPERTIES, RENAMED
from ckptsim.scenarios.severity import severity_of
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.operations import Operations
from ckptsim.sim.job.control.task.handler import HandlerHost
from ckptsim.sim.job.events import of_tasks
from ckptsim.sim.job.oracle.buffers import BufferOracle
from ckptsim.sim.job.parallelism import Changes
from ckptsim.sim.judging import Judging
from ckptsim.sim.kernel import Environment
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.slots import OURS
from ckptsim.sim.world import run_world
from tests.job.buffers.broken import BROKEN, Broken
from tests.job.properties import invariants
from tests.job.properties.breaker import at, placed
from tests.job.properties.table import BREAKERS, ON_BUFFERS
from tests.job.records.plans import MS
from tests.job.records.small import chain, join, small

# What released Flink does wrong itself. The right core shows it.
HAZARDS = {
    "single_channel_keeps_the_clock",
    "closed_tasks_leave_nothing_queued",
    "given_up_checkpoints_free_channels",
    "closed_tasks_owe_no_shared_file",
    "records_let_triggers_pass",
}


def test_every_property_has_something_that_breaks_it() -> None:
    """No property is registered on a plane without a run in which it does not hold there."""
    assert sorted(BREAKERS) == sorted(PROPERTIES[Plane.RECORDS])
    there = {broken.breaks for broken in BROKEN.values()} | set(ON_BUFFERS) | HAZARDS
    assert there == set(PROPERTIES[Plane.BUFFERS])


def about(row: ViolationRow) -> set[str]:
    """Return the property of a row and, where a restart shows it, all that is broken there."""
    restarted = re.match(r"restarted from checkpoint \d+: (\w+):", row.says)
    return {row.property} if restarted is None else {row.property, restarted[1]}


CASES = [(name, number) for name, found in BREAKERS.items() for number in range(len(found))]


@pytest.mark.parametrize(("name", "number"), CASES)
def test_property_can_fail_on_records(name: str, number: int) -> None:
    """A job with one broken promise is caught by the property that speaks of it, and no other."""
    breaker = BREAKERS[name][number]
    result = breaker.run()
    assert sorted(set().union(*map(about, result.violations))) == sorted({name, *breaker.also})
    classes = [severity_of(row.property) for row in result.violations]
    assert classes == sorted(classes)
    row = next(row for row in result.violations if row.property == name)
    assert row.says
    assert row.replay.startswith("ckptsim replay ")


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, found in ON_BUFFERS.items() for number in found]
)
def test_property_can_fail_on_buffers(name: str, number: int) -> None:
    """The same broken promise is caught in the same job on buffers, by no others than there."""
    breaker = BREAKERS[name][number]
    assert placed(breaker.scenario, Plane.BUFFERS).model.problems() == []
    result = breaker.run(Plane.BUFFERS)
    found = {row.property for row in result.violations}
    assert {name} <= found <= {name, *breaker.also}


def violated(broken: Broken, *, right: bool = False) -> set[str]:
    """Return the properties that one run breaks, with or without its broken part."""
    world = DataflowWorld(
        Environment(1),
        replace(
            broken.model, engine=Engine.PROCESSES
        ),  # everything that is broken is not the kernel
        protocol=OURS if right else broken.protocol,
        faults=FaultPlan(broken.faults),
        observer=BufferOracle,
    )
    with suppress(*(() if right else (ProtocolError,))):  # what it does to others is not asked
        world.run()
    return {name for name, *_ in world.violations}


@pytest.mark.parametrize("name", list(BROKEN))
def test_broken_part_breaks_its_property(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The property does not hold with the broken part. With the right one all of them do."""
    broken = BROKEN[name]
    assert violated(broken, right=True) == set()
    broken.patch(monkeypatch)
    assert broken.breaks in violated(broken)


ROWS = [*invariants.BARRIERS.values(), *invariants.ENDS.values()]


def test_no_invariant_is_left_out() -> None:
    """S1 to S23, L1 to L7 of barriers, and 1 to 23 of the ends of tasks."""
    safety = [f"S{number}" for number in range(1, 24)]
    liveness = [f"L{number}" for number in range(1, 8)]
    assert list(invariants.BARRIERS) == [*safety, *liveness]
    assert list(invariants.ENDS) == [str(number) for number in range(1, 24)]


def test_every_invariant_is_a_property() -> None:
    """Each has at least one, and the names are registered."""
    for row in ROWS:
        assert row.properties
        assert set(row.properties) <= set(ALL_PROPERTIES)


def test_names_that_have_gone_lead_to_the_new_ones() -> None:
    """Users who declines or expects a property by its old name is shown the one that it has now."""
    assert set(RENAMED.values()) <= set(ALL_PROPERTIES)
    assert not set(RENAMED) & set(ALL_PROPERTIES)
    declined = Judging(ignore=("notified_after_completion",))
    with pytest.raises(UserError, match="notified_after_completion is called notified_once now"):
        run_world(small(chain()), seed=0, judging=declined)
    head = {"violates": ["triggers_arrive"], "name": "old", "says": "x", "link": "barriers"}
    with pytest.raises(ScenarioError, match="messages_arrive"):
        from_json(json.dumps(head | {"job": {"vertices": []}}))


def test_a_closed_task_whose_acknowledgement_was_lost_is_waited_for() -> None:
    """Nothing is wrong with it: it did its part before it closed, and no one will ever hear so."""
    timing = {"interval_ns": 10 * MS, "timeout_ns": 60 * MS, "immediate_final": False}
    job = chain(20, checkpointing=timing)
    job["vertices"].insert(1, job["vertices"][0] | {"name": "other", "records": 200})
    job["vertices"][-1]["inputs"].append({"upstream": "other"})
    late = at("source", "delay_notification", checkpoint=3, delay_ns=12 * MS)
    result = run_world(small(job, late, at("source", "lose_acknowledgement", checkpoint=4)), seed=1)
    assert [row.checkpoint_id for row in result.checkpoints if row.status != "completed"] == [4]
    assert result.violations == []


@pytest.mark.parametrize("asked", [{"kind": "rescale", "parallelism": 2}, {"kind": "resubmit"}])
def test_what_a_user_asks_for_is_done(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that no one restarts for is a violation of its own."""
    monkeypatch.setattr(Operations, "_restart", lambda *_: None)
    fault = {"vertex": "sink", "at_ns": 20 * MS, "parallelism": 2} | asked
    result = run_world(small(chain(60), fault), seed=0)
    assert "restarts_have_a_cause" in {row.property for row in result.violations}


@pytest.mark.parametrize("plane", Plane)
def test_a_rescaled_job_begins_with_what_was_asked_for(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restart that leaves the parallelism as it was is a violation."""
    monkeypatch.setattr(Changes, "rescale", lambda *_: None)
    fault = {"kind": "rescale", "vertex": "sink", "at_ns": 20 * MS, "parallelism": 2}
    result = run_world(placed(small(chain(60), fault), plane), seed=0)
    assert {row.property for row in result.violations} == {"restarts_have_a_cause"}


@pytest.mark.parametrize("plane", Plane)
def test_a_cancellation_frees_the_channels_that_wait_for_its_checkpoint(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that keeps it from the handler is seen when the next barrier comes, not by a hang."""
    monkeypatch.setattr(HandlerHost, "cancellation", _hears_without_acting)
    job = join(3, checkpointing={"interval_ns": 20 * MS, "tolerable_failures": 5})
    job["checkpointing"]["min_pause_ns"] = 40 * MS
    late = at("right", "delay_trigger", checkpoint=1, delay_ns=15 * MS)
    fault = at("left", "fail_snapshot", checkpoint=1)
    result = run_world(placed(small(job, late, fault), plane), seed=0)
    assert "channels_block_and_resume" in {row.property for row in result.violations}


def _hears_without_acting(host: HandlerHost, channel: int, checkpoint: int) -> None:
    del channel
    host._events.emit(of_tasks.CancellationTaken(host._task, checkpoint))
