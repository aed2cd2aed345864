"""What one task does for one checkpoint: the figures that Flink reports of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class PartFigures:
    """The figures of a task's part in a checkpoint; times in ns since the start of the run.

    snapshot_ns: when the snapshot was taken, None before; acknowledged_ns: when the task
    acknowledged, None before.  start_delay_ns: from the trigger to the first barrier; alignment_ns:
    from the first to the last; sync_ns: how long the snapshot kept the thread.  processed_bytes:
    handed to the task during the alignment.  unaligned: whether its barrier could overtake.
    operators_finished: whether the operators had before the snapshot.

    Source: Apache Flink 1.20.3, SubtaskStateStats.
    """

    snapshot_ns: int | None = None
    acknowledged_ns: int | None = None
    start_delay_ns: int = 0
    alignment_ns: int = 0
    sync_ns: int = 0
    processed_bytes: int = 0
    unaligned: bool = False
    operators_finished: bool = False

    @property
    def async_ns(self) -> int:
        """Return the asynchronous duration of a part that was acknowledged, 0 of another one."""
        if self.acknowledged_ns is None or self.snapshot_ns is None:
            return 0
        return self.acknowledged_ns - self.snapshot_ns - self.sync_ns
