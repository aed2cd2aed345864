"""What a task gathers for one checkpoint until it can acknowledge it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ckptsim.models.lifecycle import effects as do
from ckptsim.sim.job.records.snapshot import Element, TaskSnapshot

REMEMBERED = 16  # ended checkpoints of which late pieces may still come; as at the coordinator


@dataclass(slots=True)
class Parts:
    """What a task has gathered for one checkpoint so far; unaligned: as it will be reported."""

    input_state: dict[int, list[Element]] = field(default_factory=dict)
    output_state: dict[int, list[Element]] = field(default_factory=dict)
    snapshot: TaskSnapshot | None = None
    flags: do.TakeSnapshot | None = None
    started_ns: int = 0
    start_delay_ns: int = 0
    alignment_ns: int = 0
    processed_bytes: int = 0
    unaligned: bool = False

    @property
    def operators_finished(self) -> bool:
        """Return whether the task's operators had finished before the snapshot."""
        return self.flags is not None and self.flags.operators_finished

    @property
    def persisted_bytes(self) -> int:
        """Return how many records in flight it holds; every record counts as one byte."""
        return 0 if self.snapshot is None else self.snapshot.in_flight

    @property
    def state_bytes(self) -> int:
        """Return how many records its state has."""
        return 0 if self.snapshot is None else len(self.snapshot.state)
