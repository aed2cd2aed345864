"""The random jobs of the product on buffers, drawn by Hypothesis or by a seed alone."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.buffer_jobs import crashing_document, document, scenario_of
from tests.job.records.plans import Drawn, Seeded

__all__ = [
    "crashing_document",
    "crashing_job",
    "document",
    "faulty_jobs",
    "random_job",
    "scenario_of",
]


def random_job(seed: int) -> Scenario:
    """Return the random job of a seed."""
    return scenario_of(document(Seeded(seed)))


def crashing_job(seed: int) -> Scenario:
    """Return the random job of a seed that fails and is restarted."""
    return scenario_of(crashing_document(Seeded(seed)))


@st.composite
def faulty_jobs(draw: Any) -> Scenario:
    """Return a strategy of random jobs with fault plans."""
    return scenario_of(document(Drawn(draw)))
