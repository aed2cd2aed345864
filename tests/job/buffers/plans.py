"""Jobs on buffers: made in Python, or the random ones of the product, by a seed or Hypothesis."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.buffer_jobs import crashing_document, document, scenario_of
from ckptsim.scenarios.job import Job, NoRestart, Plane, Vertex
from tests.job.records.plans import Seeded

__all__ = [
    "crashing_document",
    "crashing_job",
    "document",
    "on_buffers",
    "random_job",
    "scenario_of",
]


def on_buffers(*vertices: Vertex, **rest: Any) -> Job:
    """Return a job on buffers, with the defaults that link `barriers` has."""
    return Job(plane=Plane.BUFFERS, restart=NoRestart(), vertices=vertices, **rest)


def random_job(seed: int) -> Scenario:
    """Return the random job of a seed."""
    return scenario_of(document(Seeded(seed)))


def crashing_job(seed: int) -> Scenario:
    """Return the random job of a seed that fails and is restarted."""
    return scenario_of(crashing_document(Seeded(seed)))
