"""The random jobs of the product, drawn by Hypothesis or by a seed alone."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.choices import Choices as Chooser
from ckptsim.scenarios.generators.final_checkpoint import (
    MODES,
    MS,
    PARTITIONERS,
    document,
    scenario_of,
)

__all__ = [
    "MODES",
    "MS",
    "PARTITIONERS",
    "Chooser",
    "Drawn",
    "Seeded",
    "document",
    "jobs",
    "random_job",
    "scenario_of",
]


class Drawn(Chooser):
    """Chooses by a Hypothesis draw."""

    def __init__(self, draw: Any) -> None:
        super().__init__(more=lambda low, high: int(draw(st.integers(low, high))))


class Seeded(Chooser):
    """Chooses by a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(more=Random(seed).randint)


def random_job(seed: int) -> Scenario:
    """Return the random job of a seed."""
    return scenario_of(document(Seeded(seed)))


@st.composite
def jobs(draw: Any) -> Scenario:
    """Return a strategy of random jobs with fault plans."""
    return scenario_of(document(Drawn(draw)))
