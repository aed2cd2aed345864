"""The random jobs of the product on records, drawn by Hypothesis or by a seed alone."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import from_json, load
from ckptsim.scenarios.generators.choices import Choices as Chooser
from ckptsim.scenarios.generators.jobs import MODES, MS, PARTITIONERS, job

__all__ = ["MODES", "MS", "PARTITIONERS", "Chooser"]

PINNED = Path(__file__).parents[2] / "data" / "jobs"
FAULTS = (
    "crash_task",
    "crash_at_checkpoint",
    "fail_snapshot",
    "fail_channel_state",
    "delay_acknowledgement",
    "lose_notification",
    "delay_notification",
    "stray_notification",
    "delay_trigger",
    "stall_task",
)
RESCALES = ("rescale", "resubmit", "request_savepoint", "crash_task", "cancel")


class Drawn(Chooser):
    """Chooses by a Hypothesis draw."""

    def __init__(self, draw: Any) -> None:
        super().__init__(more=lambda low, high: int(draw(st.integers(low, high))))


class Seeded(Chooser):
    """Chooses by a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(more=Random(seed).randint)


def scenario_of(text: dict[str, Any]) -> Scenario:
    """Return the scenario of a document, which has to be valid."""
    return from_json(json.dumps(text))


def random_job(seed: int) -> Scenario:
    """Return the random job of a seed, whose parallelism stays."""
    return job(Seeded(seed), "final_checkpoint", "records", among=FAULTS)


def rescaled_job(seed: int, plane: str = "records") -> Scenario:
    """Return the random job of a seed, which is rescaled and submitted again."""
    link = {"records": "barrier_protocol", "buffers": "barriers"}[plane]
    return job(Seeded(seed), link, plane, among=RESCALES)


def pinned(name: str) -> Scenario:
    """Return a job that was drawn once, and that a fault of ours showed in."""
    return load(PINNED / f"{name}.toml")


@st.composite
def jobs(draw: Any) -> Scenario:
    """Return a strategy of random jobs with fault plans."""
    return job(Drawn(draw), "final_checkpoint", "records", among=FAULTS)
