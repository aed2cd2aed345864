"""Barrier handlers: one per task, aligned, alternating or unaligned, or a tracker that counts."""

from __future__ import annotations

from ckptsim.models.barriers.handler.events import AllBarriers as AllBarriers
from ckptsim.models.barriers.handler.events import BarrierHandler as BarrierHandler
from ckptsim.models.barriers.handler.events import HandlerKind as HandlerKind
from ckptsim.models.barriers.handler.events import handler_kind as handler_kind
from ckptsim.models.barriers.handler.single import (
    SingleCheckpointHandler as SingleCheckpointHandler,
)
from ckptsim.models.barriers.handler.states import ALIGNED_TABLE as ALIGNED_TABLE
from ckptsim.models.barriers.handler.states import ALTERNATING_TABLE as ALTERNATING_TABLE
from ckptsim.models.barriers.handler.states import UNALIGNED_TABLE as UNALIGNED_TABLE
from ckptsim.models.barriers.handler.states import State as State
from ckptsim.models.barriers.handler.tracker import BarrierTracker as BarrierTracker


def make_handler(
    kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
) -> BarrierHandler:
    """Return a fresh handler over `channels` channels of `gates` gates."""
    if kind is HandlerKind.TRACKER:
        return BarrierTracker(channels, after_finish=after_finish)
    return SingleCheckpointHandler(kind, channels, gates=gates, after_finish=after_finish)
