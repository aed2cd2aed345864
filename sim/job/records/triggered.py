"""A checkpoint that was triggered, as the world keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ckptsim.models.coordinator import Request
from ckptsim.models.coordinator.plan import Plan
from ckptsim.sim.job.records.snapshot import TaskSnapshot

if TYPE_CHECKING:
    from ckptsim.sim.job.records.parts import Parts


@dataclass(slots=True)
class Triggered:
    """A checkpoint that was triggered: its plan, and what has come in."""

    checkpoint_id: int
    request: Request
    kind: str
    plan: Plan
    triggered_ns: int
    attempt: int
    states: dict[int, TaskSnapshot] = field(default_factory=dict)
    parts: dict[int, tuple[int, Parts]] = field(default_factory=dict)
    operators_finished: set[int] = field(default_factory=set)
    status: str = "pending"
    reason: str | None = None
    ended_ns: int | None = None
