"""Barrier handlers: one per task, aligned, alternating or unaligned, or a tracker that counts."""

from __future__ import annotations

from ckptsim.models.barriers.handler.interface import (
    AllBarriers,
    BarrierHandler,
    HandlerKind,
    handler_kind,
)
from ckptsim.models.barriers.handler.single import SingleCheckpointHandler
from ckptsim.models.barriers.handler.states import (
    ALIGNED_TABLE,
    ALTERNATING_TABLE,
    UNALIGNED_TABLE,
    State,
)
from ckptsim.models.barriers.handler.tracker import BarrierTracker

__all__ = [
    "ALIGNED_TABLE",
    "ALTERNATING_TABLE",
    "UNALIGNED_TABLE",
    "AllBarriers",
    "BarrierHandler",
    "BarrierTracker",
    "HandlerKind",
    "SingleCheckpointHandler",
    "State",
    "handler_kind",
    "make_handler",
]


def make_handler(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Return a fresh handler over `channels` channels of `gates` gates."""
    if kind is HandlerKind.TRACKER:
        return BarrierTracker(channels, after_finish=after_finish)
    return SingleCheckpointHandler(kind, channels, gates=gates, after_finish=after_finish)
