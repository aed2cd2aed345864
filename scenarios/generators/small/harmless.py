"""Faults that no right job is the worse for: messages twice, late or astray, and users who ask."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.job_environment import job_fault

_HARMLESS = (
    "repeat_acknowledgement",
    "stray_notification",
    "request_savepoint",
    "repeat_acknowledgement",
    "request_checkpoint",
    "delay_trigger",
    "delay_acknowledgement",
)


def with_harmless_faults(choices: Choices, text: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a job; one in four has one or two of these faults besides."""
    job = text["job"]
    checkpointing = job.get("checkpointing", {})
    coordinated = checkpointing.get("protocol", "coordinated") == "coordinated"
    if not coordinated or not checkpointing.get("enabled", True) or choices.integer(0, 3) < 3:
        return text
    faults = text.get("faults", ())
    before = [one["at_ns"] for one in faults if "at_ns" in one]
    more = [job_fault(choices, job, _HARMLESS, before) for _ in range(choices.integer(1, 2))]
    return text | {"faults": [*faults, *more]}
