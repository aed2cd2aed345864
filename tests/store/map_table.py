"""The map of a store's promises: what breaks each, and which scenario shows what."""

from __future__ import annotations

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.sim.world import run_world
from tests.store.killed import KILLED_BY

LOSS = "content_converges"
STORIES = 18


def scenarios() -> list[Scenario]:
    """Return the scenarios of the link, by name."""
    return [each for each in all_scenarios() if each.link == "checkpoint_store"]


def story_of(scenario: Scenario) -> str:
    """Return the number of the report that a scenario restates, empty for one of our own."""
    head = scenario.name.partition("_")[0]
    return f"S{int(head[1:])}" if head[0] == "s" and head[1:].isdigit() else ""


def mutants_of(name: str) -> list[str]:
    """Return the mutants that a scenario, or its property, is the proof of."""
    return [mutant for mutant, (place, *broken) in KILLED_BY.items() if name in (place, *broken)]


def breakers_of(name: str) -> list[str]:
    """Return the anti-patterns that break a property."""
    return [each.name for each in scenarios() if name in each.violates]


def loss_of(scenario: Scenario) -> str:
    """Return what an anti-pattern loses at seed 0, in words. Empty where contents agree."""
    found = run_world(scenario, seed=0).violations
    return next((row.says.partition(": ")[2] for row in found if row.property == LOSS), "")
