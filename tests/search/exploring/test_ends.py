"""Runs around a scenario are cut short after so much work, and their end is judged with care."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.models.coordinator import CheckpointCoordinator
from ckptsim.models.coordinator.events import (
    CheckpointRequested,
    SchedulerStarted,
    SetTimer,
    TimerFired,
    TimerKind,
)
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job.faults import CrashAtCheckpoint, CrashTask
from ckptsim.sim.search.explore import Explorer
from ckptsim.sim.search.explore.ends import judged, steps_of
from ckptsim.sim.search.trial import Subject, trial

# A stop that fails is asked for again after twice the interval, which is 1,000 s.
STOPPED = by_name("flink_drain_waiting")
CRASH = CrashAtCheckpoint(vertex="both", subtask=0, checkpoint=1)


class _IgnoresRequests(CheckpointCoordinator):
    def step(self, event: Any) -> Any:
        return [] if isinstance(event, CheckpointRequested) else super().step(event)


class _AsksItselfForEver(CheckpointCoordinator):
    def step(self, event: Any) -> Any:
        again = SetTimer(TimerKind.EXPIRY, 1_000, 0)
        if isinstance(event, TimerFired) and event.number == again.number:
            return [again]
        return [*super().step(event), *([again] if isinstance(event, SchedulerStarted) else [])]


def test_a_right_run_that_has_to_wait_is_cut_short() -> None:
    """A stop that a crash makes fail leaves a long run, which is cut and convicts no core."""
    subject = Subject(scenario=replace(STOPPED, faults=(CRASH,)), cut_after=steps_of(STOPPED))
    found = trial(subject, 0, "structural")
    assert found.outcome == "cut"
    assert judged(subject, found, lambda other: trial(other, 0, "structural")).violations == ()


@pytest.mark.parametrize(
    ("core", "outcome"), [(_IgnoresRequests, "cut"), (_AsksItselfForEver, "stuck")]
)
def test_a_core_that_lets_no_run_end_is_convicted(core: Any, outcome: str) -> None:
    """Where ours ends soon, going on for many times as long is a violation, also at one instant."""
    explorer = Explorer(link=STOPPED.link, scenario=STOPPED, cores={"coordinator": core})
    found = explorer.run(0, ()).trial
    assert found.outcome == outcome
    assert found.violations[-1].property == "a_run_ends"
    assert "with our cores it ends after" in found.violations[-1].says


def test_a_core_is_not_convicted_where_faults_may_have_held_it_up() -> None:
    """After a fault it has the longest time of the scenario, which no run of so few steps shows."""
    crash = CrashTask(vertex="both", subtask=0, at_ns=1)
    subject = Subject(
        scenario=replace(STOPPED, faults=(crash,)),
        cores={"coordinator": _IgnoresRequests},
        cut_after=steps_of(STOPPED),
    )
    found = trial(subject, 0, "structural")
    assert found.outcome == "cut"
    assert judged(subject, found, lambda other: trial(other, 0, "structural")).violations == ()
