"""What one task gathers for one checkpoint until it has acknowledged it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.sim.job.buffers.identities import Cut
from ckptsim.sim.job.buffers.recovery import BufferSnapshot, Span
from ckptsim.sim.job.control.part import PartFigures


@dataclass(slots=True, kw_only=True)
class Part(PartFigures):
    """One task's part in one checkpoint.

    overtaken: buffers in flight that have become state.  input_spans, output_spans: buffers in
    flight, by channel and outlet.  snapshot: what a restart begins from, None before it is taken.
    cut: where it cuts the records of the channels, where records have identities.
    """

    barrier: Barrier
    input_bytes: int = 0
    output_bytes: int = 0
    overtaken: int = 0
    state_bytes: int = 0
    input_spans: dict[int, list[Span]] = field(default_factory=dict)
    output_spans: dict[int, list[Span]] = field(default_factory=dict)
    snapshot: BufferSnapshot | None = None
    cut: Cut | None = None

    @property
    def persisted_bytes(self) -> int:
        """How many bytes of in-flight data the part holds."""
        return self.input_bytes + self.output_bytes
