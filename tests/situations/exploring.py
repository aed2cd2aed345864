"""How soon exploring finds the planted cores of a situation, and that right cores stay clean."""

from __future__ import annotations

from statistics import median
from typing import Any

from ckptsim.sim.search.explore import Corpus, Explorer, ExploreReport, Exploring, explore
from ckptsim.sim.slots import Factory

LINK = "barrier_protocol"
MOST, SEEDS, CLEAN = 100, 20, 500


def explored(slot: str, core: Factory, *, seed: int, runs: int) -> ExploreReport:
    """Explore jobs with a core in a slot until a property breaks."""
    return explore(
        Explorer(link=LINK, cores={slot: core}), Exploring(seed=seed, runs=runs), Corpus()
    )


def runs_to_find(slot: str, core: Factory, seeds: int = SEEDS) -> float:
    """Return the median over seeds of the runs until a core is found."""
    found: list[Any] = []
    for seed in range(seeds):
        report = explored(slot, core, seed=seed, runs=MOST)
        found.append(report.runs if report.violating else 2 * MOST)
    return median(found)
