"""The hazards that were only read show. Two of them when nothing but the order of ties varies."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Plane
from ckptsim.sim.export import diagrams
from ckptsim.sim.search import Subject, check, hunt
from ckptsim.sim.world import load_world, run_world
from tests.job.properties.breaker import placed

DOCUMENT = Path(__file__).parents[4] / "docs" / "hazards.md"
STOP = Subject(scenario=by_name("stop_overtaken_at_once"))
CLOCK = Subject(scenario=by_name("single_channel_clock"))
LATE = Subject(
    scenario=by_name("late_trigger_at_once"),
    mutant="skipped_trigger_sets_minimum",
)


@pytest.mark.parametrize("ties", ["random", "pct"])
def test_order_of_ties_alone_shows_both(ties: str) -> None:
    """Within sixty orders the stop hangs, and the mutant closes a task too early."""
    assert check(STOP, range(60), ties=(ties,)).expected["stop_ends"] > 0
    (found,) = check(LATE, range(60), ties=(ties,)).unexpected
    assert {row.property for row in found.violations} == {"closes_when_all_is_over"}


def test_structural_order_shows_neither() -> None:
    """In the order in which figures are drawn nothing happens."""
    for subject in (STOP, LATE):
        assert subject.run(0, "structural").violations == []


def test_exhaustive_exploration_hangs_the_stop() -> None:
    """Some of the first two hundred orders of one seed show it."""
    report = check(STOP, range(1), ties=("exhaustive",), orders=200)
    assert report.expected["stop_ends"] > 0


def test_exhaustive_exploration_finds_the_late_trigger() -> None:
    """It takes two departures from the structural order, among the first four hundred tried."""
    (found,) = check(LATE, range(1), ties=("exhaustive",), orders=400).unexpected
    assert {row.property for row in found.violations} == {"closes_when_all_is_over"}
    assert sum(int(part) > 0 for part in found.ties.removeprefix("exhaustive:").split(".")) == 2


def test_right_core_survives_the_late_trigger_in_every_order_tried() -> None:
    """The orders that show the mutant show nothing of the core that skips it."""
    right = Subject(scenario=LATE.scenario)
    assert check(right, range(1), ties=("exhaustive",), orders=400).passed


def test_hunt_shrinks_the_hanging_stop() -> None:
    """The rest is a lone source, no fault, and still no order of messages."""
    found = hunt(STOP, range(60), property_names=["stop_ends"])
    assert found is not None
    job = found.shrunk.scenario.model
    assert len(job.vertices) == 1  # type: ignore[attr-defined]
    assert not job.costs.messages_in_order  # type: ignore[attr-defined]
    assert found.shrunk.scenario.faults == ()


def test_the_picture_is_what_replay_draws() -> None:
    """Every line of the picture in the document is in the replay's diagram, in this order."""
    text = DOCUMENT.read_text(encoding="utf-8")
    (picture,) = re.findall(r"```mermaid\n(.*?)```", text, re.DOTALL)
    result = run_world(STOP.scenario, seed=5, ties="random", keep_trace=True)
    vocabulary = load_world("final_checkpoint").VOCABULARY
    drawn = iter(diagrams.diagram(result.trace, vocabulary).splitlines())
    for line in picture.splitlines():
        assert line in drawn, line


def test_a_single_channel_loses_the_clock_and_several_keep_it() -> None:
    """The hazard shows in every order. With all channels open only the mutant loses the clock."""
    assert check(CLOCK, range(30), ties=("random", "pct")).expected == {
        "single_channel_keeps_the_clock": 30
    }
    several = Subject(scenario=by_name("flink_23201_tracker_clock"))
    assert check(several, range(60), ties=("random", "pct", "structural")).passed
    faulty = replace(several, mutant="tracker_stops_any_clock")
    (found,) = check(faulty, range(60), ties=("random", "pct")).unexpected
    assert {row.property for row in found.violations} == {"given_up_for_a_cause"}


@pytest.mark.parametrize("plane", list(Plane))
def test_a_checkpoint_that_was_given_up_keeps_channels_blocked(plane: Plane) -> None:
    """A job is stuck after its first expired checkpoint. Where none expires it ends."""
    scenario = placed(by_name("given_up_checkpoint_blocks"), plane)
    model: Any = scenario.model
    network = replace(model.network, record_bytes=model.network.segment_bytes)
    processed = []
    for timeout_ns in (40_000_000, 600_000_000_000):
        checkpointing = replace(model.checkpointing, timeout_ns=timeout_ns)
        job = replace(model, network=network, checkpointing=checkpointing)
        result = run_world(replace(scenario, model=job), seed=0)
        processed += [row.records for row in result.tasks if row.task == "sink"]
    assert processed[0] < 50
    assert processed[1] == 800
