"""What one task does for one checkpoint: the figures that Flink reports of it."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.barriers.barrier import Barrier


@dataclass(slots=True)
class Part:
    """One task's part in one checkpoint; times in ns since the start of the run.

    triggered_ns: when the snapshot was taken, None before.  overtaken: buffers in flight that have
    become state.  sync_ns: how long the thread stood still for the snapshot.  unaligned: whether
    barriers overtook data here.  operators_finished: whether they had before the snapshot.
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
    acknowledged_ns: int | None = None

    @property
    def snapshot(self) -> None:
        """The state of the task, which nobody restores."""

    @property
    def persisted_bytes(self) -> int:
        """How many bytes of in-flight data the part holds."""
        return self.input_bytes + self.output_bytes
