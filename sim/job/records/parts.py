"""What a task gathers for one checkpoint until it can acknowledge it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ckptsim.sim.job.control.part import PartFigures
from ckptsim.sim.job.records.snapshot import Element, TaskSnapshot

REMEMBERED = 16  # ended checkpoints of which late pieces may still come; as at the coordinator


@dataclass(slots=True, kw_only=True)
class Parts(PartFigures):
    """What a task has gathered for one checkpoint so far; unaligned: as it will be reported."""

    input_state: dict[int, list[Element]] = field(default_factory=dict)
    output_state: dict[int, list[Element]] = field(default_factory=dict)
    snapshot: TaskSnapshot | None = None

    @property
    def persisted_bytes(self) -> int:
        """Return how many records in flight it holds; every record counts as one byte."""
        return 0 if self.snapshot is None else self.snapshot.in_flight

    @property
    def state_bytes(self) -> int:
        """Return how many records its state has."""
        return 0 if self.snapshot is None else len(self.snapshot.state)
