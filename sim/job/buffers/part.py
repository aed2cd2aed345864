"""What one task does for one checkpoint: the figures that Flink reports of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.sim.job.buffers.recovery import BufferSnapshot, Span


@dataclass(slots=True)
class Part:
    """One task's part in one checkpoint; times in ns since the start of the run.

    triggered_ns: when the snapshot was taken, None before.  overtaken: buffers in flight that have
    become state.  sync_ns: how long the thread stood still for the snapshot.  unaligned: whether
    barriers overtook data here.  operators_finished: whether they had before the snapshot.
    input_spans, output_spans: buffers in flight, by channel and outlet.  snapshot: what a restart
    begins from, None before it is taken.
    """

    barrier: Barrier
    triggered_ns: int | None = None
    start_delay_ns: int = 0
    alignment_ns: int = 0
    processed_bytes: int = 0
    input_bytes: int = 0
    output_bytes: int = 0
    overtaken: int = 0
    sync_ns: int = 0
    state_bytes: int = 0
    unaligned: bool = False
    operators_finished: bool = False
    input_spans: dict[int, list[Span]] = field(default_factory=dict)
    output_spans: dict[int, list[Span]] = field(default_factory=dict)
    snapshot: BufferSnapshot | None = None
    acknowledged_ns: int | None = None

    @property
    def persisted_bytes(self) -> int:
        """How many bytes of in-flight data the part holds."""
        return self.input_bytes + self.output_bytes
