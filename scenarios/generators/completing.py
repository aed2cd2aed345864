"""What lets the checkpoints of random jobs complete.

Where hardly any does, a job goes on for thousands of them until one has its last checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckptsim.scenarios.generators.choices import Choices

_MS = 1_000_000
# Subtasks all of whose files are written one time in five where one file in five fails.
_FEW = 7


def let_checkpoints_complete(
    choices: Choices, job: dict[str, Any], faults: Sequence[dict[str, Any]]
) -> None:
    """Let checkpoints that lack a message expire soon, and spare files where much else fails."""
    loses = any(one["kind"] in ("lose_acknowledgement", "lose_trigger") for one in faults)
    if loses:
        job["checkpointing"]["timeout_ns"] = choices.of((100, 40)) * _MS
    if loses or sum(vertex["parallelism"] for vertex in job["vertices"]) > _FEW:
        spare_files(job)


def spare_files(job: dict[str, Any]) -> None:
    """Let so few files fail that a checkpoint, which needs those of all subtasks, completes.

    Of twenty subtasks whose files fail one time in five, one checkpoint in a hundred would.
    """
    storage = job.get("storage", {})
    storage["failure_ratio"] = min(storage.get("failure_ratio", 0.0), 0.02)
    job["storage"] = storage


def allow_time(job: dict[str, Any]) -> None:
    """Let no checkpoint expire while a machine with two cores still sends barriers and files on.

    Barriers of checkpoints that expired are sent on all the same, so with a time-out below what
    one checkpoint costs its cores a job is kept from its records for ever, as a real one is.
    """
    checkpointing = job["checkpointing"]
    at_least_ns = 60 * _MS * len(job["vertices"])  # some 8 ms of each of 8 subtasks
    checkpointing["timeout_ns"] = max(checkpointing["timeout_ns"], at_least_ns)
