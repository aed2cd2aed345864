"""Which property does not hold when a barrier handler fails its task."""

from __future__ import annotations

from ckptsim.models.barriers import BarrierHandler, BarrierTracker


def broken_by_failure(handler: BarrierHandler | None) -> str:
    """Name the property that does not hold when a handler fails its task.

    With one channel left, a newer checkpoint takes the tracker's clock from an older one that still
    waits: a defect of released Flink, which has a property of its own.
    Source: Apache Flink 1.20.3, CheckpointBarrierTracker.
    """
    single = isinstance(handler, BarrierTracker) and handler.open_channels <= 1
    return "single_channel_keeps_the_clock" if single else "tasks_fail_for_a_cause"
